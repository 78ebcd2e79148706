// addi: ADDI, and by canonicalisation LUI, AUIPC, LI and FENCE. rd = rs1 + imm mod 2^64.
//
// The result s is created here, so its four limbs are range-checked; rs1 is a word pair by whoever
// wrote it, imm by the Program table. Carries are virtual: c0 = 2^-32 (a_lo + imm_lo - s_lo) is
// asserted boolean, that is a_lo + imm_lo = s_lo + 2^32 c0 in the field. Left side in [0, 2^33),
// right side in [0, 2^33): their difference is below p, so the integers are equal and c0 is the
// carry. Likewise a_hi + imm_hi + c0 = s_hi + 2^32 c1, sides in [0, 2^33); c1 is the carry out of
// 64 bits and is dropped.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct AddiAir {
  static constexpr const char* kName = "addi";
  enum Col : u32 {
    kIsReal,
    kPc,
    kTs,
    kRd,
    kRs1,
    kImmLo,
    kImmHi,
    kTRs1,
    kTRd,
    kALo,
    kAHi,
    kOldLo,
    kOldHi,
    kS0,
    kS1,
    kS2,
    kS3,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 3, kInteractions = 13;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_real = c.local(kIsReal);
    c.assert_bool(is_real, "addi.flag.is_bool");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.constant(0), c.local(kImmLo),
                               c.local(kImmHi)};
    step(c, is_real, pc, ts, pc + c.constant(4), is_real * c.constant(code(Op::kAddi)), operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Limbs64<V> limbs{c.local(kS0), c.local(kS1), c.local(kS2), c.local(kS3)};
    const Word64<V> s = words_of(c, limbs);
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, s);
    range_check(c, "result", is_real, limbs);

    const auto inv = c.constant(kInvTwo32);
    const auto carry0 = (a.lo + operands.imm_lo - s.lo) * inv;
    const auto carry1 = (a.hi + operands.imm_hi + carry0 - s.hi) * inv;
    assert_bool_when(c, is_real, carry0, "addi.sum.carry_lo");
    assert_bool_when(c, is_real, carry1, "addi.sum.carry_hi");
  }
};

}  // namespace epochd::chips
