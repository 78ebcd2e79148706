// The JobProver of the product: scout, stitch, replay, epoch proofs and the global proof, on a CUDA
// device or on the CPU.
#pragma once

#include <functional>
#include <string_view>

#include "cuda/prover/cuda_prover.hpp"
#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/job_prover.hpp"
#include "prover/security/presets.hpp"

namespace epochd {

using DebugText = std::function<void(std::string_view)>;

/// The way to the devices.
struct DeviceAccess {
  using ProverResult = Result<std::unique_ptr<EpochProver>, DeviceQueryError>;

  DeviceQuery query = query_devices;
  std::function<ProverResult(const ProvingKey&, const RunParams&, int device)> make_prover =
      [](const ProvingKey& key, const RunParams& params, int device) {
        return make_cuda_prover(key, params, device);
      };
};

/// Errors: as JobProverFactory says.
std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, DebugText debug = {},
                                              DeviceAccess devices = {});

/// The compiled-in parameter set of that name.
const prover::Preset& preset_of(SecurityPreset security);

}  // namespace epochd
