// jal: JAL. rd = pc + 4, next pc = the target the Program table holds (absolute, in imm_lo).
//
// The link pc + 4 is one linear form in the low word with high word 0: programs lie below
// 0xC000'0000, so pc + 4 < 2^32 is a word, and equals rd's value as an integer. pc is a Program
// row's, the target is a Program immediate below 2^32; nothing else is created here.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct JalAir {
  static constexpr const char* kName = "jal";
  enum Col : u32 { kIsReal, kPc, kTs, kRd, kTarget, kTRd, kOldLo, kOldHi, kWidth };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 1, kInteractions = 6;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_real = c.local(kIsReal);
    c.assert_bool(is_real, "jal.flag.real_is_bool");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const auto target = c.local(kTarget);
    const auto zero = c.constant(0);
    const Operands<V> operands{c.local(kRd), zero, zero, target, zero};
    step(c, is_real, pc, ts, target, is_real * c.constant(code(Op::kJal)), operands);

    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Word64<V> link{pc + c.constant(4), zero};
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, link);
  }
};

}  // namespace epochd::chips
