// Points of bit-reversed domains by one multiplication: g^bitrev(i) = low[i mod 2^12] * high[i /
// 2^12].
//
// Bit j of i contributes g^(2^(n-1-j)), so the power splits by bits.
#pragma once

#include <vector>

#include "cuda/open/point_sizes.hpp"
#include "cuda/rt/memory.hpp"
#include "prover/field/fp.hpp"

namespace epochd::cuda {

/// A kernel parameter.
struct DevicePoints {
  static constexpr u32 kLogLow = kPointsLogLow;
  const prover::Fp* low;
  const prover::Fp* high;

  EPOCHD_HD_INLINE prover::Fp at(size_t i) const {
    return low[i & ((size_t{1} << kLogLow) - 1)] * high[i >> kLogLow];
  }
};

/// shift * g_n^bitrev(i) for every n up to a largest. Threads: safe to share once constructed.
class PointTables {
 public:
  /// i < 2^log_n -> shift * g^bitrev(i), or with g inverted, for log_n <= log_n_max. Allocates
  /// point_table_bytes(log_n_max) and waits for the device.
  PointTables(prover::Fp shift, bool inverse, u32 log_n_max);
  /// Pre: log_n <= log_n_max.
  DevicePoints get(u32 log_n) const;

 private:
  DeviceBlock block_;
  std::vector<size_t> first_;  ///< by log_n: word of its tables
};

}  // namespace epochd::cuda
