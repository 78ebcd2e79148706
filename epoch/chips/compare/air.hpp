// compare: SLT, SLTU and their immediate forms. rd = 1 if a < b (signed or unsigned), else 0, where
// a = rs1 and b = rs2 + imm, one of which is 0.
//
// lt is the borrow of a - b over 64 bits; for SLT both operands first have their top bit flipped,
// which turns signed order into unsigned order: a'_hi = a_hi + 2^31 - 2^32 sign(a). The high words
// are split here, hi = l2 + 2^16 l3, l2 by Range16 and l3 by Sign16, so the signs are right. The
// split of b is that of b_hi + imm_hi: what the rs2 token carries is that sum less imm_hi, and
// since one of the two words is 0 their sum is below 2^32 and its split is unique.
// With the difference d in four range-checked limbs, as integers:
//   low words:  a_lo - b_lo + 2^32 c0 = d_lo, c0 boolean (virtual). Sides in (-2^32, 2^33).
//   high words: a_hi - b_hi - 2^32 slt (sign(a) - sign(b)) - c0 + 2^32 lt = d_hi.
//               Left side in (-2^34, 2^34), right side in [0, 2^32).
// Differences are far below p, so field equality is integer equality. a' - b' - c0 lies in
// [-2^32, 2^32) and d_hi in [0, 2^32), so exactly one boolean lt fits: the borrow.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct CompareAir {
  static constexpr const char* kName = "compare";
  enum Col : u32 {
    kIsSlt,
    kIsSltu,
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
    kA2,
    kA3,
    kASign,
    kBLo,  ///< of the register; the limbs and the sign are those of register + immediate
    kB2,
    kB3,
    kBSign,
    kOldLo,
    kOldHi,
    kLt,
    kD0,
    kD1,
    kD2,
    kD3,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 6, kInteractions = 20;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_slt = c.local(kIsSlt);
    const auto is_sltu = c.local(kIsSltu);
    const auto is_real = is_slt + is_sltu;
    c.assert_bool(is_slt, "compare.flag.slt_is_bool");
    c.assert_bool(is_sltu, "compare.flag.sltu_is_bool");
    c.assert_bool(is_real, "compare.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), c.local(kImmLo),
                               c.local(kImmHi)};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_slt * c.constant(code(Op::kSlt)) + is_sltu * c.constant(code(Op::kSltu)), operands);

    const auto a_sign = c.local(kASign);
    const auto b_sign = c.local(kBSign);
    const auto lt = c.local(kLt);
    const Word64<V> a{c.local(kALo), pack16(c, c.local(kA2), c.local(kA3))};
    const Word64<V> b{c.local(kBLo) + operands.imm_lo, pack16(c, c.local(kB2), c.local(kB3))};
    const Word64<V> rs2{c.local(kBLo), b.hi - operands.imm_hi};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), rs2);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old,
                    Word64<V>{lt, c.constant(0)});
    c.send(Bus::kRange16, "a.limb2", is_real, c.local(kA2));
    c.send(Bus::kSign16, "a.sign", is_real, c.local(kA3), a_sign);
    c.send(Bus::kRange16, "b.limb2", is_real, c.local(kB2));
    c.send(Bus::kSign16, "b.sign", is_real, c.local(kB3), b_sign);

    const Limbs64<V> limbs{c.local(kD0), c.local(kD1), c.local(kD2), c.local(kD3)};
    const Word64<V> d = words_of(c, limbs);
    range_check(c, "difference", is_real, limbs);

    const auto two32 = c.constant(kTwo32);
    const auto borrow = (d.lo - a.lo + b.lo) * c.constant(kInvTwo32);
    c.assert_bool(lt, "compare.result.is_bool");
    c.assert_bool(borrow, "compare.difference.borrow_lo");
    c.assert_eq(a.hi - b.hi - is_slt * (a_sign - b_sign) * two32 - borrow + lt * two32, d.hi,
                "compare.difference.high");
  }
};

}  // namespace epochd::chips
