// The LDE with all inner transforms in registers, for heights that have tables. Three passes, or
// one up to 2^12 rows:
//   first    a[n1][n2]    -> X[k1][n2]     inverse N1-point transforms down columns,
//                                          times w^(-n2 k1) 7^k1 / N
//   middle   X[k1][n2]    -> W[b][k1][j2]  inverse along the row (k2 stays in registers), then for
//                                          each coset b of a pair, forward, times its twiddle
//   last     W[b][k1][j2] -> out[b N + bitrev(j2) N1 + bitrev(j1)]   forward down columns,
//                                          transposed while stored
// with n = N2 n1 + n2, k = k1 + N1 k2, j = j2 + N2 j1. The two cosets of a pair are s <w> and
// s w_2N <w>; pair 0 has s = 7, pair 1 (blowup 4 only) s = 7 w_4N.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/ntt/split.hpp"
#include "cuda/rt/memory.hpp"
#include "prover/core/types.hpp"
#include "prover/field/fp.hpp"

namespace epochd::cuda {

/// Device pointers, twiddles canonical. N1 = R1 R2 in the column passes, C = N2 / 256.
struct LdeTwiddles {
  const u64* column_inverse;   ///< [R1 ka][R2 nb]    w_N1^(-ka nb); three rounds: R1 = 16
  const u64* column_forward;   ///< [R1 ka][R2 nb]    w_N1^(ka nb)
  const u64* outer_inverse;    ///< [N1 k1][N2 n2]   w_N^(-n2 k1) 7^k1 / N; three rounds:
                               ///< [N2 / T tile][N1 k1][T n2], T = kThreeRoundsTile
  const u64* outer[2];         ///< [N1 k1][N2 j2]   w_N^(j2 k1) (s / 7)^k1, and w_2N^k1 for b = 1
  const u64* row_inverse;      ///< [16 k0][16 C]    w_N2^(-k0 n')
  const u64* row_inverse2;     ///< [16 k1][C n2]    w_16C^(-k1 n2)
  const u64* scale;            ///< [C k2]           s^(256 N1 k2)
  const u64* row_forward[2];   ///< [C j2][16 k1]          forward twiddles times coset factors
  const u64* row_forward2[2];  ///< [16 j1][16 k0][C j2]
};

namespace fast {

/// The tables of one height, for both pairs if log_blowup is 2.
struct HeightTables {
  DeviceBlock memory;
  LdeTwiddles pairs[2] = {};  ///< all null where not made
};
/// For cosets of `shift`: 7, but for the columns inside taller ones (tall.hpp).
HeightTables make_tables(u32 log_n, u32 log_blowup, prover::Fp shift, cudaStream_t stream);

/// To be called once per device: they let the kernels use the shared memory they need.
void prepare_columns();
void prepare_rows();

/// N words a column, every `stride` words.
struct Place {
  u64* at;
  size_t stride;
};

/// What the passes work on: columns taken together, one pair of cosets.
struct Pass {
  Split split;
  u32 columns;
  u32 log_blowup;
  u32 pair;
  Place x;
  Place w[2];     ///< by coset of the pair
  bool is_tight;  ///< w[1] is where the last pass puts what becomes of w[0]
  cudaStream_t stream;
};
void first(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
void middle(const LdeTwiddles& twiddles, const Pass& pass);
void last(const LdeTwiddles& twiddles, const Pass& pass, u64* out);
/// Up to kLogOnePassMax.
void whole(const LdeTwiddles& twiddles, const u64* in, const Pass& pass, u64* out);

}  // namespace fast
}  // namespace epochd::cuda
