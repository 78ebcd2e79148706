// unaligned: LD LW LWU LH LHU SD SW SH at an address not divisible by the width, in one cell or
// two.
//
// The memory words of the cell and its successor are m0..m3. With the offset 4 word_bit + s, s one-
// hot, the access starts in x0 = m[word_bit] and lies in x0, x1, x2, whose twelve bytes y0..y11 are
// range-checked, so they are the words' own (both sides integers below 2^32). v0..v7, range-checked
// too, are the bytes of the register's value: rs2 of a store, rd's new value of a load.
//
// One rule serves both directions: writing the first `width` bytes of v over y at s changes x_j by
//   d_j = sum over s, i of (s is the shift)(i < width) 2^(8(s+i-4j)) (v_i - y_(s+i)), 0 <= s+i-4j
//   < 4.
// A store's new words are the old ones plus d, made of checked bytes again. A load is a write that
// changes nothing: d = 0, |d_j| < 2^32, so v_i = y_(s+i) byte by byte. Above the width a load's v
// is its sign: for LH (2^16 - 1) sign in v2, v3, and (2^32 - 1) sign in the high word for LH and
// LW; the sign is top's highest bit, Sign16 (256 top, sign), top being v1 or v3, a checked byte.
// LHU and LWU hold sign at 0. A store's v is rs2: old value = new value.
//
// One register access stands for both: Program has rd = 0 for stores and rs2 = 0 for loads, so the
// key is REG_BASE + rd + rs2, at sub-step rs2 or rd by the flags.
//
// The second cell is touched exactly if the access reaches it (`two`, tied to the flags by
// constraint); otherwise its columns are 0. Its key is the first one's plus 1: at most 2^29, a key
// that no anchor can have, so an access past 2^32 finds no token, and no register key is in reach.
// Aligned accesses are excluded by constraint: their codes belong to ld, lw, lbh and the stores
// too. Address bounds: gadgets.hpp `address`.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct UnalignedAir {
  static constexpr const char* kName = "unaligned";
  enum Col : u32 {
    kIsLd,
    kIsLw,
    kIsLwu,
    kIsLh,
    kIsLhu,
    kIsSd,
    kIsSw,
    kIsSh,
    kPc,
    kTs,
    kRd,
    kRs1,
    kRs2,
    kImmLo,
    kImmHi,
    kTRs1,
    kTReg,  ///< of rs2 for a store, of rd for a load
    kTMem,
    kTMem2,
    kALo,
    kAHi,
    kOldLo,
    kOldHi,
    kMem0,              ///< m0..m3: two cells before
    kNew0 = kMem0 + 4,  ///< and after
    kCell = kNew0 + 4,
    kPage,
    kShift1,  ///< s = 1, 2, 3; s = 0 is the rest of is_real
    kShift2,
    kShift3,
    kWordBit,
    kTwo,
    kY0,
    kV0 = kY0 + 12,
    kD0 = kV0 + 8,
    kTop = kD0 + 3,
    kSign,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 42, kInteractions = 28;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    assert_flags(c);
    const Flags<typename C::Value> f(c);
    assert_place(c, f);
    assert_bytes(c, f);
    assert_register(c, f);
    touch_buses(c, f);
  }

 private:
  /// Sums of the opcode flags, and the one-hot shift.
  template <class V>
  struct Flags {
    V width2, width4, width8, store, load, real, shift0, shift1, shift2, shift3, word;

    template <class C>
    EPOCHD_HD constexpr explicit Flags(const C& c)
        : width2(c.local(kIsLh) + c.local(kIsLhu) + c.local(kIsSh)),
          width4(c.local(kIsLw) + c.local(kIsLwu) + c.local(kIsSw)),
          width8(c.local(kIsLd) + c.local(kIsSd)),
          store(c.local(kIsSd) + c.local(kIsSw) + c.local(kIsSh)),
          load(width2 + width4 + width8 - store),
          real(load + store),
          shift0(real - c.local(kShift1) - c.local(kShift2) - c.local(kShift3)),
          shift1(c.local(kShift1)),
          shift2(c.local(kShift2)),
          shift3(c.local(kShift3)),
          word(c.local(kWordBit)) {}

    EPOCHD_HD constexpr const V& shift(u32 s) const {
      return s == 0 ? shift0 : s == 1 ? shift1 : s == 2 ? shift2 : shift3;
    }
  };

  /// first + 2^8 next + 2^16 .. of four byte columns.
  template <class C>
  EPOCHD_HD static constexpr auto pack_bytes(const C& c, u32 first) {
    return c.local(first) + c.local(first + 1) * c.constant(1u << 8) +
           c.local(first + 2) * c.constant(1u << 16) + c.local(first + 3) * c.constant(1u << 24);
  }

  template <class C>
  EPOCHD_HD static constexpr void assert_flags(C& c) {
    const Flags<typename C::Value> f(c);
    c.assert_bool(c.local(kIsLd), "unaligned.flag.ld_is_bool");
    c.assert_bool(c.local(kIsLw), "unaligned.flag.lw_is_bool");
    c.assert_bool(c.local(kIsLwu), "unaligned.flag.lwu_is_bool");
    c.assert_bool(c.local(kIsLh), "unaligned.flag.lh_is_bool");
    c.assert_bool(c.local(kIsLhu), "unaligned.flag.lhu_is_bool");
    c.assert_bool(c.local(kIsSd), "unaligned.flag.sd_is_bool");
    c.assert_bool(c.local(kIsSw), "unaligned.flag.sw_is_bool");
    c.assert_bool(c.local(kIsSh), "unaligned.flag.sh_is_bool");
    c.assert_bool(f.real, "unaligned.flag.one_hot");
    c.assert_bool(f.shift0, "unaligned.address.shift0_is_bool");
    c.assert_bool(f.shift1, "unaligned.address.shift1_is_bool");
    c.assert_bool(f.shift2, "unaligned.address.shift2_is_bool");
    c.assert_bool(f.shift3, "unaligned.address.shift3_is_bool");
    c.assert_bool(f.word, "unaligned.address.word_is_bool");
  }

  /// Misaligned accesses only, and the second cell where it is reached.
  template <class C, class V>
  EPOCHD_HD static constexpr void assert_place(C& c, const Flags<V>& f) {
    const auto one = c.constant(1);
    c.assert_zero(f.width8 * f.shift0 * (one - f.word), "unaligned.address.not_8_aligned");
    c.assert_zero(f.width4 * f.shift0, "unaligned.address.not_4_aligned");
    c.assert_zero(f.width2 * (f.shift0 + f.shift2), "unaligned.address.not_2_aligned");
    const auto two = c.local(kTwo);
    c.assert_zero(two - f.width8 - f.word * (f.width4 + f.width2 * f.shift3),
                  "unaligned.second.reached");
    c.assert_zero((one - two) * c.local(kMem0 + 2), "unaligned.second.lo_unused");
    c.assert_zero((one - two) * c.local(kMem0 + 3), "unaligned.second.hi_unused");
    c.assert_zero((one - two) * c.local(kTMem2), "unaligned.second.time_unused");
  }

  /// What writing byte i of v at shift s does to x_j, summed over the pairs that reach it.
  template <class C, class V>
  EPOCHD_HD static constexpr V word_change(const C& c, const Flags<V>& f, u32 j) {
    V sum = c.constant(0);
    for (u32 s = 0; s < 4; ++s) {
      V at_shift = c.constant(0);
      for (u32 byte = 4 * j; byte < 4 * j + 4; ++byte) {
        const u32 i = byte - s;  // wraps above 7 where v has no such byte
        if (i > 7) continue;
        const V weight = c.constant(1ull << (8 * (byte - 4 * j)));
        const V change = (c.local(kV0 + i) - c.local(kY0 + byte)) * weight;
        at_shift = at_shift + (i < 2   ? change
                               : i < 4 ? change * (f.width4 + f.width8)
                                       : change * f.width8);
      }
      sum = sum + at_shift * f.shift(s);
    }
    return sum;
  }

  template <class C, class V>
  EPOCHD_HD static constexpr void assert_word(C& c, const Flags<V>& f, u32 j, const char* parts,
                                              const char* change, const char* load) {
    const V near = c.local(kMem0 + j);
    const V far = c.local(kMem0 + j + 1);
    const V d = c.local(kD0 + j);
    c.assert_zero(near + f.word * (far - near) - pack_bytes(c, kY0 + 4 * j), parts);
    c.assert_zero(d - word_change(c, f, j), change);
    c.assert_zero(f.load * d, load);
  }

  template <class C, class V>
  EPOCHD_HD static constexpr void assert_bytes(C& c, const Flags<V>& f) {
    assert_word(c, f, 0, "unaligned.x0.parts", "unaligned.x0.change", "unaligned.x0.load");
    assert_word(c, f, 1, "unaligned.x1.parts", "unaligned.x1.change", "unaligned.x1.load");
    assert_word(c, f, 2, "unaligned.x2.parts", "unaligned.x2.change", "unaligned.x2.load");
    // m_k is x_k, or x_(k-1) past the word bit.
    const V stay = c.constant(1) - f.word;
    const V d0 = c.local(kD0);
    const V d1 = c.local(kD0 + 1);
    const V d2 = c.local(kD0 + 2);
    c.assert_zero(c.local(kNew0) - c.local(kMem0) - stay * d0, "unaligned.new.m0");
    c.assert_zero(c.local(kNew0 + 1) - c.local(kMem0 + 1) - stay * d1 - f.word * d0,
                  "unaligned.new.m1");
    c.assert_zero(c.local(kNew0 + 2) - c.local(kMem0 + 2) - stay * d2 - f.word * d1,
                  "unaligned.new.m2");
    c.assert_zero(c.local(kNew0 + 3) - c.local(kMem0 + 3) - f.word * d2, "unaligned.new.m3");
  }

  template <class C, class V>
  EPOCHD_HD static constexpr void assert_register(C& c, const Flags<V>& f) {
    const V lo = pack_bytes(c, kV0);
    const V hi = pack_bytes(c, kV0 + 4);
    c.assert_zero(f.store * (c.local(kOldLo) - lo), "unaligned.store.value_lo");
    c.assert_zero(f.store * (c.local(kOldHi) - hi), "unaligned.store.value_hi");

    const V is_lh = c.local(kIsLh);
    const V is_lw = c.local(kIsLw);
    const V top = c.local(kTop);
    const V sign = c.local(kSign);
    const V upper_half = c.local(kV0 + 2) + c.local(kV0 + 3) * c.constant(256);
    c.assert_zero((is_lh + c.local(kIsLhu)) * (upper_half - sign * c.constant(kTwo16 - 1)),
                  "unaligned.load.extend_half");
    c.assert_zero((f.load - c.local(kIsLd)) * (hi - sign * c.constant(kTwo32 - 1)),
                  "unaligned.load.extend_word");
    c.assert_zero(top - is_lh * c.local(kV0 + 1) - is_lw * c.local(kV0 + 3), "unaligned.load.top");
    c.assert_zero((c.constant(1) - is_lh - is_lw) * sign, "unaligned.load.sign_unused");
    c.send(Bus::kSign16, "sign", is_lh + is_lw, top * c.constant(256), sign);
  }

  template <class C, class V>
  EPOCHD_HD static constexpr void touch_buses(C& c, const Flags<V>& f) {
    const V pc = c.local(kPc);
    const V ts = c.local(kTs);
    const Word64<V> imm{c.local(kImmLo), c.local(kImmHi)};
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), imm.lo, imm.hi};
    const V opcode =
        c.local(kIsLd) * c.constant(code(Op::kLd)) + c.local(kIsLw) * c.constant(code(Op::kLw)) +
        c.local(kIsLwu) * c.constant(code(Op::kLwu)) + c.local(kIsLh) * c.constant(code(Op::kLh)) +
        c.local(kIsLhu) * c.constant(code(Op::kLhu)) + c.local(kIsSd) * c.constant(code(Op::kSd)) +
        c.local(kIsSw) * c.constant(code(Op::kSw)) + c.local(kIsSh) * c.constant(code(Op::kSh));
    step(c, f.real, pc, ts, pc + c.constant(4), opcode, operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    read_register(c, "rs1", f.real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    const AddressParts<V> parts{
        f.shift1 + f.shift2 * c.constant(2) + f.shift3 * c.constant(3) + f.word * c.constant(4),
        c.local(kCell), c.local(kPage)};
    const V key =
        address(c, "unaligned.address.carry", "unaligned.address.carry_out", f.real, a, imm, parts);
    access_memory(c, f.real, key, ts, c.local(kTMem), Word64<V>{c.local(kMem0), c.local(kMem0 + 1)},
                  Word64<V>{c.local(kNew0), c.local(kNew0 + 1)});
    access_memory(c, c.local(kTwo), key + c.constant(1), ts, c.local(kTMem2),
                  Word64<V>{c.local(kMem0 + 2), c.local(kMem0 + 3)},
                  Word64<V>{c.local(kNew0 + 2), c.local(kNew0 + 3)});

    const V reg_time = ts + f.store * c.constant(kSubRs2) + f.load * c.constant(kSubRd);
    access(c, "register", f.real, operands.rd + operands.rs2 + c.constant(kRegBase), reg_time,
           c.local(kTReg), Word64<V>{c.local(kOldLo), c.local(kOldHi)},
           Word64<V>{pack_bytes(c, kV0), pack_bytes(c, kV0 + 4)});

    const V range = c.constant(static_cast<u64>(ByteOp::kRange));
    for (u32 i = 0; i < 20; i += 2) {
      c.send(Bus::kBytes, i < 12 ? "memory.bytes" : "register.bytes", f.real, range,
             c.local(kY0 + i), c.local(kY0 + i + 1), c.constant(0));
    }
  }
};

}  // namespace epochd::chips
