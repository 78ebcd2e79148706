#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/shift_imm/air.hpp"
#include "epoch/chips/shifter_fill.hpp"

namespace epochd::chips {

template <>
struct Fill<ShiftImmAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const ShiftKind kind{p.op == Op::kSlli || p.op == Op::kSlliw,
                         p.op == Op::kSrai || p.op == Op::kSraiw,
                         p.op == Op::kSlliw || p.op == Op::kSrliw || p.op == Op::kSraiw};
    row.set(ShiftImmAir::kIsSlli, p.op == Op::kSlli ? 1 : 0);
    row.set(ShiftImmAir::kIsSrli, p.op == Op::kSrli ? 1 : 0);
    row.set(ShiftImmAir::kIsSrai, p.op == Op::kSrai ? 1 : 0);
    row.set(ShiftImmAir::kIsSlliw, p.op == Op::kSlliw ? 1 : 0);
    row.set(ShiftImmAir::kIsSrliw, p.op == Op::kSrliw ? 1 : 0);
    row.set(ShiftImmAir::kIsSraiw, p.op == Op::kSraiw ? 1 : 0);
    fill_step<ShiftImmAir>(r, p, row);
    row.set(ShiftImmAir::kAmount, p.imm);
    fill_shifter<ShiftImmAir>(row, r.rs1, static_cast<u32>(p.imm), kind);
  }
};

}  // namespace epochd::chips
