// Constants prepared for long sums of products (the packs' Sum): x c = x0 c + x1 (2^22 c) + x2
// (2^44 c) with x cut into pieces of 22 bits, and each of the three constants cut into halves of 32
// bits. Every partial product is below 2^54, so 64-bit lanes add up many of them before one
// reduction.
#pragma once

#include "prover/field/fp3.hpp"

namespace epochd::prover {

struct SplitFactor {
  Fp value;
  u32 low[3];
  u32 high[3];

  SplitFactor() = default;
  EPOCHD_HD_INLINE explicit SplitFactor(Fp c) : value(c) {
    for (u32 i = 0; i < 3; ++i) {
      low[i] = static_cast<u32>(c.value());
      high[i] = static_cast<u32>(c.value() >> 32);
      c *= Fp::from_canonical(u64{1} << 22);
    }
  }
};

/// Of an element of K, by component.
struct SplitFactor3 {
  SplitFactor c0, c1, c2;

  SplitFactor3() = default;
  EPOCHD_HD_INLINE explicit SplitFactor3(const Fp3& v) : c0(v.c0), c1(v.c1), c2(v.c2) {}
};

/// Products that a Sum takes before its value must be read: 3 * 2^54 * 128 < 2^63.
constexpr u32 kSumTermsMax = 128;

}  // namespace epochd::prover
