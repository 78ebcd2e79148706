// What the point tables take of the device's memory. Host code without CUDA.
#pragma once

#include "prover/core/types.hpp"

namespace epochd::cuda {

/// log2 of the points whose first factor is in the lower table.
inline constexpr u32 kPointsLogLow = 12;

/// Words of the two tables of 2^log_n points.
constexpr u64 point_table_words(u32 log_n) {
  const u32 log_low = log_n < kPointsLogLow ? log_n : kPointsLogLow;
  return (u64{1} << kPointsLogLow) + (u64{1} << (log_n - log_low));
}

/// Bytes of PointTables for sizes up to 2^log_n_max.
constexpr u64 point_table_bytes(u32 log_n_max) {
  u64 words = 0;
  for (u32 log_n = 0; log_n <= log_n_max; ++log_n) words += point_table_words(log_n);
  return words * sizeof(u64);
}

}  // namespace epochd::cuda
