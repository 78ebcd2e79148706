#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/image/air.hpp"

namespace epochd::chips {

/// Writes the main columns of an image cell's row; the fixed ones are FixedFill's.
template <>
struct Fill<ImageAir> {
  /// `previous_key` is the one before `key` in region 0, plain anchors included, or the chain
  /// start. Pre: previous_key < key. An untouched cell has fini = its image value, fini_epoch = 0.
  template <class Row>
  EPOCHD_HD static void fill(u64 fini, u32 fini_epoch, u64 key, u64 previous_key, Row& row) {
    const u64 gap = key - previous_key - 1;
    row.set(ImageAir::kGapLo, limb16(gap, 0));
    row.set(ImageAir::kGapHi, limb16(gap, 1));
    set_word(row, ImageAir::kFiniLo, fini);
    row.set(ImageAir::kFiniEpoch, fini_epoch);
  }
};

}  // namespace epochd::chips
