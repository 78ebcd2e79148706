// lw: LW, LWU at an address divisible by 4. rd = the cell's low or high word, sign- or
// zero-extended.
//
// The offset is 4 * is_high, so a misaligned address has no row here. `word` is the chosen word of
// the cell, below 2^32 by whoever wrote it. LW takes the sign from the top limb: Sign16 (top, sign)
// and Range16 (word - 2^16 top) make word = low + 2^16 top an equation between integers below 2^32,
// so top is the word's. The high word of rd is 2^32 - 1 or 0. LWU looks no sign up and holds top
// and sign at 0: rd's high word is then 0. Address bounds: gadgets.hpp `address`.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct LwAir {
  static constexpr const char* kName = "lw";
  enum Col : u32 {
    kIsLw,
    kIsLwu,
    kPc,
    kTs,
    kRd,
    kRs1,
    kImmLo,
    kImmHi,
    kTRs1,
    kTMem,
    kTRd,
    kALo,
    kAHi,
    kMemLo,
    kMemHi,
    kOldLo,
    kOldHi,
    kCell,
    kPage,
    kIsHigh,
    kWord,
    kTop,
    kSign,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 9, kInteractions = 16;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_lw = c.local(kIsLw);
    const auto is_lwu = c.local(kIsLwu);
    const auto is_real = is_lw + is_lwu;
    const auto is_high = c.local(kIsHigh);
    c.assert_bool(is_lw, "lw.flag.lw_is_bool");
    c.assert_bool(is_lwu, "lw.flag.lwu_is_bool");
    c.assert_bool(is_real, "lw.flag.one_hot");
    c.assert_bool(is_high, "lw.address.high_is_bool");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> imm{c.local(kImmLo), c.local(kImmHi)};
    const Word64<V> mem{c.local(kMemLo), c.local(kMemHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.constant(0), imm.lo, imm.hi};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_lw * c.constant(code(Op::kLw)) + is_lwu * c.constant(code(Op::kLwu)), operands);

    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    const AddressParts<V> parts{is_high * c.constant(4), c.local(kCell), c.local(kPage)};
    const auto key = address(c, "lw.address.carry", "lw.address.carry_out", is_real, a, imm, parts);
    access_memory(c, is_real, key, ts, c.local(kTMem), mem, mem);

    const auto word = c.local(kWord);
    const auto sign = c.local(kSign);
    c.assert_zero(word - mem.lo - is_high * (mem.hi - mem.lo), "lw.word.chosen");
    sign_if(c, is_lw, word, c.local(kTop), sign, "sign", "lw.sign.top_unused",
            "lw.sign.sign_unused");
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old,
                    Word64<V>{word, sign * c.constant(kTwo32 - 1)});
  }
};

}  // namespace epochd::chips
