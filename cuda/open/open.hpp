// Openings and DEEP on the device (docs/protocol.md §4.4, 4.5): barycentric weights, dot products
// of columns with them, and the combination of all columns that the FRI word is made of.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/open/points.hpp"
#include "prover/field/fp3.hpp"

namespace epochd::cuda {

using prover::Fp;
using prover::Fp3;

/// Rows of one chunk of a dot product; partial sums of chunks are added by a second launch.
constexpr u32 kDotChunk = 4096;
inline u32 dot_chunks(size_t rows) {
  return static_cast<u32>((rows + kDotChunk - 1) / kDotChunk);
}

/// weights(i) = x_i / (z - x_i), x_i = 7 g^bitrev(i) from `points`, for i < 2^log_n. Three planes
/// of 2^log_n.
void launch_weights(DevicePoints points, u32 log_n, Fp3 z, Fp* weights, cudaStream_t stream);

/// out[c] = scale * sum_i weight(i) * columns[c][i] over 2^log_n rows. `partial` holds column_count
/// * dot_chunks.
void launch_dot(const Fp* const* columns, u32 column_count, const Fp* weights, u32 log_n, Fp3 scale,
                Fp3* partial, Fp3* out, cudaStream_t stream);

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
/// out(i) = sum over both points of (sum_j delta^j f_j(x_i) - at_z) / (x_i - z), i < 2^log_rows,
/// x_i = 7 g^bitrev(i). points[1].count may be 0. `out` and `scratch` are three planes of
/// 2^log_rows.
void launch_deep(DevicePoints x, const DeepPoint* points, u32 log_rows, Fp* out, Fp* scratch,
                 cudaStream_t stream);

/// word(i) += low(i >> shift), three planes each.
void launch_lift(Fp* word, u32 log_word, const Fp* low, u32 shift, cudaStream_t stream);

}  // namespace epochd::cuda
