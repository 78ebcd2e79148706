// bitwise: AND, OR, XOR and their immediate forms. rd = a op b, where a = rs1 and b = rs2 + imm,
// one of which is 0.
//
// a, b and the result z are bytes here; eight Bytes lookups say z_i = a_i op b_i and that all three
// are bytes. The op field is and + 2 or + 3 xor: never the range op, since the flags are one-hot on
// a real row. Words are linear in bytes: a 32-bit word of four bytes lies in [0, 2^32), as does the
// word its token carries, so the split is unique. The bytes of b are those of rs2 + imm: the rs2
// token carries that word less the immediate's, and since one of the two is 0 the sum is below
// 2^32 and its bytes are unique.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct BitwiseAir {
  static constexpr const char* kName = "bitwise";
  enum Col : u32 {
    kIsAnd,
    kIsOr,
    kIsXor,
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
    kOldLo,
    kOldHi,
    kA0,
    kB0 = kA0 + 8,
    kZ0 = kB0 + 8,
    kWidth = kZ0 + 8,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 4, kInteractions = 20;

  /// The word of the four bytes from column `first` on.
  template <class C>
  EPOCHD_HD static constexpr auto word(C& c, u32 first) {
    return c.local(first) + c.local(first + 1) * c.constant(1u << 8) +
           c.local(first + 2) * c.constant(1u << 16) + c.local(first + 3) * c.constant(1u << 24);
  }

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_and = c.local(kIsAnd);
    const auto is_or = c.local(kIsOr);
    const auto is_xor = c.local(kIsXor);
    const auto is_real = is_and + is_or + is_xor;
    c.assert_bool(is_and, "bitwise.flag.and_is_bool");
    c.assert_bool(is_or, "bitwise.flag.or_is_bool");
    c.assert_bool(is_xor, "bitwise.flag.xor_is_bool");
    c.assert_bool(is_real, "bitwise.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), c.local(kImmLo),
                               c.local(kImmHi)};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_and * c.constant(code(Op::kAnd)) + is_or * c.constant(code(Op::kOr)) +
             is_xor * c.constant(code(Op::kXor)),
         operands);

    const Word64<V> a{word(c, kA0), word(c, kA0 + 4)};
    const Word64<V> rs2{word(c, kB0) - operands.imm_lo, word(c, kB0 + 4) - operands.imm_hi};
    const Word64<V> z{word(c, kZ0), word(c, kZ0 + 4)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), rs2);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, z);

    const auto op = is_and * c.constant(static_cast<u64>(ByteOp::kAnd)) +
                    is_or * c.constant(static_cast<u64>(ByteOp::kOr)) +
                    is_xor * c.constant(static_cast<u64>(ByteOp::kXor));
    for (u32 i = 0; i < 8; ++i) {
      c.send(Bus::kBytes, "byte", is_real, op, c.local(kA0 + i), c.local(kB0 + i),
             c.local(kZ0 + i));
    }
  }
};

}  // namespace epochd::chips
