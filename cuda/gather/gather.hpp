// Copies opened rows and digests out of matrices and trees in device memory, in the order a proof
// holds them. Every call only launches a kernel on `stream`; none allocates or waits.
// Errors: cuda::Error if a launch is refused.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/merkle/row_source.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::cuda {

/// out[i * source.width + c] = column c of row indices[i]. Shapes: indices [count], device memory.
void gather_rows(const RowSource& source, const u32* indices, u32 count, u64* out,
                 cudaStream_t stream);

/// Leaf indices[i] of a FRI layer, 3 * 2^log_fold words in the order they are hashed (see
/// build_fri_tree). Shapes: indices [count], device memory; out [count][3 << log_fold].
void gather_fri_leaves(const u64* planes, u64 plane_stride, u32 log_fold, const u32* indices,
                       u32 count, u64* out, cudaStream_t stream);

/// out[i] = tree[positions[i]]. Shapes: positions [count], device memory, as
/// append_sibling_positions() makes them.
void gather_digests(const prover::Digest* tree, const u64* positions, u32 count,
                    prover::Digest* out, cudaStream_t stream);

}  // namespace epochd::cuda
