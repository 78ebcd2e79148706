// mul: MUL, MULH, MULHU, MULHSU, MULW. rd = the low or the high half of a * b.
//
// Every row proves the 128-bit product T mod 2^128 by schoolbook in 16-bit limbs, two limb columns
// an equation. a, b (split here) and the product p are range-checked limbs; signs come from Sign16
// on the top limbs. Signed operands subtract: T = A B - 2^64 (fa B + fb A), where fa is a's sign
// for MULH, MULHSU and fb is b's sign for MULH. (The term 2^128 fa fb does not matter mod 2^128.)
//
//   e0: a0 b0 + 2^16 (a0 b1 + a1 b0) = p01 + 2^32 C0                      left in [0, 2^50)
//   e1: a0 b2 + a1 b1 + a2 b0 + 2^16 (a0 b3 + a1 b2 + a2 b1 + a3 b0) + C0
//                                    = p23 + 2^32 C1                      left in [0, 2^51)
//   e2: a1 b3 + a2 b2 + a3 b1 + 2^16 (a2 b3 + a3 b2) + C1 - fa b01 - fb a01
//                                    = p45 + 2^32 (C2 - 2)                left in (-2^34, 2^51)
//   e3: a3 b3 + C2 - 2 - fa b23 - fb a23 = p67 - 2^32 borrow              left in (-2^34, 2^33)
//
// where xij = xi + 2^16 xj in [0, 2^32). Carries: C0 = c0 + 2^16 h, h boolean (C0 < 2^17);
// C1 = c1 + 2^16 (h + 2 h'), booleans (C1 < 2^18); C2 = c2 + 2^16 h, h in {0, 1, 2} (C2 < 2^18);
// c0, c1, c2 by Range16; borrow boolean, since T >= -2^128. They are wide enough for every honest
// row: left e0 < 2^32 (2^17 + 1) (1 - 2^-15) and so on; e2 lies above -2 * 2^32. Right sides lie in
// (-2^34, 2^51): every difference is below 2^52 < p, so these are integer equations, and each pair
// (p word, carry) is a division by 2^32, hence unique.
//
// rd: MUL p01 p23; MULH* p45 p67; MULW p01 and its sign (Sign16 on p1) * 0xffffffff, since the low
// word of a product depends on the low words only.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct MulAir {
  static constexpr const char* kName = "mul";
  enum Col : u32 {
    kIsMul,
    kIsMulh,
    kIsMulhu,
    kIsMulhsu,
    kIsMulw,
    kPc,
    kTs,
    kRd,
    kRs1,
    kRs2,
    kTRs1,
    kTRs2,
    kTRd,
    kOldLo,
    kOldHi,
    kRLo,
    kRHi,
    kA0,
    kA1,
    kA2,
    kA3,
    kASign,
    kB0,
    kB1,
    kB2,
    kB3,
    kBSign,
    kP0,
    kP1,
    kP2,
    kP3,
    kP4,
    kP5,
    kP6,
    kP7,
    kP1Sign,
    kC0,
    kC0High,
    kC1,
    kC1High,
    kC1Higher,
    kC2,
    kC2High,
    kBorrow,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 17, kInteractions = 31;

  template <class C>
  EPOCHD_HD static constexpr auto is_real(C& c) {
    return c.local(kIsMul) + c.local(kIsMulh) + c.local(kIsMulhu) + c.local(kIsMulhsu) +
           c.local(kIsMulw);
  }

  template <class C>
  EPOCHD_HD static constexpr auto pair(C& c, u32 first) {
    return pack16(c, c.local(first), c.local(first + 1));
  }

  /// e0 .. e3 and the carries' widths.
  template <class C>
  EPOCHD_HD static constexpr void product(C& c) {
    const auto a = [&](u32 i) { return c.local(kA0 + i); };
    const auto b = [&](u32 i) { return c.local(kB0 + i); };
    const auto two16 = c.constant(kTwo16);
    const auto two32 = c.constant(kTwo32);
    const auto c0 = pair(c, kC0);
    const auto c1 = c.local(kC1) + (c.local(kC1High) + c.local(kC1Higher) * c.constant(2)) * two16;
    const auto c2 = pair(c, kC2) - is_real(c) * c.constant(2);
    const auto a_negative = c.local(kASign) * (c.local(kIsMulh) + c.local(kIsMulhsu));
    const auto b_negative = c.local(kBSign) * c.local(kIsMulh);
    const auto borrow = c.local(kBorrow);

    c.assert_eq(a(0) * b(0) + (a(0) * b(1) + a(1) * b(0)) * two16, pair(c, kP0) + c0 * two32,
                "mul.product.limbs01");
    c.assert_eq(a(0) * b(2) + a(1) * b(1) + a(2) * b(0) +
                    (a(0) * b(3) + a(1) * b(2) + a(2) * b(1) + a(3) * b(0)) * two16 + c0,
                pair(c, kP2) + c1 * two32, "mul.product.limbs23");
    c.assert_eq(a(1) * b(3) + a(2) * b(2) + a(3) * b(1) + (a(2) * b(3) + a(3) * b(2)) * two16 + c1 -
                    a_negative * pair(c, kB0) - b_negative * pair(c, kA0),
                pair(c, kP4) + c2 * two32, "mul.product.limbs45");
    c.assert_eq(a(3) * b(3) + c2 - a_negative * pair(c, kB2) - b_negative * pair(c, kA2),
                pair(c, kP6) - borrow * two32, "mul.product.limbs67");

    c.assert_bool(c.local(kC0High), "mul.carry.c0_high_is_bool");
    c.assert_bool(c.local(kC1High), "mul.carry.c1_high_is_bool");
    c.assert_bool(c.local(kC1Higher), "mul.carry.c1_higher_is_bool");
    c.assert_zero(
        c.local(kC2High) * (c.local(kC2High) - c.constant(1)) * (c.local(kC2High) - c.constant(2)),
        "mul.carry.c2_high_is_ternary");
    c.assert_bool(borrow, "mul.carry.borrow_is_bool");
  }

  template <class C>
  EPOCHD_HD static constexpr void range_checks(C& c) {
    const auto real = is_real(c);
    c.send(Bus::kRange16, "a0", real, c.local(kA0));
    c.send(Bus::kRange16, "a1", real, c.local(kA1));
    c.send(Bus::kRange16, "a2", real, c.local(kA2));
    c.send(Bus::kSign16, "a3", real, c.local(kA3), c.local(kASign));
    c.send(Bus::kRange16, "b0", real, c.local(kB0));
    c.send(Bus::kRange16, "b1", real, c.local(kB1));
    c.send(Bus::kRange16, "b2", real, c.local(kB2));
    c.send(Bus::kSign16, "b3", real, c.local(kB3), c.local(kBSign));
    c.send(Bus::kRange16, "p0", real, c.local(kP0));
    c.send(Bus::kSign16, "p1", real, c.local(kP1), c.local(kP1Sign));
    c.send(Bus::kRange16, "p2", real, c.local(kP2));
    c.send(Bus::kRange16, "p3", real, c.local(kP3));
    c.send(Bus::kRange16, "p4", real, c.local(kP4));
    c.send(Bus::kRange16, "p5", real, c.local(kP5));
    c.send(Bus::kRange16, "p6", real, c.local(kP6));
    c.send(Bus::kRange16, "p7", real, c.local(kP7));
    c.send(Bus::kRange16, "c0", real, c.local(kC0));
    c.send(Bus::kRange16, "c1", real, c.local(kC1));
    c.send(Bus::kRange16, "c2", real, c.local(kC2));
  }

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_mul = c.local(kIsMul);
    const auto is_mulh = c.local(kIsMulh);
    const auto is_mulhu = c.local(kIsMulhu);
    const auto is_mulhsu = c.local(kIsMulhsu);
    const auto is_mulw = c.local(kIsMulw);
    const auto real = is_real(c);
    c.assert_bool(is_mul, "mul.flag.mul_is_bool");
    c.assert_bool(is_mulh, "mul.flag.mulh_is_bool");
    c.assert_bool(is_mulhu, "mul.flag.mulhu_is_bool");
    c.assert_bool(is_mulhsu, "mul.flag.mulhsu_is_bool");
    c.assert_bool(is_mulw, "mul.flag.mulw_is_bool");
    c.assert_bool(real, "mul.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), c.constant(0),
                               c.constant(0)};
    step(c, real, pc, ts, pc + c.constant(4),
         is_mul * c.constant(code(Op::kMul)) + is_mulh * c.constant(code(Op::kMulh)) +
             is_mulhu * c.constant(code(Op::kMulhu)) + is_mulhsu * c.constant(code(Op::kMulhsu)) +
             is_mulw * c.constant(code(Op::kMulw)),
         operands);

    const Word64<V> a{pair(c, kA0), pair(c, kA2)};
    const Word64<V> b{pair(c, kB0), pair(c, kB2)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Word64<V> r{c.local(kRLo), c.local(kRHi)};
    read_register(c, "rs1", real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);
    access_register(c, "rd", real, operands.rd, ts, kSubRd, c.local(kTRd), old, r);
    range_checks(c);
    product(c);

    const auto is_high = is_mulh + is_mulhu + is_mulhsu;
    c.assert_eq((is_mul + is_mulw) * pair(c, kP0) + is_high * pair(c, kP4), r.lo, "mul.result.low");
    c.assert_eq(is_mul * pair(c, kP2) + is_high * pair(c, kP6) +
                    is_mulw * c.local(kP1Sign) * c.constant(kTwo32 - 1),
                r.hi, "mul.result.high");
  }
};

}  // namespace epochd::chips
