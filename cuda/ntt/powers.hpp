// The small table every transform can use, whatever its height: powers of roots of unity and of the
// coset shift, each as low and high digits of the exponent in base 2^kLogPowers.
#pragma once

#include <vector>

#include "prover/core/types.hpp"

namespace epochd::cuda {

inline constexpr u32 kLogPowers = 14;
inline constexpr u32 kPowerCount = 1u << kLogPowers;

/// Where the parts are, in words. Roots are of order 2^(2 * kLogPowers).
inline constexpr u32 kRootLowAt = 0;
inline constexpr u32 kRootHighAt = kPowerCount;
inline constexpr u32 kShiftAt = 2 * kPowerCount;
inline constexpr u32 kInverseShiftAt = 4 * kPowerCount;
inline constexpr u32 kPowersWords = 6 * kPowerCount;

/// The table's contents.
std::vector<u64> make_powers();

}  // namespace epochd::cuda
