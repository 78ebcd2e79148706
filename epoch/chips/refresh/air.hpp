// refresh: no instruction; moves one token forward in time, (key, t_from, v) -> (key, t_to, v), so
// that an access whose previous token is 2^16 or more ticks old has a near one to take.
//
// t_from < t_to: t_to - t_from - 1 = g0 + 2^16 * gap_hi, both limbs range-checked, g0 virtual; the
// difference is in [0, 2^32). Nothing bounds t_to itself, and nothing needs to: along a key's path
// each access adds at most 2^16 and each refresh at most 2^32, and an epoch has below 2^27 refresh
// rows and below 2^31 accesses, so times stay below 2^60 < p and only grow. No path closes on
// itself; one that passes the accesses it should serve never comes back to them, and the Memory bus
// stays unbalanced. The value and the key are those of a token that exists.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct RefreshAir {
  static constexpr const char* kName = "refresh";
  enum Col : u32 { kIsReal, kKey, kTFrom, kTTo, kGapHi, kLo, kHi, kWidth };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 1, kInteractions = 4;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto is_real = c.local(kIsReal);
    const auto key = c.local(kKey);
    const auto t_from = c.local(kTFrom);
    const auto t_to = c.local(kTTo);
    c.assert_bool(is_real, "refresh.flag.real_is_bool");
    c.receive(Bus::kMemory, "take", is_real, key, t_from, c.local(kLo), c.local(kHi));
    c.send(Bus::kMemory, "pass", is_real, key, t_to, c.local(kLo), c.local(kHi));
    range_check_gap(c, "gap", is_real, t_to - t_from - c.constant(1), c.local(kGapHi));
  }
};

}  // namespace epochd::chips
