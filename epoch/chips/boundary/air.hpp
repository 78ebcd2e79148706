// boundary, in the epoch proof: one row per key the epoch touched. It starts the key's chain of
// tokens with (key, 0, init) and takes the last one, (key, fini_ts, fini).
//
// The row also proves init_epoch < label, the epoch's own label being a parameter (the verifier's
// constant): label - 1 - init_epoch = g0 + 2^16 * gap_hi, both limbs range-checked, g0 virtual. The
// right side is below 2^32, and the left, for a token that exists, is an integer in (-2^31, 2^31):
// every Global token carries epoch 0 or the label of an epoch, below 2^31. Their difference is
// below p, so the equation holds over the integers and init_epoch <= label - 1.
//
// The values are not range-checked: init is a token of the Global bus, created by an anchor or an
// image cell (range-checked, fixed) or by an earlier epoch's writer; fini is a token of this epoch.
// Two rows of one key are harmless here and impossible in a run: the key has one genesis, strictly
// increasing labels along its path, and both rows would carry this label (docs/machine.md section
// 7). fini_ts needs no bound for the same reason as in refresh: times along a key's path only grow.
#pragma once

#include "epoch/chips/boundary/columns.hpp"
#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct BoundaryAir : BoundaryColumns {
  static constexpr const char* kName = "boundary";
  enum Param : u32 { kLabel };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 1;
  static constexpr u32 kConstraints = 1, kInteractions = 4;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto is_real = c.local(kIsReal);
    const auto key = c.local(kKey);
    c.assert_bool(is_real, "boundary.flag.real_is_bool");
    c.send(Bus::kMemory, "init", is_real, key, c.constant(0), c.local(kInitLo), c.local(kInitHi));
    c.receive(Bus::kMemory, "fini", is_real, key, c.local(kFiniTs), c.local(kFiniLo),
              c.local(kFiniHi));
    range_check_gap(c, "epoch_gap", is_real, c.param(kLabel) - c.constant(1) - c.local(kInitEpoch),
                    c.local(kGapHi));
  }
};

}  // namespace epochd::chips
