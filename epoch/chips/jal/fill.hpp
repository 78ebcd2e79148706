#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/jal/air.hpp"

namespace epochd::chips {

template <>
struct Fill<JalAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    row.set(JalAir::kIsReal, 1);
    row.set(JalAir::kPc, p.pc);
    row.set(JalAir::kTs, r.ts);
    row.set(JalAir::kRd, p.rd);
    row.set(JalAir::kTarget, p.imm);
    row.set(JalAir::kTRd, r.t_rd);
    set_word(row, JalAir::kOldLo, r.rd_old);
  }
};

}  // namespace epochd::chips
