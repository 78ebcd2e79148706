// The pools there are in this process.
#pragma once

#include "daemon/pipeline/prover_pool.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {

/// One epoch at a time, on all threads of `parallel`, which outlives the pools.
PoolFactory cpu_pool(Isa isa, const Parallel& parallel);
/// The first of these devices, driven by threads of this process, with as many epochs in flight as
/// fill it. Pre: there is one.
PoolFactory cuda_pool(const std::vector<int>& devices);

}  // namespace epochd
