// The fixed columns of range16: row x holds x, msb(x), x >> 3, x & 7.
#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/range16/air.hpp"

namespace epochd::chips {

template <>
struct FixedFill<Range16Air> {
  /// Pre: x < 2^16.
  template <class Row>
  EPOCHD_HD static void fill(u32 x, Row& row) {
    row.set(Range16Air::kX, x);
    row.set(Range16Air::kMsb, x >> 15);
    row.set(Range16Air::kShifted, x >> 3);
    row.set(Range16Air::kOffset, x & 7);
  }
};

}  // namespace epochd::chips
