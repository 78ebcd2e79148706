// The JobProver of the product: scout, stitch, replay, epoch proofs and the global proof, on CUDA
// devices or on the CPU.
#pragma once

#include <functional>
#include <string_view>

#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/job_prover.hpp"
#include "daemon/pipeline/pools.hpp"
#include "daemon/pipeline/stage_log.hpp"
#include "epoch/capsule/capsule.hpp"
#include "prover/security/presets.hpp"

namespace epochd {

using DebugText = std::function<void(std::string_view)>;

/// The way to the devices.
struct DeviceAccess {
  DeviceQuery query = [] { return query_devices(); };
  /// Pools over the devices with these ordinals.
  std::function<PoolFactory(const std::vector<int>& devices)> pool = cuda_pool;
};

/// The engine besides what a whole job needs: one epoch alone, and epochs proved elsewhere.
class EpochEngine : public JobProver {
 public:
  /// What capsules of the program call it.
  virtual prover::Digest program() const = 0;
  /// Proves one epoch, and gives what EpochExchange::save() would get. `check` may throw, to stop.
  /// Errors: JobError; kInput for a capsule that is no epoch of the program.
  virtual Bytes prove_capsule(Capsule capsule, const Checkpoint& check) = 0;
  /// In the place of prove_epochs(): all epochs of the run were proved elsewhere. Each is verified.
  /// Nothing if all are good, else the label of the first that is not. What `load` and `check`
  /// throw passes through.
  virtual std::optional<u32> adopt(const RunFacts& facts, const EpochLoader& load,
                                   const Checkpoint& check) = 0;
};

/// `trace` may be null, and outlives the prover. Errors: as JobProverFactory says.
std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, DebugText debug = {},
                                              DeviceAccess devices = {},
                                              TraceFile* trace = nullptr);

/// The same, for what only the engine can.
std::unique_ptr<EpochEngine> make_epoch_engine(const ProofRequest& request,
                                               DeviceAccess devices = {});

/// The compiled-in parameter set of that name.
const prover::Preset& preset_of(SecurityPreset security);

}  // namespace epochd
