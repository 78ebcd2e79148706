#pragma once

#include "epoch/chips/compare/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<CompareAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const bool is_signed = p.op == Op::kSlt;
    const u64 a = r.rs1;
    const u64 b = r.rs2 + p.imm;
    const bool lt = is_signed ? static_cast<i64>(a) < static_cast<i64>(b) : a < b;
    row.set(CompareAir::kIsSlt, is_signed ? 1 : 0);
    row.set(CompareAir::kIsSltu, is_signed ? 0 : 1);
    fill_step<CompareAir>(r, p, row);
    row.set(CompareAir::kALo, lo32(a));
    row.set(CompareAir::kA2, limb16(a, 2));
    row.set(CompareAir::kA3, limb16(a, 3));
    row.set(CompareAir::kASign, a >> 63);
    row.set(CompareAir::kBLo, lo32(r.rs2));
    row.set(CompareAir::kB2, limb16(b, 2));
    row.set(CompareAir::kB3, limb16(b, 3));
    row.set(CompareAir::kBSign, b >> 63);
    row.set(CompareAir::kLt, lt ? 1 : 0);
    set_limbs(row, CompareAir::kD0, a - b);
  }
};

}  // namespace epochd::chips
