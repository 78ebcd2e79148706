// The pools there are in this process.
#pragma once

#include "daemon/pipeline/prover_pool.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {

class LocalPool;

/// One epoch at a time, on all threads of `parallel`, which outlives the pools.
PoolFactory cpu_pool(Isa isa, const Parallel& parallel);
/// On a device, driven by threads of this process, with as many epochs in flight as fill it.
/// Errors: as PoolFactory's.
std::unique_ptr<LocalPool> make_cuda_pool(const PoolJob& job, int device);
/// The first of these devices, driven by threads of this process, with as many epochs in flight as
/// fill it. Pre: there is one.
PoolFactory cuda_pool(const std::vector<int>& devices);

}  // namespace epochd
