// Transforms for every height, from shared-memory steps and the table of powers.hpp alone. The fast
// kernels replace them at the heights that matter; these are what is left and what they are checked
// against.
#pragma once

#include <cuda_runtime_api.h>

#include "prover/core/types.hpp"

namespace epochd::cuda::generic {

/// Up to this a column is transformed inside one block.
inline constexpr u32 kLogSmallMax = 12;

/// A column of 2^log_n = N1 * N2 values as a matrix [N1][N2].
struct Split {
  u32 log_n1;
  u32 log_n2;
};
constexpr Split split(u32 log_n) {
  const u32 log_n2 = log_n <= 24 ? 12 : (log_n + 1) / 2;
  return {log_n - log_n2, log_n2};
}

/// To be called once per device: they let the kernels use the shared memory they need.
void prepare_lde();
void prepare_single();

/// coset_lde for log_n <= kLogSmallMax.
void lde_small(const u64* powers, const u64* in, u64* out, u32 columns, u32 log_n, u32 log_blowup,
               cudaStream_t stream);

/// Where the intermediate values of columns taken together are: x holds one column's N words every
/// x_stride words, w 2 N words a column, back to back.
struct Work {
  u64* x;
  size_t x_stride;
  u64* w;
};
/// The passes of coset_lde above kLogSmallMax: first once, then middle and last for each pair of
/// blocks of 7 H' (blocks 2 pair and 2 pair + 1).
void lde_first(const u64* powers, const u64* in, const Work& work, u32 columns, u32 log_n,
               cudaStream_t stream);
void lde_middle(const u64* powers, const Work& work, u32 columns, u32 log_n, u32 log_blowup,
                u32 pair, cudaStream_t stream);
void lde_last(const u64* powers, const Work& work, u64* out, u32 columns, u32 log_n, u32 log_blowup,
              u32 pair, cudaStream_t stream);

void from_coefficients(const u64* powers, const u64* in, u64* out, u32 columns, u32 log_n,
                       u32 log_blowup, cudaStream_t stream);
void interpolate(const u64* powers, u64* columns_in_out, u32 columns, u32 log_m,
                 cudaStream_t stream);

}  // namespace epochd::cuda::generic
