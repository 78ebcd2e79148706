// Records to rows on the device, by the chips' own `fill`.
#pragma once

#include <cuda_runtime_api.h>

#include "prover/prove/table_source.hpp"

namespace epochd::cuda {

/// Writes rows [0, rows) of a table: column c of row r is base[c * stride + r]. `block` holds
/// device pointers. False if the chip has no fill. Only launches.
[[nodiscard]] bool launch_fill(const prover::RecordBlock& block, size_t rows, prover::Fp* base,
                               size_t stride, cudaStream_t stream);

}  // namespace epochd::cuda
