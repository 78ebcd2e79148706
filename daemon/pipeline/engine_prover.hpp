// The JobProver of the product: scout, stitch, replay, epoch proofs and the global proof, on CUDA
// devices or on the CPU.
#pragma once

#include <functional>
#include <string_view>

#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/job_prover.hpp"
#include "daemon/pipeline/pools.hpp"
#include "daemon/pipeline/stage_log.hpp"
#include "prover/security/presets.hpp"

namespace epochd {

using DebugText = std::function<void(std::string_view)>;

/// The way to the devices.
struct DeviceAccess {
  DeviceQuery query = [] { return query_devices(); };
  /// Pools over the devices with these ordinals.
  std::function<PoolFactory(const std::vector<int>& devices)> pool = cuda_pool;
};

/// `trace` may be null, and outlives the prover. Errors: as JobProverFactory says.
std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, DebugText debug = {},
                                              DeviceAccess devices = {},
                                              TraceFile* trace = nullptr);

/// The compiled-in parameter set of that name.
const prover::Preset& preset_of(SecurityPreset security);

}  // namespace epochd
