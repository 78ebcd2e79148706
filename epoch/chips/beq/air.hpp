// beq: BEQ, BNE. next pc = the target (absolute, in imm_lo) if rs1 = rs2, or if not, as the
// instruction says; else pc + 4.
//
// Equality of two 64-bit values, as two word differences d0 = a_lo - b_lo and d1 = a_hi - b_hi: the
// form q = d0^2 - 7 d1^2 is 0 only for d0 = d1 = 0, because 7 is no square modulo p (it generates
// the multiplicative group). So one inverse column does for both words: eq * q = 0 and is_real - eq
// = q * q_inv say eq = 1 exactly where d0 = d1 = 0, in the field; words are below 2^32 < p, so
// equal field elements are equal integers. The two constraints make eq boolean on a real row, and a
// boolean of its own would catch nothing more: q != 0 forces eq = 0, q = 0 forces eq = is_real.
//
// The next pc is pc + 4 (pc < 0xC000'0000 by the program) or the target; both are below 2^32.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct BeqAir {
  static constexpr const char* kName = "beq";
  enum Col : u32 {
    kIsBeq,
    kIsBne,
    kPc,
    kTs,
    kRs1,
    kRs2,
    kTarget,
    kTRs1,
    kTRs2,
    kALo,
    kAHi,
    kBLo,
    kBHi,
    kEq,
    kQInv,
    kNextPc,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 6, kInteractions = 9;
  /// The non-square of the form d0^2 - 7 d1^2.
  static constexpr u64 kNonSquare = Fp::kGenerator;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_beq = c.local(kIsBeq);
    const auto is_bne = c.local(kIsBne);
    const auto is_real = is_beq + is_bne;
    c.assert_bool(is_beq, "beq.flag.beq_is_bool");
    c.assert_bool(is_bne, "beq.flag.bne_is_bool");
    c.assert_bool(is_real, "beq.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const auto target = c.local(kTarget);
    const auto next_pc = c.local(kNextPc);
    const auto zero = c.constant(0);
    const Operands<V> operands{zero, c.local(kRs1), c.local(kRs2), target, zero};
    step(c, is_real, pc, ts, next_pc,
         is_beq * c.constant(code(Op::kBeq)) + is_bne * c.constant(code(Op::kBne)), operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> b{c.local(kBLo), c.local(kBHi)};
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);

    const auto eq = c.local(kEq);
    const auto d0 = a.lo - b.lo;
    const auto d1 = a.hi - b.hi;
    const auto q = d0 * d0 - d1 * d1 * c.constant(kNonSquare);
    c.assert_zero(eq * q, "beq.eq.no_difference");
    c.assert_zero(is_real - eq - q * c.local(kQInv), "beq.eq.difference_inverts");

    const auto taken = is_beq * eq + is_bne * (c.constant(1) - eq);
    const auto fall_through = pc + is_real * c.constant(4);
    c.assert_zero(next_pc - fall_through - taken * (target - fall_through), "beq.next_pc");
  }
};

}  // namespace epochd::chips
