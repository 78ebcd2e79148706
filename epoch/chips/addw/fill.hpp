#pragma once

#include "epoch/chips/addw/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<AddwAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const bool is_sub = p.op == Op::kSubw;
    const u64 b = r.rs2 + p.imm;
    const u64 result = is_sub ? r.rs1 - b : r.rs1 + b;
    row.set(AddwAir::kIsAddw, is_sub ? 0 : 1);
    row.set(AddwAir::kIsSubw, is_sub ? 1 : 0);
    fill_step<AddwAir>(r, p, row);
    set_word(row, AddwAir::kALo, r.rs1);
    set_word(row, AddwAir::kBLo, r.rs2);
    row.set(AddwAir::kS0, limb16(result, 0));
    row.set(AddwAir::kS1, limb16(result, 1));
    row.set(AddwAir::kSign, (result >> 31) & 1);
  }
};

}  // namespace epochd::chips
