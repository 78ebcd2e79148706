#pragma once

#include "epoch/chips/divrem/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<DivremAir> {
  using Record = InstructionRecord;

  /// The operation's operands extended to 64 bits, and what it computes of them.
  struct Division {
    u64 n, d, q, r;
    bool is_signed, is_word, is_quotient;
    bool n_negative, d_negative, q_negative, r_negative;
  };

  EPOCHD_HD static u64 extended(u64 x, bool is_signed) {
    return is_signed ? static_cast<u64>(static_cast<i64>(static_cast<i32>(x))) : lo32(x);
  }

  EPOCHD_HD static Division divide(Op op, u64 a, u64 b) {
    Division v{};
    v.is_signed = op == Op::kDiv || op == Op::kRem || op == Op::kDivw || op == Op::kRemw;
    v.is_word = op == Op::kDivw || op == Op::kDivuw || op == Op::kRemw || op == Op::kRemuw;
    v.is_quotient = op == Op::kDiv || op == Op::kDivu || op == Op::kDivw || op == Op::kDivuw;
    v.n = v.is_word ? extended(a, v.is_signed) : a;
    v.d = v.is_word ? extended(b, v.is_signed) : b;
    v.n_negative = v.is_signed && v.n >> 63 != 0;
    v.d_negative = v.is_signed && v.d >> 63 != 0;
    if (v.d == 0) {
      v.q = ~0ull;
      v.r = v.n;
      v.r_negative = v.n_negative;
      return v;
    }
    // By magnitudes, which avoids the overflow of MIN / -1.
    const u64 n_abs = v.n_negative ? 0 - v.n : v.n;
    const u64 d_abs = v.d_negative ? 0 - v.d : v.d;
    const u64 q_abs = n_abs / d_abs;
    const u64 r_abs = n_abs % d_abs;
    v.q_negative = v.n_negative != v.d_negative && q_abs != 0;
    v.r_negative = v.n_negative && r_abs != 0;
    v.q = v.q_negative ? 0 - q_abs : q_abs;
    v.r = v.r_negative ? 0 - r_abs : r_abs;
    return v;
  }

  /// Carries of the 128-bit identity n = q d + r.
  template <class Row>
  EPOCHD_HD static void fill_carries(Row& row, const Division& v) {
    const auto column = [&](u32 k) {  // the products of weight 2^(16 k)
      i64 sum = 0;
      for (u32 i = k > 3 ? k - 3 : 0; i <= (k < 3 ? k : 3u); ++i) {
        sum += static_cast<i64>(limb16(v.q, i) * limb16(v.d, k - i));
      }
      return sum;
    };
    const i64 signs = (v.q_negative ? static_cast<i64>(lo32(v.d)) : 0) +
                      (v.d_negative ? static_cast<i64>(lo32(v.q)) : 0) + (v.r_negative ? 1 : 0) -
                      (v.n_negative ? 1 : 0);
    const i64 r_lo = static_cast<i64>(lo32(v.r));
    const i64 r_hi = static_cast<i64>(hi32(v.r));
    const i64 c0 = (column(0) + column(1) * 65536 + r_lo) >> 32;
    const i64 c1 = (column(2) + column(3) * 65536 + r_hi + c0) >> 32;
    const i64 c2 = (column(4) + column(5) * 65536 + c1 - signs) >> 32;
    row.set(DivremAir::kC0, limb16(static_cast<u64>(c0), 0));
    row.set(DivremAir::kC0High, limb16(static_cast<u64>(c0), 1));
    row.set(DivremAir::kC1, limb16(static_cast<u64>(c1), 0));
    row.set(DivremAir::kC1High, (c1 >> 16) & 1);
    row.set(DivremAir::kC1Higher, c1 >> 17);
    row.set(DivremAir::kC2, limb16(static_cast<u64>(c2 + 2), 0));
    row.set(DivremAir::kC2High, limb16(static_cast<u64>(c2 + 2), 1));
  }

  /// How far |r| stays below |d|, and the borrow between the words of that difference.
  template <class Row>
  EPOCHD_HD static void fill_bound(Row& row, const Division& v) {
    const u64 d_abs = v.d_negative ? 0 - v.d : v.d;
    const u64 r_abs = v.r_negative ? 0 - v.r : v.r;
    const u64 slack = d_abs - r_abs - 1;  // for d = 0 this is 2^64 - |r| - 1
    set_limbs(row, DivremAir::kT0, slack);
    const auto low = [](u64 x, bool negative) {  // |x|'s share in the low word's equation
      const i64 word = static_cast<i64>(lo32(x));
      return negative ? (i64{1} << 32) - word : word;
    };
    const i64 difference = low(v.d, v.d_negative) - low(v.r, v.r_negative) - 1;
    row.set(DivremAir::kTBorrow, static_cast<u64>(-(difference >> 32)));
    row.set(DivremAir::kDIsZero, v.d == 0 ? 1 : 0);
  }

  /// Everything the row says of a division, and the value written.
  template <class Row>
  EPOCHD_HD static void fill_division(Row& row, const Division& v) {
    const u64 result = v.is_quotient ? v.q : v.r;
    set_word(row, DivremAir::kRdLo, v.is_word ? extended(result, true) : result);
    set_limbs(row, DivremAir::kN0, v.n);
    row.set(DivremAir::kN1Sign, (v.n >> 31) & 1);
    row.set(DivremAir::kN3Sign, v.n >> 63);
    set_limbs(row, DivremAir::kD0, v.d);
    row.set(DivremAir::kD1Sign, (v.d >> 31) & 1);
    row.set(DivremAir::kD3Sign, v.d >> 63);
    set_limbs(row, DivremAir::kQ0, v.q);
    row.set(DivremAir::kQ1Sign, (v.q >> 31) & 1);
    row.set(DivremAir::kQNegative, v.q_negative ? 1 : 0);
    set_limbs(row, DivremAir::kR0, v.r);
    row.set(DivremAir::kR1Sign, (v.r >> 31) & 1);
    row.set(DivremAir::kRNegative, v.r_negative ? 1 : 0);
    fill_bound(row, v);
    fill_carries(row, v);
  }

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    row.set(DivremAir::kIsDiv, p.op == Op::kDiv ? 1 : 0);
    row.set(DivremAir::kIsDivu, p.op == Op::kDivu ? 1 : 0);
    row.set(DivremAir::kIsRem, p.op == Op::kRem ? 1 : 0);
    row.set(DivremAir::kIsRemu, p.op == Op::kRemu ? 1 : 0);
    row.set(DivremAir::kIsDivw, p.op == Op::kDivw ? 1 : 0);
    row.set(DivremAir::kIsDivuw, p.op == Op::kDivuw ? 1 : 0);
    row.set(DivremAir::kIsRemw, p.op == Op::kRemw ? 1 : 0);
    row.set(DivremAir::kIsRemuw, p.op == Op::kRemuw ? 1 : 0);
    fill_step<DivremAir>(r, p, row);
    row.set(DivremAir::kAHi, hi32(r.rs1));
    row.set(DivremAir::kBHi, hi32(r.rs2));
    fill_division(row, divide(p.op, r.rs1, r.rs2));
  }
};

}  // namespace epochd::chips
