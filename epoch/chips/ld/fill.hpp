#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/ld/air.hpp"

namespace epochd::chips {

template <>
struct Fill<LdAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    row.set(LdAir::kIsReal, 1);
    row.set(LdAir::kPc, p.pc);
    row.set(LdAir::kTs, r.ts);
    row.set(LdAir::kRd, p.rd);
    row.set(LdAir::kRs1, p.rs1);
    set_word(row, LdAir::kImmLo, p.imm);
    row.set(LdAir::kTRs1, r.t_rs1);
    row.set(LdAir::kTMem, r.t_mem);
    row.set(LdAir::kTRd, r.t_rd);
    set_word(row, LdAir::kALo, r.rs1);
    set_word(row, LdAir::kMemLo, r.mem);
    set_word(row, LdAir::kOldLo, r.rd_old);
    set_address(row, LdAir::kCell, r.rs1 + p.imm);
  }
};

}  // namespace epochd::chips
