// The pools there are in this process.
#pragma once

#include "daemon/pipeline/prover_pool.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {

/// Epochs that one device proves at a time: enough that the latency of one (transcript, FRI) is
/// filled by the others' work (docs/performance-gpu.md).
u32 epochs_in_flight(const RunParams& params);

/// One epoch at a time, on all threads of `parallel`, which outlives the pools.
PoolFactory cpu_pool(Isa isa, const Parallel& parallel);
/// The first of these devices, driven by threads of this process. Pre: there is one.
PoolFactory cuda_pool(const std::vector<int>& devices);

}  // namespace epochd
