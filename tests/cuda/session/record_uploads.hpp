#pragma once

#include <cuda_runtime_api.h>

#include "prover/core/types.hpp"

namespace epochd::testing {

/// Adds up `count` words again and again, `rounds` times, so that it takes a while: out[0] is the
/// sum times rounds.
void launch_slow_sum(const u64* words, size_t count, u32 rounds, u64* out, cudaStream_t stream);

}  // namespace epochd::testing
