// ld: LD at an address divisible by 8. rd = the cell.
//
// The offset within the cell is the constant 0, so a misaligned address has no row here (chip
// `unaligned` has them). The value is moved, not created: the cell's words were range-checked by
// whoever wrote them, or are the image's or an anchor's. Address bounds: gadgets.hpp `address`.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct LdAir {
  static constexpr const char* kName = "ld";
  enum Col : u32 {
    kIsReal,
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
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 3, kInteractions = 14;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_real = c.local(kIsReal);
    c.assert_bool(is_real, "ld.flag.real_is_bool");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const auto zero = c.constant(0);
    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> imm{c.local(kImmLo), c.local(kImmHi)};
    const Word64<V> mem{c.local(kMemLo), c.local(kMemHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Operands<V> operands{c.local(kRd), c.local(kRs1), zero, imm.lo, imm.hi};
    step(c, is_real, pc, ts, pc + c.constant(4), is_real * c.constant(code(Op::kLd)), operands);

    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    const auto key = address(c, "ld.address.carry", "ld.address.carry_out", is_real, a, imm,
                             AddressParts<V>{zero, c.local(kCell), c.local(kPage)});
    access_memory(c, is_real, key, ts, c.local(kTMem), mem, mem);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, mem);
  }
};

}  // namespace epochd::chips
