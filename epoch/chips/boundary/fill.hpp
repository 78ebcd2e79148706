#pragma once

#include "epoch/chips/boundary/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<BoundaryAir> {
  using Record = BoundaryRecord;

  /// Pre: r.init_epoch < label.
  template <class Row>
  EPOCHD_HD static void fill(const Record& r, u32 label, Row& row) {
    row.set(BoundaryAir::kIsReal, 1);
    row.set(BoundaryAir::kKey, r.key);
    set_word(row, BoundaryAir::kInitLo, r.init);
    row.set(BoundaryAir::kInitEpoch, r.init_epoch);
    set_word(row, BoundaryAir::kFiniLo, r.fini);
    row.set(BoundaryAir::kFiniTs, r.fini_ts);
    row.set(BoundaryAir::kGapHi, (label - 1 - r.init_epoch) >> 16);
  }
};

}  // namespace epochd::chips
