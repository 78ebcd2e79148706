// boundary_global: the boundary trace of one epoch as the global proof sees it. The columns are
// those BoundaryAir proves about, under the very same root; here each real row takes the key's
// state as an earlier epoch or its genesis left it, (key, init, init_epoch), and passes on (key,
// fini, label), the label being the verifier's constant for this epoch.
//
// The same is_real gates both proofs' buses. It is boolean by BoundaryAir already, on the same
// committed column; the constraint is repeated so that this AIR does not rest on the other.
// init_epoch < label is proved there and is what makes a key's Global tokens one path.
#pragma once

#include "epoch/chips/boundary/columns.hpp"
#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct BoundaryGlobalAir : BoundaryColumns {
  static constexpr const char* kName = "boundary_global";
  enum Param : u32 { kLabel };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 1;
  static constexpr u32 kConstraints = 1, kInteractions = 2;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto is_real = c.local(kIsReal);
    const auto key = c.local(kKey);
    c.assert_bool(is_real, "boundary_global.flag.real_is_bool");
    c.receive(Bus::kGlobal, "init", is_real, key, c.local(kInitLo), c.local(kInitHi),
              c.local(kInitEpoch));
    c.send(Bus::kGlobal, "fini", is_real, key, c.local(kFiniLo), c.local(kFiniHi), c.param(kLabel));
  }
};

}  // namespace epochd::chips
