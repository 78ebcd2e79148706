#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/store/air.hpp"

namespace epochd::chips {

template <>
struct Fill<StoreAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const u64 at = r.rs1 + p.imm;
    const bool is_sd = p.op == Op::kSd;
    row.set(StoreAir::kIsSd, is_sd ? 1 : 0);
    row.set(StoreAir::kIsSw, is_sd ? 0 : 1);
    row.set(StoreAir::kPc, p.pc);
    row.set(StoreAir::kTs, r.ts);
    row.set(StoreAir::kRs1, p.rs1);
    row.set(StoreAir::kRs2, p.rs2);
    set_word(row, StoreAir::kImmLo, p.imm);
    row.set(StoreAir::kTRs1, r.t_rs1);
    row.set(StoreAir::kTRs2, r.t_rs2);
    row.set(StoreAir::kTMem, r.t_mem);
    set_word(row, StoreAir::kALo, r.rs1);
    set_word(row, StoreAir::kBLo, r.rs2);
    set_word(row, StoreAir::kMemLo, r.mem);
    set_word(row, StoreAir::kNewLo, stored_cell(r.mem, at, is_sd ? 8 : 4, r.rs2));
    set_address(row, StoreAir::kCell, at);
    row.set(StoreAir::kIsHigh, (at >> 2) & 1);
  }
};

}  // namespace epochd::chips
