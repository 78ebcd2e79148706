#pragma once

#include "epoch/chips/anchor/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<AnchorAir> {
  using Record = AnchorRecord;

  /// `previous_key` is the one before r.key in its region, image cells included, or the region's
  /// chain start. Pre: previous_key < r.key.
  template <class Row>
  EPOCHD_HD static void fill(const Record& r, u64 previous_key, Row& row) {
    const u64 gap = r.key - previous_key - 1;
    const bool is_reg = r.key >= kRegBase;
    row.set(AnchorAir::kIsReal, 1);
    row.set(AnchorAir::kIsInput, !is_reg && r.key >= kInputFirstCell ? 1 : 0);
    row.set(AnchorAir::kIsReg, is_reg ? 1 : 0);
    row.set(AnchorAir::kKey, r.key);
    row.set(AnchorAir::kGapLo, limb16(gap, 0));
    row.set(AnchorAir::kGapHi, limb16(gap, 1));
    set_limbs(row, AnchorAir::kInit0, r.init);
    set_word(row, AnchorAir::kFiniLo, r.fini);
    row.set(AnchorAir::kFiniEpoch, r.fini_epoch);
  }
};

}  // namespace epochd::chips
