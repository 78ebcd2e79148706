#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/shift/air.hpp"
#include "epoch/chips/shifter_fill.hpp"

namespace epochd::chips {

template <>
struct Fill<ShiftAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const ShiftKind kind{p.op == Op::kSll || p.op == Op::kSllw,
                         p.op == Op::kSra || p.op == Op::kSraw,
                         p.op == Op::kSllw || p.op == Op::kSrlw || p.op == Op::kSraw};
    const u32 amount_bits = kind.word ? 5 : 6;
    const u32 amount = static_cast<u32>(r.rs2) & ((1u << amount_bits) - 1);
    const u64 above = lo32(r.rs2) >> amount_bits;
    row.set(ShiftAir::kIsSll, p.op == Op::kSll ? 1 : 0);
    row.set(ShiftAir::kIsSrl, p.op == Op::kSrl ? 1 : 0);
    row.set(ShiftAir::kIsSra, p.op == Op::kSra ? 1 : 0);
    row.set(ShiftAir::kIsSllw, p.op == Op::kSllw ? 1 : 0);
    row.set(ShiftAir::kIsSrlw, p.op == Op::kSrlw ? 1 : 0);
    row.set(ShiftAir::kIsSraw, p.op == Op::kSraw ? 1 : 0);
    fill_step<ShiftAir>(r, p, row);
    set_word(row, ShiftAir::kBLo, r.rs2);
    row.set(ShiftAir::kM0, limb16(above, 0));
    row.set(ShiftAir::kM1, limb16(above, 1));
    fill_shifter<ShiftAir>(row, r.rs1, amount, kind);
  }
};

}  // namespace epochd::chips
