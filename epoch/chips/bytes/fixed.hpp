// The fixed columns of bytes: row x + 256 y holds x, y, x & y, x | y, x ^ y.
#pragma once

#include "epoch/chips/bytes/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct FixedFill<BytesAir> {
  /// Pre: index < 2^16.
  template <class Row>
  EPOCHD_HD static void fill(u32 index, Row& row) {
    const u32 x = index & 255;
    const u32 y = index >> 8;
    row.set(BytesAir::kX, x);
    row.set(BytesAir::kY, y);
    row.set(BytesAir::kAnd, x & y);
    row.set(BytesAir::kOr, x | y);
    row.set(BytesAir::kXor, x ^ y);
  }
};

}  // namespace epochd::chips
