// The seam between the daemon and the engine: what the pipeline needs to have one job proved. The
// pipeline owns files, order, durability and time; the engine owns every byte of a proof. The same
// calls give the same bytes, so any of them may be repeated after a crash.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/daemon_settings.hpp"
#include "config/protocol_settings.hpp"
#include "daemon/pipeline/proving_turn.hpp"
#include "daemon/queue/file_system.hpp"
#include "epoch/continuation/prover_usage.hpp"

namespace epochd {

class ResumeStore;

/// How often the state of a run is kept for a later attempt: not before all of these have passed
/// since the last time. The last one bounds what it costs.
struct CheckpointPace {
  u64 cycles = u64{1} << 26;  ///< executing them again takes a third of a second
  double seconds = 2;
  double per_write = 50;  ///< times what the last one took to write
};

/// The pace that takes at most this share of the run's time. Pre: percent > 0.
inline CheckpointPace checkpoint_pace(u32 percent) {
  CheckpointPace pace;
  pace.per_write = 100.0 / percent;
  return pace;
}

/// What a job asks to have proved.
struct ProofRequest {
  Bytes elf;
  Bytes input;
  std::string elf_name;  ///< for messages
  ProtocolSettings protocol;
  u64 cycle_limit = 0;
  u32 threads = 0;
  // Where it is proved never changes a byte of the proof.
  BackendPolicy backend = BackendPolicy::kCpu;
  Residency residency = Residency::kDeviceOnly;
  std::optional<CheckpointPace> checkpoints = CheckpointPace{};  ///< nothing: none are kept
  u32 pipeline_depth = DaemonSettings{}.pipeline_depth;
  std::vector<int> devices;  ///< those that may prove; empty: all there are
  MemorySettings memory;
  ProvingTurn* turn = nullptr;  ///< says when it is proved; null: at once. Outlives the prover
};

/// What the run of the program came to.
struct RunFacts {
  u64 cycles = 0;
  u64 epochs = 0;
  u64 exit_code = 0;
  std::vector<u64> outputs;
};

/// What the pipeline gives the proving of a job's epochs, and takes from it.
class EpochExchange {
 public:
  virtual ~EpochExchange() = default;
  /// The bytes that were saved for the epoch by an earlier attempt, if there are any. Threads: any.
  virtual std::optional<Bytes> load(u64 label) = 0;
  /// Where a run's state is kept for a later attempt; null: nowhere.
  virtual ResumeStore* resume_store() = 0;

  // On the thread that called JobProver::prove_epochs:
  /// Epochs up to the label are stored, and nothing about them is to be done. Once, before all
  /// others, or not at all.
  virtual void resumed(u64 label) = 0;
  /// In the order of labels, none twice, from the one after resumed() on; last come those of the
  /// resumed ones that turned out damaged. When check() ends the job, some may be left out before
  /// the last. `was_stored`: these are the bytes that load() gave.
  virtual void save(u64 label, std::span<const u8> bytes, bool was_stored) = 0;
  /// The program ended well. Once, before, between or after the epochs.
  virtual void surveyed(const RunFacts& facts) = 0;
  /// Called often; throws to stop.
  virtual void check() = 0;
  /// Something went forward that is no epoch: a part of a checkpoint was loaded.
  virtual void advanced() = 0;
};

class JobProver {
 public:
  using Checkpoint = std::function<void()>;  ///< may throw, to stop
  using EpochLoader = std::function<Bytes(u64 label)>;  ///< threads: any
  using ByteSink = std::function<void(std::span<const u8>)>;

  virtual ~JobProver() = default;

  /// Runs the program to its exit and proves those of its epochs that are not stored. Saved bytes
  /// are those from which assemble() can go on: the epoch's proof and its boundary. Once.
  /// Errors: JobError(kGuestFault, kCycleLimit, kInput, kGpu, kInternal); what the exchange throws.
  virtual RunFacts prove_epochs(EpochExchange& exchange) = 0;

  /// The global memory proof and the bundle, from the bytes of all epochs, each loaded when needed.
  /// `check` is called between the parts. May be repeated when verify() refused the bundle: then
  /// the global proof is made anew, from the third time on where no device is trusted, if possible.
  virtual void assemble(const EpochLoader& load, const ByteSink& bundle,
                        const Checkpoint& check) = 0;
  /// Errors: JobError(kInternal) when the bundle is not accepted by the plain verifier.
  virtual void verify(const Path& bundle) = 0;
  /// The same; `check` is called while the bundle is read, and may throw to stop.
  virtual void verify_watched(const Path& bundle, const Checkpoint& check) {
    check();
    verify(bundle);
  }

  /// Where it is proved; before that, where it is going to be.
  virtual ProverUsage usage() const = 0;
  /// What the stages took so far, by name: a stage's time counts in those that contain it too.
  virtual std::map<std::string, double> stage_seconds() const { return {}; }
};

/// Pre: the request outlives the prover. Errors: JobError(kInput) for a program or an input it
/// cannot take, JobError(kGpu) when it needs a device that is not there.
using JobProverFactory = std::function<std::unique_ptr<JobProver>(const ProofRequest&)>;

}  // namespace epochd
