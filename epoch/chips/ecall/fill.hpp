#pragma once

#include "epoch/chips/ecall/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<EcallAir> {
  using Record = InstructionRecord;

  /// Pre: r.rs1 (a7) is one of the three numbers; any other is a guest fault and has no record.
  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const bool is_exit = r.rs1 == kSyscallExit;
    const bool is_emit = r.rs1 == kSyscallEmit;
    row.set(EcallAir::kIsExit, is_exit ? 1 : 0);
    row.set(EcallAir::kIsEmit, is_emit ? 1 : 0);
    row.set(EcallAir::kIsDebug, r.rs1 == kSyscallDebug ? 1 : 0);
    row.set(EcallAir::kPc, p.pc);
    row.set(EcallAir::kTs, r.ts);
    row.set(EcallAir::kNextPc, is_exit ? kHaltPc : p.pc + 4ull);
    row.set(EcallAir::kTA7, r.t_rs1);
    row.set(EcallAir::kTA0, r.t_rs2);
    set_word(row, EcallAir::kA0Lo, r.rs2);
    if (!is_emit) return;
    row.set(EcallAir::kTCounter, r.t_rd);
    row.set(EcallAir::kIndex, r.rd_old);
  }
};

}  // namespace epochd::chips
