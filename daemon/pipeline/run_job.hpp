// One job from program to bundle, written once for `epochd` and `epoch prove`.
#pragma once

#include <chrono>

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
  /// Epochs are proved while the program is still executing; kProving begins when that has ended.
  virtual void enter(Phase phase) = 0;
  /// The run has so many epochs.
  virtual void surveyed(u64 count) = 0;
  /// Epochs up to `label` are done; `was_stored`: by an earlier attempt.
  virtual void saved(u64 label, bool was_stored) = 0;
  /// Called often; throws to stop the job there.
  virtual void check() = 0;
};

/// What a finished job has to tell.
struct ProofFacts {
  RunFacts run;
  u64 epochs_resumed = 0;  ///< epochs whose proof was there already
  u64 resumed_at = 0;      ///< the epoch whose checkpoint the run went on from; 0: from the start
  u64 bundle_bytes = 0;
  double execute_seconds = 0;  ///< the program alone, to its exit
  double prove_seconds = 0;    ///< from the start to the bundle: execution overlaps with proving
  double verify_seconds = 0;
  std::map<std::string, double> stages;  ///< seconds by name
};

/// Executes, proves what is not in `store`, assembles `bundle` (durable when this returns) and
/// verifies it. Errors: JobError, IoError, and whatever the monitor throws.
ProofFacts run_job(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle,
                   JobMonitor& monitor);

/// The rest of it, when the epochs are done and in `store`: assembles, and verifies. `start`: when
/// the job was begun. Adds to `facts`. Errors: as run_job().
void assemble_job(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle,
                  JobMonitor& monitor, std::chrono::steady_clock::time_point start,
                  ProofFacts& facts);

}  // namespace epochd
