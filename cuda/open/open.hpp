// Openings and DEEP on the device (docs/protocol.md §4.4, 4.5): barycentric weights, dot products
// of columns with them, and the combination of all columns that the FRI word is made of. Every
// launch serves all heights.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/open/points.hpp"
#include "prover/core/hd.hpp"
#include "prover/field/fp3.hpp"

namespace epochd::cuda {

using prover::Fp;
using prover::Fp3;

/// Points of one block of the weights' launch.
constexpr u32 kWeightRows = 128;
/// Rows of one chunk of a dot product; partial sums of chunks are added by a second launch.
constexpr u32 kDotRows = 4096;
constexpr u32 kDotColumns = 4;
EPOCHD_HD constexpr u32 chunks_of(u32 log_rows, u32 rows) {
  return static_cast<u32>(((u64{1} << log_rows) + rows - 1) / rows);
}

/// weights(i) = x_i / (z - x_i) for i < 2^log_n, x_i from `points`; three planes.
struct WeightJob {
  DevicePoints points;
  u32 log_n;
  u32 first_block;  ///< chunks_of(log_n, kWeightRows) blocks
  Fp3 z;
  Fp* weights;
};
void launch_weights(const WeightJob* jobs, u32 job_count, u32 blocks, cudaStream_t stream);

/// Up to kDotColumns columns with the same weights. Value k of the group is number first_value + k.
struct DotJob {
  const Fp* columns[kDotColumns];
  u32 column_count;
  u32 first_value;
  const Fp* weights;
  u32 log_n;
  u32 first_block;  ///< chunks_of(log_n, kDotRows) blocks
  Fp3 scale;
};
/// values[i] = scale * sum of weight * column. `partial` holds, for value i, its chunks from i *
/// chunks_max on.
void launch_dots(const DotJob* jobs, u32 job_count, u32 blocks, u32 chunks_max, Fp3* partial,
                 Fp3* values, cudaStream_t stream);

struct DeepColumn {
  const Fp* column;
  Fp3 weight;  ///< delta^j
};
/// The columns of one height opened at a point z, and sum of delta^j f_j(z).
struct DeepPoint {
  const DeepColumn* columns;
  u32 count;
  Fp3 z;
  Fp3 at_z;
};
/// out(i) = sum over both points of (sum_j delta^j f_j(x_i) - at_z) / (x_i - z), i < 2^log_rows;
/// three planes. points[1].count may be 0.
struct DeepJob {
  DevicePoints x;
  u32 log_rows;
  u32 first_row_block;  ///< chunks_of(log_rows, kDeepRows) blocks
  DeepPoint points[2];
  Fp* out;
};
constexpr u32 kDeepRows = 128;
void launch_deep(const DeepJob* jobs, u32 job_count, u32 blocks, cudaStream_t stream);
/// word(i) = sum over jobs of out(i >> (log_word - log_rows)).
void launch_lift(const DeepJob* jobs, u32 job_count, Fp* word, u32 log_word, cudaStream_t stream);

}  // namespace epochd::cuda
