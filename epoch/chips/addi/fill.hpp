#pragma once

#include "epoch/chips/addi/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<AddiAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    row.set(AddiAir::kIsReal, 1);
    fill_step<AddiAir>(r, p, row);
    set_word(row, AddiAir::kALo, r.rs1);
    set_limbs(row, AddiAir::kS0, r.rs1 + p.imm);
  }
};

}  // namespace epochd::chips
