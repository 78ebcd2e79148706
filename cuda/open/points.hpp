// Points of bit-reversed domains by one multiplication: g^bitrev(i) = low[i mod 2^12] * high[i /
// 2^12].
//
// Bit j of i contributes g^(2^(n-1-j)), so the power splits by bits. Tables are built once for a
// size and kept.
#pragma once

#include <map>

#include "cuda/rt/memory.hpp"
#include "prover/field/fp.hpp"

namespace epochd::cuda {

/// A kernel parameter.
struct DevicePoints {
  static constexpr u32 kLogLow = 12;
  const prover::Fp* low;
  const prover::Fp* high;

  EPOCHD_HD_INLINE prover::Fp at(size_t i) const {
    return low[i & ((size_t{1} << kLogLow) - 1)] * high[i >> kLogLow];
  }
};

/// shift * g_n^bitrev(i) for every n asked for. Threads: one at a time.
class PointTables {
 public:
  explicit PointTables(prover::Fp shift, bool inverse) : shift_(shift), inverse_(inverse) {}
  /// i < 2^log_n -> shift * g^bitrev(i), or with g inverted. First use of a size allocates and
  /// copies.
  DevicePoints get(u32 log_n);

 private:
  prover::Fp shift_;
  bool inverse_;
  std::map<u32, DeviceBlock> blocks_;
};

}  // namespace epochd::cuda
