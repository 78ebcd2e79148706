#pragma once

#include "epoch/chips/add/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<AddAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const bool is_sub = p.op == Op::kSub;
    row.set(AddAir::kIsAdd, is_sub ? 0 : 1);
    row.set(AddAir::kIsSub, is_sub ? 1 : 0);
    row.set(AddAir::kPc, p.pc);
    row.set(AddAir::kTs, r.ts);
    row.set(AddAir::kRd, p.rd);
    row.set(AddAir::kRs1, p.rs1);
    row.set(AddAir::kRs2, p.rs2);
    row.set(AddAir::kTRs1, r.t_rs1);
    row.set(AddAir::kTRs2, r.t_rs2);
    row.set(AddAir::kTRd, r.t_rd);
    set_word(row, AddAir::kALo, r.rs1);
    set_word(row, AddAir::kBLo, r.rs2);
    set_word(row, AddAir::kOldLo, r.rd_old);
    set_limbs(row, AddAir::kS0, is_sub ? r.rs1 - r.rs2 : r.rs1 + r.rs2);
  }
};

}  // namespace epochd::chips
