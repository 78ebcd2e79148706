// image: every cell with a file-backed byte, as the ELF fixes it; the anchor of those cells in
// every run, touched or not (untouched: fini = init, fini_epoch = 0).
//
// real, key and init are fixed, so a cell's genesis is the file's, and a row counts once or not at
// all by the verifier's own column. Each real row sends Global (key, init, 0), takes (key, fini,
// fini_epoch), and stands in the chain of region 0 together with the plain anchors (see anchor for
// the chain, its bounds and the virtual previous key).
//
// No constraints: the only flag is fixed; gap limbs are range-checked by lookup; fini and
// fini_epoch are tied by the Global bus.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct ImageAir {
  static constexpr const char* kName = "image";
  enum FixedCol : u32 { kReal, kKey, kInitLo, kInitHi, kFixedCount };
  enum Col : u32 { kGapLo, kGapHi, kFiniLo, kFiniHi, kFiniEpoch, kWidth };
  static constexpr u32 kFixedWidth = kFixedCount, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 0, kInteractions = 6;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto real = c.fixed(kReal);
    const auto key = c.fixed(kKey);
    c.send(Bus::kGlobal, "genesis", real, key, c.fixed(kInitLo), c.fixed(kInitHi), c.constant(0));
    c.receive(Bus::kGlobal, "end", real, key, c.local(kFiniLo), c.local(kFiniHi),
              c.local(kFiniEpoch));
    order(c, real, c.constant(0), key, c.local(kGapLo), c.local(kGapHi));
  }
};

}  // namespace epochd::chips
