// blt: BLT, BGE, BLTU, BGEU. next pc = the target (absolute, in imm_lo) if rs1 < rs2, or if not, as
// the instruction says; else pc + 4.
//
// The comparison is the borrow of d = rs1 - rs2 mod 2^64, whose four limbs are created here and
// range-checked. With A = a_hi - 2^32 a_sign the high word as a signed integer (and a_sign = 0 for
// the unsigned forms), and B likewise:
//   carry = 2^-32 (b_lo + d_lo - a_lo),  less = 2^-32 (B + d_hi + carry - A), both boolean.
// The brackets are integers in (-2^33, 2^34) and stand equal to 2^32 times a boolean, so they are
// equal as integers, and b + d = a + 2^64 less. As 0 <= d < 2^64 and |a - b| < 2^64 in either
// reading, less = 1 exactly where a < b.
//
// The signs come from Sign16 on the top limbs of the high words; what is left of a word, (hi - 2^16
// top), is range-checked, so the split is the word's own. Both words are below 2^32 by their
// writer. The unsigned forms look nothing up and hold tops and signs at 0.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct BltAir {
  static constexpr const char* kName = "blt";
  enum Col : u32 {
    kIsBlt,
    kIsBge,
    kIsBltu,
    kIsBgeu,
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
    kATop,
    kASign,
    kBTop,
    kBSign,
    kD0,
    kD1,
    kD2,
    kD3,
    kNextPc,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 12, kInteractions = 17;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_blt = c.local(kIsBlt);
    const auto is_bge = c.local(kIsBge);
    const auto is_bltu = c.local(kIsBltu);
    const auto is_bgeu = c.local(kIsBgeu);
    const auto is_signed = is_blt + is_bge;
    const auto is_real = is_signed + is_bltu + is_bgeu;
    c.assert_bool(is_blt, "blt.flag.blt_is_bool");
    c.assert_bool(is_bge, "blt.flag.bge_is_bool");
    c.assert_bool(is_bltu, "blt.flag.bltu_is_bool");
    c.assert_bool(is_bgeu, "blt.flag.bgeu_is_bool");
    c.assert_bool(is_real, "blt.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const auto target = c.local(kTarget);
    const auto next_pc = c.local(kNextPc);
    const auto zero = c.constant(0);
    const Operands<V> operands{zero, c.local(kRs1), c.local(kRs2), target, zero};
    step(c, is_real, pc, ts, next_pc,
         is_blt * c.constant(code(Op::kBlt)) + is_bge * c.constant(code(Op::kBge)) +
             is_bltu * c.constant(code(Op::kBltu)) + is_bgeu * c.constant(code(Op::kBgeu)),
         operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> b{c.local(kBLo), c.local(kBHi)};
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);

    const auto a_sign = c.local(kASign);
    const auto b_sign = c.local(kBSign);
    sign_if(c, is_signed, a.hi, c.local(kATop), a_sign, "rs1.sign", "blt.sign.a_top_unused",
            "blt.sign.a_sign_unused");
    sign_if(c, is_signed, b.hi, c.local(kBTop), b_sign, "rs2.sign", "blt.sign.b_top_unused",
            "blt.sign.b_sign_unused");

    const Limbs64<V> limbs{c.local(kD0), c.local(kD1), c.local(kD2), c.local(kD3)};
    const Word64<V> d = words_of(c, limbs);
    range_check(c, "difference", is_real, limbs);
    const auto inv = c.constant(kInvTwo32);
    const auto carry = (b.lo + d.lo - a.lo) * inv;
    const auto less = (b.hi + d.hi + carry - a.hi) * inv + a_sign - b_sign;
    c.assert_bool(carry, "blt.difference.carry");
    c.assert_bool(less, "blt.difference.borrow");

    const auto taken = (is_blt + is_bltu) * less + (is_bge + is_bgeu) * (c.constant(1) - less);
    const auto fall_through = pc + is_real * c.constant(4);
    c.assert_zero(next_pc - fall_through - taken * (target - fall_through), "blt.next_pc");
  }
};

}  // namespace epochd::chips
