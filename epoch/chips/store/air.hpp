// store: SD at an address divisible by 8, SW at one divisible by 4.
//
// The offset is 4 * is_high, and is_high = 0 for SD, so a misaligned address has no row here. The
// cell's new words are rs2's and the old cell's, moved, not created: all below 2^32 by their
// writers. SD: (b_lo, b_hi). SW: b_lo in the chosen word, the other word as it was. Address bounds:
// gadgets.hpp `address`.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct StoreAir {
  static constexpr const char* kName = "store";
  enum Col : u32 {
    kIsSd,
    kIsSw,
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
    kIsHigh,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 9, kInteractions = 14;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_sd = c.local(kIsSd);
    const auto is_sw = c.local(kIsSw);
    const auto is_real = is_sd + is_sw;
    const auto is_high = c.local(kIsHigh);
    c.assert_bool(is_sd, "store.flag.sd_is_bool");
    c.assert_bool(is_sw, "store.flag.sw_is_bool");
    c.assert_bool(is_real, "store.flag.one_hot");
    c.assert_bool(is_high, "store.address.high_is_bool");
    c.assert_zero(is_sd * is_high, "store.address.sd_is_aligned");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> b{c.local(kBLo), c.local(kBHi)};
    const Word64<V> imm{c.local(kImmLo), c.local(kImmHi)};
    const Word64<V> mem{c.local(kMemLo), c.local(kMemHi)};
    const Word64<V> now{c.local(kNewLo), c.local(kNewHi)};
    const Operands<V> operands{c.constant(0), c.local(kRs1), c.local(kRs2), imm.lo, imm.hi};
    step(c, is_real, pc, ts, pc + c.constant(4),
         is_sd * c.constant(code(Op::kSd)) + is_sw * c.constant(code(Op::kSw)), operands);

    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);
    const AddressParts<V> parts{is_high * c.constant(4), c.local(kCell), c.local(kPage)};
    const auto key =
        address(c, "store.address.carry", "store.address.carry_out", is_real, a, imm, parts);
    access_memory(c, is_real, key, ts, c.local(kTMem), mem, now);

    // is_high excludes is_sd, so at most one of the two terms of the high word counts.
    c.assert_zero(now.lo - b.lo - is_high * (mem.lo - b.lo), "store.cell.lo");
    c.assert_zero(now.hi - mem.hi - is_sd * (b.hi - mem.hi) - is_high * (b.lo - mem.hi),
                  "store.cell.hi");
  }
};

}  // namespace epochd::chips
