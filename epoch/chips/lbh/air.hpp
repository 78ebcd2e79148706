// lbh: LB, LBU at any address, LH, LHU at an even one. rd = the byte or halfword, sign- or
// zero-extended.
//
// Offset bits: word_bit chooses the cell's word, half_bit the halfword, byte_bit the byte. A
// halfword load is read as one whose top byte is addressed: byte_bit = 1 by constraint and the
// offset is 4 word_bit + 2 half_bit + byte_bit - is_half, so an odd halfword address has no row
// here.
//
// The chosen word is taken apart as top, rest (the two bytes of the chosen half, `top` the one
// byte_bit names) and other (the other half):
//   half = top + 256 rest, bytes swapped if byte_bit;  word = half + 2^16 other, swapped if
//   half_bit.
// top, rest and other are range-checked, so both sides are integers below 2^32 (the word by its
// writer) and the parts are the word's own.
//
// top is the loaded byte, or the halfword's high byte, so its top bit is the sign: Sign16 (256 top,
// sign), where 256 top is exact because top is a checked byte. The unsigned forms hold sign at 0.
// rd's low word is the value plus sign * (2^32 - 2^8 or 2^16), below 2^32 because a set sign means
// a value of at least 2^7 or 2^15 and less than 2^8 or 2^16; its high word is sign * (2^32 - 1).
// Address bounds: gadgets.hpp `address`.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct LbhAir {
  static constexpr const char* kName = "lbh";
  enum Col : u32 {
    kIsLb,
    kIsLbu,
    kIsLh,
    kIsLhu,
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
    kByteBit,
    kHalfBit,
    kWordBit,
    kTop,
    kRest,
    kOther,
    kSign,
    kResultLo,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 14, kInteractions = 17;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_lb = c.local(kIsLb);
    const auto is_lbu = c.local(kIsLbu);
    const auto is_lh = c.local(kIsLh);
    const auto is_lhu = c.local(kIsLhu);
    const auto is_real = is_lb + is_lbu + is_lh + is_lhu;
    c.assert_bool(is_lb, "lbh.flag.lb_is_bool");
    c.assert_bool(is_lbu, "lbh.flag.lbu_is_bool");
    c.assert_bool(is_lh, "lbh.flag.lh_is_bool");
    c.assert_bool(is_lhu, "lbh.flag.lhu_is_bool");
    c.assert_bool(is_real, "lbh.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> imm{c.local(kImmLo), c.local(kImmHi)};
    const Word64<V> mem{c.local(kMemLo), c.local(kMemHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.constant(0), imm.lo, imm.hi};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_lb * c.constant(code(Op::kLb)) + is_lbu * c.constant(code(Op::kLbu)) +
             is_lh * c.constant(code(Op::kLh)) + is_lhu * c.constant(code(Op::kLhu)),
         operands);
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);

    const auto is_half = is_lh + is_lhu;
    const OffsetBits<V> bits{c.local(kByteBit), c.local(kHalfBit), c.local(kWordBit)};
    c.assert_bool(bits.byte, "lbh.address.byte_is_bool");
    c.assert_bool(bits.half, "lbh.address.half_is_bool");
    c.assert_bool(bits.word, "lbh.address.word_is_bool");
    c.assert_zero(is_half * (c.constant(1) - bits.byte), "lbh.address.half_is_even");
    const AddressParts<V> parts{offset_of(c, bits) - is_half, c.local(kCell), c.local(kPage)};
    const auto key =
        address(c, "lbh.address.carry", "lbh.address.carry_out", is_real, a, imm, parts);
    access_memory(c, is_real, key, ts, c.local(kTMem), mem, mem);

    const auto top = c.local(kTop);
    const auto rest = c.local(kRest);
    take_apart(c, is_real, mem, bits, CellParts<V>{top, rest, c.local(kOther)}, "lbh.cell.parts");

    const auto is_signed = is_lb + is_lh;
    const auto sign = c.local(kSign);
    const auto result_lo = c.local(kResultLo);
    c.send(Bus::kSign16, "sign", is_signed, top * c.constant(256), sign);
    c.assert_zero((c.constant(1) - is_signed) * sign, "lbh.result.sign_unused");
    const auto value = top + is_half * (rest + top * c.constant(255));
    const auto extension = c.constant(kTwo32 - 256) - is_half * c.constant(kTwo16 - 256);
    c.assert_zero(result_lo - value - sign * extension, "lbh.result.lo");
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old,
                    Word64<V>{result_lo, sign * c.constant(kTwo32 - 1)});
  }
};

}  // namespace epochd::chips
