// jalr: JALR. next pc = (rs1 + imm) & ~1, rd = pc + 4.
//
// The sum mod 2^64 is taken apart like an address (gadgets.hpp `address`, bounds there): bit0 +
// 4 bit2 + 8 cell + 2^16 page, high word 0. The target is the same without bit0, so bit 0 is
// dropped and nothing else: bit0 and bit2 are boolean, the parts above are range-checked. A sum
// with bit 1 set has no row here: the target would lie between instructions, where every run
// faults.
//
// The link is as in jal: pc + 4 < 2^32 because programs lie below 0xC000'0000.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct JalrAir {
  static constexpr const char* kName = "jalr";
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
    kBit0,
    kBit2,
    kCell,
    kPage,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 5, kInteractions = 11;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_real = c.local(kIsReal);
    const auto bit0 = c.local(kBit0);
    const auto bit2 = c.local(kBit2);
    c.assert_bool(is_real, "jalr.flag.real_is_bool");
    c.assert_bool(bit0, "jalr.target.bit0_is_bool");
    c.assert_bool(bit2, "jalr.target.bit2_is_bool");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> imm{c.local(kImmLo), c.local(kImmHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const AddressParts<V> parts{bit0 + bit2 * c.constant(4), c.local(kCell), c.local(kPage)};
    const auto target = bit2 * c.constant(4) + pack16(c, parts.cell * c.constant(8), parts.page);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.constant(0), imm.lo, imm.hi};
    step(c, is_real, pc, ts, target, is_real * c.constant(code(Op::kJalr)), operands);

    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    address(c, "jalr.target.carry", "jalr.target.carry_out", is_real, a, imm, parts);
    const Word64<V> link{pc + c.constant(4), c.constant(0)};
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, link);
  }
};

}  // namespace epochd::chips
