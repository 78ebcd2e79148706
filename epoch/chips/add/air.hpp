// add: ADD, SUB. rd = rs1 + rs2 or rs1 - rs2, mod 2^64.
//
// The result s is created here, so its four limbs are range-checked; rs1 and rs2 are words by
// whoever wrote them. Carries are virtual: for ADD, c0 = 2^-32 (a_lo + b_lo - s_lo) and c1 = 2^-32
// (a_hi + b_hi + c0 - s_hi) are asserted boolean. Both sides are below 2^33 + 1 < p, so the field
// equation is the integer one and c0, c1 are its carries (the carry out of 64 bits, c1, is
// dropped). SUB is the ADD s + b = a.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct AddAir {
  static constexpr const char* kName = "add";
  enum Col : u32 {
    kIsAdd,
    kIsSub,
    kPc,
    kTs,
    kRd,
    kRs1,
    kRs2,
    kTRs1,
    kTRs2,
    kTRd,
    kALo,
    kAHi,
    kBLo,
    kBHi,
    kOldLo,
    kOldHi,
    kS0,
    kS1,
    kS2,
    kS3,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 7, kInteractions = 16;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto is_add = c.local(kIsAdd);
    const auto is_sub = c.local(kIsSub);
    const auto is_real = is_add + is_sub;
    c.assert_bool(is_add, "add.flag.add_is_bool");
    c.assert_bool(is_sub, "add.flag.sub_is_bool");
    c.assert_bool(is_real, "add.flag.one_hot");

    using V = typename C::Value;
    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), c.constant(0),
                               c.constant(0)};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_add * c.constant(code(Op::kAdd)) + is_sub * c.constant(code(Op::kSub)), operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> b{c.local(kBLo), c.local(kBHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Limbs64<V> limbs{c.local(kS0), c.local(kS1), c.local(kS2), c.local(kS3)};
    const Word64<V> s = words_of(c, limbs);
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, s);
    range_check(c, "result", is_real, limbs);

    const auto inv = c.constant(kInvTwo32);
    const auto add0 = (a.lo + b.lo - s.lo) * inv;
    const auto add1 = (a.hi + b.hi + add0 - s.hi) * inv;
    const auto sub0 = (s.lo + b.lo - a.lo) * inv;
    const auto sub1 = (s.hi + b.hi + sub0 - a.hi) * inv;
    assert_bool_when(c, is_add, add0, "add.add.carry_lo");
    assert_bool_when(c, is_add, add1, "add.add.carry_hi");
    assert_bool_when(c, is_sub, sub0, "add.sub.carry_lo");
    assert_bool_when(c, is_sub, sub1, "add.sub.carry_hi");
  }
};

}  // namespace epochd::chips
