// A device's pool that stays open from proof to proof, as the jobs of a benchmark need it: opening
// one (a context, page-locked memory, above all a mirror's) takes longer than proving a short run.
#pragma once

#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/pipeline/guest.hpp"

namespace epochd::bench {

/// For proofs of one program with one set of parameters.
class KeptDevicePool {
 public:
  /// `in_flight`: epochs on the device at a time, fewer where its memory does not hold them.
  /// `request` outlives this. Errors: JobError(kInput).
  KeptDevicePool(const ProofRequest& request, u32 in_flight);

  /// Device 0 in this process. What it opens stays until this is destroyed, and this outlives the
  /// prover that the access is given to.
  DeviceAccess access();

 private:
  std::unique_ptr<ProverPool> open(const PoolJob& job);

  u32 in_flight_;
  Guest guest_;
  ProvingKey key_;
  std::shared_ptr<ProverPool> pool_;
};

}  // namespace epochd::bench
