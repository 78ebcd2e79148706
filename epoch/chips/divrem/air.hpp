// divrem: DIV, DIVU, REM, REMU and their W forms. rd = quotient or remainder, rounding to zero.
//
// Operands. n and d are the effective 64-bit operands in limbs: the register itself, or for W forms
// its low word, sign-extended (DIVW, REMW) or zero-extended (DIVUW, REMUW). Sign16 gives the top
// bits of limb 1 (for the extension) and of limb 3 (the sign). Sn, Sd are the signs of n, d for
// signed operations, else 0; the operands' values are N = n - 2^64 Sn and D = d - 2^64 Sd.
//
// Division. The row shows q, r (limbs) and bits sq, sr with Q = q - 2^64 sq, R = r - 2^64 sr and
//   (1) N = Q D + R over the integers;
//   (2) sr = Sn unless r = 0: then R = 0, or sr = 1 and R = -2^64, which (3) excludes; so R is 0 or
//       has the sign of N;
//   (3) |R| < |D|, or D = 0.
// For D != 0 these have exactly one solution, division rounding to zero. That includes overflow:
// MIN / -1 has Q = 2^63, so q = 2^63 with sq = 0, and R = 0. So sq needs no tie to q's top bit.
// Division by zero: z = 1. Then d = 0, q = 2^64 - 1 and sq = 0 are forced; (1) gives R = N, so
// r = n, sr = Sn. Conversely d = 0 forces z = 1, since (3) cannot hold for D = 0, z = 0.
//
// (1) is q d + 2^128 sq Sd + r = n + 2^64 (sq d + Sd q + sr - Sn), two limb columns an equation,
// xij = xi + 2^16 xj in [0, 2^32):
//   e0: q0 d0 + 2^16 (q0 d1 + q1 d0) + r01 = n01 + 2^32 C0
//   e1: q0 d2 + q1 d1 + q2 d0 + 2^16 (q0 d3 + q1 d2 + q2 d1 + q3 d0) + r23 + C0 = n23 + 2^32 C1
//   e2: q1 d3 + q2 d2 + q3 d1 + 2^16 (q2 d3 + q3 d2) + C1 - sq d01 - Sd q01 - sr + Sn
//                                                                       = 2^32 (C2 - 2)
//   e3: q3 d3 + C2 - 2 - sq d23 - Sd q23 + 2^32 sq Sd = 0
// Left sides lie in [0, 2^50), [0, 2^51), (-2^34, 2^51), (-2^34, 2^34). Carries: C0 = c0 + 2^16 h,
// h boolean; C1 = c1 + 2^16 (h + 2 h'), booleans; C2 = c2 + 2^16 h, h in {0, 1, 2}; c0, c1, c2 by
// Range16; so right sides lie in [0, 2^50), [0, 2^51), [-2^33, 2^51), {0}. All differences are
// below 2^52 < p: integer equations. Honest carries fit: the left sides bound them as in mul.
//
// (3) by t = |D| + 2^64 z - |R| - 1 in four range-checked limbs: |D| = (1 - 2 Sd) d + 2^64 Sd, |R|
// likewise, 2^64 being 2^32 of the low word and 2^32 - 1 of the high one. e in {0, 1, 2} is what
// the low words borrow:
//   low:  (1 - 2 Sd) d01 + 2^32 Sd - (1 - 2 sr) r01 - 2^32 sr - 1 = t01 - 2^32 e
//   high: (1 - 2 Sd) d23 + (2^32 - 1) Sd - (1 - 2 sr) r23 - (2^32 - 1) sr + 2^32 z - e = t23
// Sides lie in (-2^34, 2^34): integer equations. For z = 0, t >= 0 is |R| < |D|; for z = 1, D = 0
// and an honest |R| is at most 2^64 - 1, so t fits.
//
// rd: q or r; W forms the low word and its sign (Sign16 on q1, r1) * 0xffffffff.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct DivremAir {
  static constexpr const char* kName = "divrem";
  enum Col : u32 {
    kIsDiv,
    kIsDivu,
    kIsRem,
    kIsRemu,
    kIsDivw,
    kIsDivuw,
    kIsRemw,
    kIsRemuw,
    kPc,
    kTs,
    kRd,
    kRs1,
    kRs2,
    kTRs1,
    kTRs2,
    kTRd,
    kAHi,  ///< of the registers; their low words are n01 and d01
    kBHi,
    kOldLo,
    kOldHi,
    kRdLo,
    kRdHi,
    kN0,
    kN1,
    kN2,
    kN3,
    kN1Sign,
    kN3Sign,
    kD0,
    kD1,
    kD2,
    kD3,
    kD1Sign,
    kD3Sign,
    kQ0,
    kQ1,
    kQ2,
    kQ3,
    kQ1Sign,
    kQNegative,
    kR0,
    kR1,
    kR2,
    kR3,
    kR1Sign,
    kRNegative,
    kDIsZero,
    kT0,
    kT1,
    kT2,
    kT3,
    kTBorrow,
    kC0,
    kC0High,
    kC1,
    kC1High,
    kC1Higher,
    kC2,
    kC2High,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 33, kInteractions = 35;

  template <class V>
  struct Flags {
    V div, divu, rem, remu, divw, divuw, remw, remuw;
    V real, is_signed, is_word;
  };
  template <class C>
  EPOCHD_HD static constexpr auto flags(C& c) {
    using V = typename C::Value;
    const V div = c.local(kIsDiv), divu = c.local(kIsDivu), rem = c.local(kIsRem),
            remu = c.local(kIsRemu), divw = c.local(kIsDivw), divuw = c.local(kIsDivuw),
            remw = c.local(kIsRemw), remuw = c.local(kIsRemuw);
    const V word = divw + divuw + remw + remuw;
    return Flags<V>{div,
                    divu,
                    rem,
                    remu,
                    divw,
                    divuw,
                    remw,
                    remuw,
                    div + divu + rem + remu + word,
                    div + rem + divw + remw,
                    word};
  }
  template <class C>
  EPOCHD_HD static constexpr auto pair(C& c, u32 first) {
    return pack16(c, c.local(first), c.local(first + 1));
  }

  template <class C, class F>
  EPOCHD_HD static constexpr void check_flags(C& c, const F& f) {
    c.assert_bool(f.div, "divrem.flag.div_is_bool");
    c.assert_bool(f.divu, "divrem.flag.divu_is_bool");
    c.assert_bool(f.rem, "divrem.flag.rem_is_bool");
    c.assert_bool(f.remu, "divrem.flag.remu_is_bool");
    c.assert_bool(f.divw, "divrem.flag.divw_is_bool");
    c.assert_bool(f.divuw, "divrem.flag.divuw_is_bool");
    c.assert_bool(f.remw, "divrem.flag.remw_is_bool");
    c.assert_bool(f.remuw, "divrem.flag.remuw_is_bool");
    c.assert_bool(f.real, "divrem.flag.one_hot");
  }

  /// The effective operands' high words: the register's, or the extension of the low word.
  template <class C, class F>
  EPOCHD_HD static constexpr void operands_extended(C& c, const F& f) {
    const auto is_double = f.real - f.is_word;
    const auto ones = (f.divw + f.remw) * c.constant(kTwo32 - 1);
    c.assert_eq(pair(c, kN2), is_double * c.local(kAHi) + ones * c.local(kN1Sign),
                "divrem.operand.n_high");
    c.assert_eq(pair(c, kD2), is_double * c.local(kBHi) + ones * c.local(kD1Sign),
                "divrem.operand.d_high");
  }

  /// e0 .. e3.
  template <class C, class F>
  EPOCHD_HD static constexpr void identity(C& c, const F& f) {
    const auto q = [&](u32 i) { return c.local(kQ0 + i); };
    const auto d = [&](u32 i) { return c.local(kD0 + i); };
    const auto two16 = c.constant(kTwo16);
    const auto two32 = c.constant(kTwo32);
    const auto c0 = pair(c, kC0);
    const auto c1 = c.local(kC1) + (c.local(kC1High) + c.local(kC1Higher) * c.constant(2)) * two16;
    const auto c2 = pair(c, kC2) - f.real * c.constant(2);
    const auto sq = c.local(kQNegative);
    const auto sn = f.is_signed * c.local(kN3Sign);
    const auto sd = f.is_signed * c.local(kD3Sign);

    c.assert_eq(q(0) * d(0) + (q(0) * d(1) + q(1) * d(0)) * two16 + pair(c, kR0),
                pair(c, kN0) + c0 * two32, "divrem.identity.limbs01");
    c.assert_eq(q(0) * d(2) + q(1) * d(1) + q(2) * d(0) +
                    (q(0) * d(3) + q(1) * d(2) + q(2) * d(1) + q(3) * d(0)) * two16 + pair(c, kR2) +
                    c0,
                pair(c, kN2) + c1 * two32, "divrem.identity.limbs23");
    c.assert_eq(q(1) * d(3) + q(2) * d(2) + q(3) * d(1) + (q(2) * d(3) + q(3) * d(2)) * two16 + c1 -
                    sq * pair(c, kD0) - sd * pair(c, kQ0) - c.local(kRNegative) + sn,
                c2 * two32, "divrem.identity.limbs45");
    c.assert_zero(q(3) * d(3) + c2 - sq * pair(c, kD2) - sd * pair(c, kQ2) + sq * sd * two32,
                  "divrem.identity.limbs67");

    c.assert_bool(c.local(kC0High), "divrem.carry.c0_high_is_bool");
    c.assert_bool(c.local(kC1High), "divrem.carry.c1_high_is_bool");
    c.assert_bool(c.local(kC1Higher), "divrem.carry.c1_higher_is_bool");
    assert_ternary(c, c.local(kC2High), "divrem.carry.c2_high_is_ternary");
    c.assert_bool(sq, "divrem.quotient.negative_is_bool");
  }
  template <class C, class V>
  EPOCHD_HD static constexpr void assert_ternary(C& c, const V& v, const char* label) {
    c.assert_zero(v * (v - c.constant(1)) * (v - c.constant(2)), label);
  }

  /// (2), (3) and division by zero.
  template <class C, class F>
  EPOCHD_HD static constexpr void remainder_rules(C& c, const F& f) {
    const auto one = c.constant(1);
    const auto two = c.constant(2);
    const auto two32 = c.constant(kTwo32);
    const auto ones = c.constant(kTwo32 - 1);
    const auto sr = c.local(kRNegative);
    const auto sn = f.is_signed * c.local(kN3Sign);
    const auto sd = f.is_signed * c.local(kD3Sign);
    const auto z = c.local(kDIsZero);
    const auto e = c.local(kTBorrow);
    const auto limb_sum = [&](u32 first) {
      return c.local(first) + c.local(first + 1) + c.local(first + 2) + c.local(first + 3);
    };
    c.assert_bool(sr, "divrem.remainder.negative_is_bool");
    c.assert_zero((sn - sr) * limb_sum(kR0), "divrem.remainder.sign_is_dividends");

    c.assert_bool(z, "divrem.zero.is_bool");
    c.assert_zero(z * (one - f.real), "divrem.zero.is_real");
    c.assert_zero(z * limb_sum(kD0), "divrem.zero.divisor");
    c.assert_zero(z * (pair(c, kQ0) - ones), "divrem.zero.quotient_low");
    c.assert_zero(z * (pair(c, kQ2) - ones), "divrem.zero.quotient_high");
    c.assert_zero(z * c.local(kQNegative), "divrem.zero.quotient_sign");

    c.assert_eq((one - two * sd) * pair(c, kD0) + sd * two32 - (one - two * sr) * pair(c, kR0) -
                    sr * two32 - f.real,
                pair(c, kT0) - e * two32, "divrem.bound.low");
    c.assert_eq((one - two * sd) * pair(c, kD2) + sd * ones - (one - two * sr) * pair(c, kR2) -
                    sr * ones + z * two32 - e,
                pair(c, kT2), "divrem.bound.high");
    assert_ternary(c, e, "divrem.bound.borrow_is_ternary");
  }

  /// A value of the row: limbs by Range16, limbs 1 and 3 by Sign16 where a sign column is named.
  template <class C, class V>
  EPOCHD_HD static constexpr void limbs_checked(C& c, const char* label, const V& real, u32 first,
                                                u32 sign1, u32 sign3) {
    for (u32 i = 0; i < 4; ++i) {
      const u32 sign = i == 1 ? sign1 : i == 3 ? sign3 : kWidth;
      if (sign == kWidth) {
        c.send(Bus::kRange16, label, real, c.local(first + i));
      } else {
        c.send(Bus::kSign16, label, real, c.local(first + i), c.local(sign));
      }
    }
  }

  template <class C, class F>
  EPOCHD_HD static constexpr void result(C& c, const F& f) {
    const auto is_quotient = f.div + f.divu + f.divw + f.divuw;
    const auto is_remainder = f.rem + f.remu + f.remw + f.remuw;
    const auto ones = c.constant(kTwo32 - 1);
    c.assert_eq(is_quotient * pair(c, kQ0) + is_remainder * pair(c, kR0), c.local(kRdLo),
                "divrem.result.low");
    c.assert_eq(
        (f.div + f.divu) * pair(c, kQ2) + (f.rem + f.remu) * pair(c, kR2) +
            ((f.divw + f.divuw) * c.local(kQ1Sign) + (f.remw + f.remuw) * c.local(kR1Sign)) * ones,
        c.local(kRdHi), "divrem.result.high");
  }

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto f = flags(c);
    check_flags(c, f);

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), c.constant(0),
                               c.constant(0)};
    step(c, f.real, pc, ts, pc + c.constant(4),
         f.div * c.constant(code(Op::kDiv)) + f.divu * c.constant(code(Op::kDivu)) +
             f.rem * c.constant(code(Op::kRem)) + f.remu * c.constant(code(Op::kRemu)) +
             f.divw * c.constant(code(Op::kDivw)) + f.divuw * c.constant(code(Op::kDivuw)) +
             f.remw * c.constant(code(Op::kRemw)) + f.remuw * c.constant(code(Op::kRemuw)),
         operands);

    const Word64<V> a{pair(c, kN0), c.local(kAHi)};
    const Word64<V> b{pair(c, kD0), c.local(kBHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Word64<V> rd{c.local(kRdLo), c.local(kRdHi)};
    read_register(c, "rs1", f.real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", f.real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);
    access_register(c, "rd", f.real, operands.rd, ts, kSubRd, c.local(kTRd), old, rd);

    limbs_checked(c, "n", f.real, kN0, kN1Sign, kN3Sign);
    limbs_checked(c, "d", f.real, kD0, kD1Sign, kD3Sign);
    limbs_checked(c, "q", f.real, kQ0, kQ1Sign, kWidth);
    limbs_checked(c, "r", f.real, kR0, kR1Sign, kWidth);
    limbs_checked(c, "bound", f.real, kT0, kWidth, kWidth);
    c.send(Bus::kRange16, "c0", f.real, c.local(kC0));
    c.send(Bus::kRange16, "c1", f.real, c.local(kC1));
    c.send(Bus::kRange16, "c2", f.real, c.local(kC2));

    operands_extended(c, f);
    identity(c, f);
    remainder_rules(c, f);
    result(c, f);
  }
};

}  // namespace epochd::chips
