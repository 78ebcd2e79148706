// Where the rows of one height are: several column-major matrices side by side.
#pragma once

#include "prover/core/assert.hpp"
#include "prover/core/types.hpp"

namespace epochd::cuda {

/// `width` columns; column c starts at base + c * stride.
struct RowSegment {
  const u64* base;
  u32 stride;  ///< in words
  u32 width;
};

inline constexpr u32 kRowSegmentsMax = 64;
inline constexpr u32 kDeviceRowWidthMax = 6144;

/// A row is the entries of all columns of all segments at one index, in order. Held by value, so
/// that it travels as a kernel parameter.
struct RowSource {
  RowSegment segments[kRowSegmentsMax];
  u32 segment_count = 0;
  u32 width = 0;

  /// Pre: at most kRowSegmentsMax segments and kDeviceRowWidthMax columns in all.
  void add(const u64* base, u32 stride, u32 columns) {
    if (columns == 0) return;
    EPOCHD_ASSERT(segment_count < kRowSegmentsMax);
    EPOCHD_ASSERT(width + columns <= kDeviceRowWidthMax);
    segments[segment_count++] = {base, stride, columns};
    width += columns;
  }
};

}  // namespace epochd::cuda
