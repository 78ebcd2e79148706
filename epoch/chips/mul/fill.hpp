#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/mul/air.hpp"

namespace epochd::chips {

template <>
struct Fill<MulAir> {
  using Record = InstructionRecord;

  /// The product mod 2^128, of operands signed as the instruction says.
  EPOCHD_HD static u128 product(Op op, u64 a, u64 b) {
    const i128 signed_a = static_cast<i64>(a);
    if (op == Op::kMulh) return static_cast<u128>(signed_a * static_cast<i64>(b));
    if (op == Op::kMulhsu) return static_cast<u128>(signed_a * static_cast<i128>(b));
    return static_cast<u128>(a) * b;
  }
  EPOCHD_HD static u64 result(Op op, u128 product) {
    const u64 low = static_cast<u64>(product);
    if (op == Op::kMul) return low;
    if (op == Op::kMulw) return static_cast<u64>(static_cast<i64>(static_cast<i32>(low)));
    return static_cast<u64>(product >> 64);
  }

  /// Schoolbook carries: what is left of each pair of limb columns above the product's word.
  template <class Row>
  EPOCHD_HD static void fill_carries(Row& row, Op op, u64 a, u64 b) {
    const auto column = [&](u32 k) {  // the products of weight 2^(16 k)
      i64 sum = 0;
      for (u32 i = k > 3 ? k - 3 : 0; i <= (k < 3 ? k : 3u); ++i) {
        sum += static_cast<i64>(limb16(a, i) * limb16(b, k - i));
      }
      return sum;
    };
    const bool a_negative = (op == Op::kMulh || op == Op::kMulhsu) && a >> 63 != 0;
    const bool b_negative = op == Op::kMulh && b >> 63 != 0;
    const auto subtracted = [&](u32 first) {
      const i64 from_b = a_negative ? static_cast<i64>((b >> (16 * first)) & 0xffffffff) : 0;
      const i64 from_a = b_negative ? static_cast<i64>((a >> (16 * first)) & 0xffffffff) : 0;
      return from_a + from_b;
    };
    const i64 c0 = (column(0) + column(1) * 65536) >> 32;
    const i64 c1 = (column(2) + column(3) * 65536 + c0) >> 32;
    const i64 c2 = (column(4) + column(5) * 65536 + c1 - subtracted(0)) >> 32;
    const i64 c3 = (column(6) + c2 - subtracted(2)) >> 32;
    row.set(MulAir::kC0, limb16(static_cast<u64>(c0), 0));
    row.set(MulAir::kC0High, limb16(static_cast<u64>(c0), 1));
    row.set(MulAir::kC1, limb16(static_cast<u64>(c1), 0));
    row.set(MulAir::kC1High, (c1 >> 16) & 1);
    row.set(MulAir::kC1Higher, c1 >> 17);
    row.set(MulAir::kC2, limb16(static_cast<u64>(c2 + 2), 0));
    row.set(MulAir::kC2High, limb16(static_cast<u64>(c2 + 2), 1));
    row.set(MulAir::kBorrow, static_cast<u64>(-c3));
  }

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const u128 t = product(p.op, r.rs1, r.rs2);
    row.set(MulAir::kIsMul, p.op == Op::kMul ? 1 : 0);
    row.set(MulAir::kIsMulh, p.op == Op::kMulh ? 1 : 0);
    row.set(MulAir::kIsMulhu, p.op == Op::kMulhu ? 1 : 0);
    row.set(MulAir::kIsMulhsu, p.op == Op::kMulhsu ? 1 : 0);
    row.set(MulAir::kIsMulw, p.op == Op::kMulw ? 1 : 0);
    fill_step<MulAir>(r, p, row);
    set_word(row, MulAir::kRLo, result(p.op, t));
    set_limbs(row, MulAir::kA0, r.rs1);
    row.set(MulAir::kASign, r.rs1 >> 63);
    set_limbs(row, MulAir::kB0, r.rs2);
    row.set(MulAir::kBSign, r.rs2 >> 63);
    set_limbs(row, MulAir::kP0, static_cast<u64>(t));
    set_limbs(row, MulAir::kP4, static_cast<u64>(t >> 64));
    row.set(MulAir::kP1Sign, static_cast<u64>(t >> 31) & 1);
    fill_carries(row, p.op, r.rs1, r.rs2);
  }
};

}  // namespace epochd::chips
