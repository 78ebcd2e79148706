#pragma once

#include "epoch/chips/bitwise/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<BitwiseAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const u64 a = r.rs1;
    const u64 b = r.rs2 + p.imm;
    const u64 z = p.op == Op::kAnd ? a & b : p.op == Op::kOr ? a | b : a ^ b;
    row.set(BitwiseAir::kIsAnd, p.op == Op::kAnd ? 1 : 0);
    row.set(BitwiseAir::kIsOr, p.op == Op::kOr ? 1 : 0);
    row.set(BitwiseAir::kIsXor, p.op == Op::kXor ? 1 : 0);
    fill_step<BitwiseAir>(r, p, row);
    for (u32 i = 0; i < 8; ++i) {
      row.set(BitwiseAir::kA0 + i, (a >> (8 * i)) & 0xff);
      row.set(BitwiseAir::kB0 + i, (b >> (8 * i)) & 0xff);
      row.set(BitwiseAir::kZ0 + i, (z >> (8 * i)) & 0xff);
    }
  }
};

}  // namespace epochd::chips
