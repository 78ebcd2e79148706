// The fixed columns of program: row i is the i-th instruction of the canonical Program table, rows
// past its end are zero.
#pragma once

#include <span>

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/program/air.hpp"

namespace epochd::chips {

template <>
struct FixedFill<ProgramAir> {
  template <class Row>
  static void fill(std::span<const ProgramRow> program, u32 index, Row& row) {
    const ProgramRow p = index < program.size() ? program[index] : ProgramRow{};
    row.set(ProgramAir::kPc, p.pc);
    row.set(ProgramAir::kOpcode, code(p.op));
    row.set(ProgramAir::kRd, p.rd);
    row.set(ProgramAir::kRs1, p.rs1);
    row.set(ProgramAir::kRs2, p.rs2);
    set_word(row, ProgramAir::kImmLo, p.imm);
  }
};

}  // namespace epochd::chips
