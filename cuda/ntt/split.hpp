// How the fast kernels cut a transform of N rows into [N1][N2]; see fast.hpp.
#pragma once

#include "prover/core/types.hpp"

namespace epochd::cuda::fast {

inline constexpr u32 kLogRowsMin = 10;
inline constexpr u32 kLogRowsMax = 22;
/// Up to this the middle pass is the whole LDE.
inline constexpr u32 kLogOnePassMax = 12;

struct Split {
  u32 log_n1;
  u32 log_n2;
};
/// N1 = 1, then what one round of 8 to 32 points does, then two. (N1 = 64 and
/// 128 for 2^18 and 2^19 made the middle pass 10 % faster and the others 40 % slower.) Pre:
/// kLogRowsMin <= log_n <= kLogRowsMax.
constexpr Split split(u32 log_n) {
  constexpr u8 kLogN1[] = {0, 0, 0, 3, 4, 4, 4, 5, 8, 8, 8, 9, 10};
  const u32 log_n1 = kLogN1[log_n - kLogRowsMin];
  return {log_n1, log_n - log_n1};
}
constexpr bool two_rounds(Split s) {
  return s.log_n1 > 5;
}
/// Of two: the first is of 2^first_round_log points.
constexpr u32 first_round_log(Split s) {
  return s.log_n1 <= 8 ? 4 : 5;
}
/// The LDE's first pass takes three, of 16, 4 and 16 points: it has no registers for rounds of 32
/// and the outer twiddles. It reads those tile by tile.
constexpr bool three_rounds_first(Split s) {
  return s.log_n1 == 10;
}
inline constexpr u32 kThreeRoundsTile = 8;

}  // namespace epochd::cuda::fast

/// Above kLogRowsMax; see tall.hpp.
namespace epochd::cuda::tall {

/// N' is 2^20, the height that costs least, as long as R <= 32.
constexpr u32 log_radix(u32 log_n) {
  return log_n - 20 < 5 ? log_n - 20 : 5;
}
constexpr u32 log_inner(u32 log_n) {
  return log_n - log_radix(log_n);
}
/// Columns whose passes are launched together at blowup 2: what one does not fill, two do.
constexpr u32 columns_at_once(u32 log_n) {
  return log_n < 24 ? 2 : 1;
}
/// Words of scratch.
constexpr size_t scratch_words(u32 log_n) {
  return size_t{3 * columns_at_once(log_n)} << log_n;
}

}  // namespace epochd::cuda::tall
