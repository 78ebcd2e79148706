// One job from program to bundle, written once for `epochd` and `epoch prove`.
#pragma once

#include "daemon/pipeline/epoch_store.hpp"
#include "daemon/pipeline/job_prover.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd {

enum class Phase : u8 { kExecuting, kProving, kAssembling, kVerifying };
constexpr std::array<std::string_view, 4> kPhaseNames = {"executing", "proving", "assembling",
                                                         "verifying"};

/// Who watches a job, and may stop it.
class JobMonitor {
 public:
  virtual ~JobMonitor() = default;
  virtual void enter(Phase phase) = 0;
  /// Epoch `label` of `count` is next; `is_stored`: it was proved before.
  virtual void epoch(u64 label, u64 count, bool is_stored) = 0;
  /// Called between epochs and phases; throws to stop the job there.
  virtual void check() = 0;
};

/// What a finished job has to tell.
struct ProofFacts {
  RunFacts run;
  u64 epochs_resumed = 0;  ///< epochs whose proof was there already
  u64 bundle_bytes = 0;
  double execute_seconds = 0;
  double prove_seconds = 0;  ///< this attempt's proving, global proof included
  double verify_seconds = 0;
};

/// Executes, proves what is not in `store`, assembles `bundle` (durable when this returns) and
/// verifies it. Errors: JobError, IoError, and whatever the monitor throws.
ProofFacts run_job(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle,
                   JobMonitor& monitor);

}  // namespace epochd
