#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/refresh/air.hpp"

namespace epochd::chips {

template <>
struct Fill<RefreshAir> {
  using Record = RefreshRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow*, Row& row) {
    row.set(RefreshAir::kIsReal, 1);
    row.set(RefreshAir::kKey, r.key);
    row.set(RefreshAir::kTFrom, r.t_from);
    row.set(RefreshAir::kTTo, r.t_to);
    row.set(RefreshAir::kGapHi, (r.t_to - r.t_from - 1) >> 16);
    set_word(row, RefreshAir::kLo, r.value);
  }
};

}  // namespace epochd::chips
