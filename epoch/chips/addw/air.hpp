// addw: ADDW, ADDIW, SUBW. rd = the low 32 bits of a + b or a - b, sign-extended, where a = rs1 and
// b = rs2 + imm, one of which is 0 (the canonical form: x0, or no immediate).
//
// The low word s = s0 + 2^16 s1 is created here: s0 by Range16, s1 by Sign16, whose second field
// is the sign bit; the high word is sign * 0xffffffff. Carries are virtual booleans. ADDW:
// a_lo + b_lo + imm_lo = s + 2^32 c. Left side in [0, 2^33) since one of b_lo, imm_lo is 0, right
// side in [0, 2^33). SUBW: s + b_lo + imm_lo = a_lo + 2^32 c, sides likewise. Differences are below
// p, so the integers are equal; s in [0, 2^32) then is the sum (difference) mod 2^32. The high
// words of the operands do not matter and are bound by their tokens.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct AddwAir {
  static constexpr const char* kName = "addw";
  enum Col : u32 {
    kIsAddw,
    kIsSubw,
    kPc,
    kTs,
    kRd,
    kRs1,
    kRs2,
    kImmLo,
    kImmHi,
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
    kSign,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 5, kInteractions = 14;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_addw = c.local(kIsAddw);
    const auto is_subw = c.local(kIsSubw);
    const auto is_real = is_addw + is_subw;
    c.assert_bool(is_addw, "addw.flag.addw_is_bool");
    c.assert_bool(is_subw, "addw.flag.subw_is_bool");
    c.assert_bool(is_real, "addw.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), c.local(kImmLo),
                               c.local(kImmHi)};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_addw * c.constant(code(Op::kAddw)) + is_subw * c.constant(code(Op::kSubw)), operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> b{c.local(kBLo), c.local(kBHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const auto s0 = c.local(kS0);
    const auto s1 = c.local(kS1);
    const auto sign = c.local(kSign);
    const Word64<V> s{pack16(c, s0, s1), sign * c.constant(kTwo32 - 1)};
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, s);
    c.send(Bus::kRange16, "result.low", is_real, s0);
    c.send(Bus::kSign16, "result.sign", is_real, s1, sign);

    const auto inv = c.constant(kInvTwo32);
    const auto operand = b.lo + operands.imm_lo;
    assert_bool_when(c, is_addw, (a.lo + operand - s.lo) * inv, "addw.addw.carry");
    assert_bool_when(c, is_subw, (s.lo + operand - a.lo) * inv, "addw.subw.carry");
  }
};

}  // namespace epochd::chips
