// store_narrow: SB at any address, SH at an even one.
//
// Offset bits, and the chosen word's parts top, rest, other, are exactly lbh's: a halfword store
// addresses its top byte, byte_bit = 1 by constraint, an odd halfword address has no row here; the
// parts are range-checked, so they are the old word's own.
//
// rs2 is taken apart as b0 + 256 b1 + 2^16 b_rest, b0 and b1 checked as bytes, b_rest (virtual) as
// 16 bits: an equation between integers below 2^32. SB replaces top by b0; SH replaces top by b1
// and rest by b0. `delta` is what that adds to the chosen half:
//   SB: (1 or 256) (b0 - top), by byte_bit;  SH: b0 + 256 b1 - rest - 256 top,
// and the new word is the old one plus delta * (1 or 2^16), by half_bit. It consists of checked
// bytes and a checked half again, so it is below 2^32. The cell's other word stays. Address bounds:
// gadgets.hpp `address`.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct StoreNarrowAir {
  static constexpr const char* kName = "store_narrow";
  enum Col : u32 {
    kIsSb,
    kIsSh,
    kPc,
    kTs,
    kRs1,
    kRs2,
    kImmLo,
    kImmHi,
    kTRs1,
    kTRs2,
    kTMem,
    kALo,
    kAHi,
    kBLo,
    kBHi,
    kMemLo,
    kMemHi,
    kNewLo,
    kNewHi,
    kCell,
    kPage,
    kByteBit,
    kHalfBit,
    kWordBit,
    kTop,
    kRest,
    kOther,
    kB0,
    kB1,
    kDelta,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 13, kInteractions = 18;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_sb = c.local(kIsSb);
    const auto is_sh = c.local(kIsSh);
    const auto is_real = is_sb + is_sh;
    c.assert_bool(is_sb, "store_narrow.flag.sb_is_bool");
    c.assert_bool(is_sh, "store_narrow.flag.sh_is_bool");
    c.assert_bool(is_real, "store_narrow.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> b{c.local(kBLo), c.local(kBHi)};
    const Word64<V> imm{c.local(kImmLo), c.local(kImmHi)};
    const Word64<V> mem{c.local(kMemLo), c.local(kMemHi)};
    const Word64<V> now{c.local(kNewLo), c.local(kNewHi)};
    const Operands<V> operands{c.constant(0), c.local(kRs1), c.local(kRs2), imm.lo, imm.hi};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_sb * c.constant(code(Op::kSb)) + is_sh * c.constant(code(Op::kSh)), operands);
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);

    const OffsetBits<V> bits{c.local(kByteBit), c.local(kHalfBit), c.local(kWordBit)};
    c.assert_bool(bits.byte, "store_narrow.address.byte_is_bool");
    c.assert_bool(bits.half, "store_narrow.address.half_is_bool");
    c.assert_bool(bits.word, "store_narrow.address.word_is_bool");
    c.assert_zero(is_sh * (c.constant(1) - bits.byte), "store_narrow.address.half_is_even");
    const AddressParts<V> parts{offset_of(c, bits) - is_sh, c.local(kCell), c.local(kPage)};
    const auto key = address(c, "store_narrow.address.carry", "store_narrow.address.carry_out",
                             is_real, a, imm, parts);
    access_memory(c, is_real, key, ts, c.local(kTMem), mem, now);

    const CellParts<V> old{c.local(kTop), c.local(kRest), c.local(kOther)};
    take_apart(c, is_real, mem, bits, old, "store_narrow.cell.parts");
    const auto b0 = c.local(kB0);
    const auto b1 = c.local(kB1);
    c.send(Bus::kBytes, "rs2.bytes", is_real, c.constant(static_cast<u64>(ByteOp::kRange)), b0, b1,
           c.constant(0));
    c.send(Bus::kRange16, "rs2.rest", is_real,
           (b.lo - b0 - b1 * c.constant(256)) * c.constant(kInvTwo16));

    // For SH, where byte_bit = 1, the second term turns 256 (b0 - top) into the halfword's change.
    const auto delta = c.local(kDelta);
    const auto byte_change = (b0 - old.top) * (c.constant(1) + bits.byte * c.constant(255));
    const auto half_change = b1 * c.constant(256) - b0 * c.constant(255) - old.rest;
    c.assert_zero(delta - byte_change - is_sh * half_change, "store_narrow.cell.delta");
    const auto word_change = delta * (c.constant(1) + bits.half * c.constant(kTwo16 - 1));
    c.assert_zero(now.lo - mem.lo - word_change * (c.constant(1) - bits.word),
                  "store_narrow.cell.lo");
    c.assert_zero(now.hi - mem.hi - word_change * bits.word, "store_narrow.cell.hi");
  }
};

}  // namespace epochd::chips
