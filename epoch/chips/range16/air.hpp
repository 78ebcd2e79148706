// range16: the table that 16-bit range checks, sign bits and address splits are looked up in.
//
// Row x, for x = 0 .. 2^16 - 1, is fixed: x, its top bit, x >> 3 and x & 7. Three multiplicities
// say how often the row is looked up as Range16 (x), Sign16 (x, msb) and Align (x >> 3, x & 7).
// They are the prover's and free: LogUp sums them as weights of tuples that are right by
// construction, so a wrong count unbalances the bus and nothing else.
//
// No constraints: every cell a meaning hangs on is fixed, its root computed by the verifier.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct Range16Air {
  static constexpr const char* kName = "range16";
  enum FixedCol : u32 { kX, kMsb, kShifted, kOffset, kFixedCount };
  enum Col : u32 { kRangeCount, kSignCount, kAlignCount, kWidth };
  static constexpr u32 kFixedWidth = kFixedCount, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 0, kInteractions = 3;
  static constexpr u32 kLog2Height = 16;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto x = c.fixed(kX);
    c.receive(Bus::kRange16, "range", c.local(kRangeCount), x);
    c.receive(Bus::kSign16, "sign", c.local(kSignCount), x, c.fixed(kMsb));
    c.receive(Bus::kAlign, "align", c.local(kAlignCount), c.fixed(kShifted), c.fixed(kOffset));
  }
};

}  // namespace epochd::chips
