#include "daemon/pipeline/run_job.hpp"

#include <algorithm>
#include <chrono>

#include "daemon/log/log.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

double seconds_since(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// How often the bundle is assembled before the job fails: by the device, by the device again, and
/// where that is allowed by the CPU.
constexpr u32 kAssemblies = 3;

/// Store and monitor, as the prover of the epochs sees them.
class JobExchange : public EpochExchange {
 public:
  JobExchange(EpochStore& store, JobMonitor& monitor, ProofFacts& facts)
      : store_(store), monitor_(monitor), facts_(facts) {}

  std::optional<Bytes> load(u64 label) override { return store_.load(label); }
  ResumeStore* resume_store() override { return store_.resume_store(); }
  void resumed(u64 label) override {
    last_ = facts_.resumed_at = facts_.epochs_resumed = label;
    monitor_.saved(label, true);
  }
  void save(u64 label, std::span<const u8> bytes, bool was_stored) override {
    if (was_stored) {
      ++facts_.epochs_resumed;
    } else {
      store_.save(label, bytes);
      if (label <= facts_.resumed_at) --facts_.epochs_resumed;
    }
    last_ = std::max(last_, label);
    monitor_.saved(last_, was_stored);
  }
  void surveyed(const RunFacts& run) override {
    facts_.execute_seconds = seconds_since(start_);
    monitor_.surveyed(run.epochs);
    monitor_.enter(Phase::kProving);
  }
  void check() override { monitor_.check(); }
  void advanced() override {}  // the monitor counts epochs

 private:
  EpochStore& store_;
  JobMonitor& monitor_;
  ProofFacts& facts_;
  u64 last_ = 0;  ///< the highest label that is done
  SteadyTime start_ = std::chrono::steady_clock::now();
};

u64 write_bundle(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle,
                 JobMonitor& monitor) {
  u64 bundle_bytes = 0;
  DurableFile file(fs, bundle);
  const auto load = [&](u64 label) {
    std::optional<Bytes> bytes = store.load(label);
    if (!bytes) {
      throw JobError(Reason::kIo, "the proof of epoch " + std::to_string(label) +
                                      " was saved and cannot be read back; check the disk");
    }
    return *std::move(bytes);
  };
  const auto append = [&](std::span<const u8> bytes) {
    file.append(bytes);
    bundle_bytes += bytes.size();
  };
  prover.assemble(load, append, [&] { monitor.check(); });
  file.commit();
  return bundle_bytes;
}

/// False when the bundle is not accepted and may be assembled again. Every epoch proof was verified
/// before, so that it is the global proof's turn.
bool verify_bundle(JobProver& prover, const Path& bundle, u32 assembly, JobMonitor& monitor) {
  try {
    prover.verify_watched(bundle, [&] { monitor.check(); });
    return true;
  } catch (const JobError& error) {
    if (error.reason() != Reason::kInternal || assembly == kAssemblies) throw;
    log::error("the bundle is not accepted; its global proof is made again",
               {{"attempt", assembly}, {"why", error.what()}});
    return false;
  }
}

}  // namespace

ProofFacts run_job(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle,
                   JobMonitor& monitor) {
  ProofFacts facts;
  monitor.check();
  monitor.enter(Phase::kExecuting);
  const SteadyTime start = std::chrono::steady_clock::now();
  JobExchange exchange(store, monitor, facts);
  facts.run = prover.prove_epochs(exchange);
  store.flush();
  assemble_job(fs, prover, store, bundle, monitor, start, facts);
  return facts;
}

void assemble_job(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle,
                  JobMonitor& monitor, SteadyTime start, ProofFacts& facts) {
  for (u32 assembly = 1;; ++assembly) {
    monitor.check();
    monitor.enter(Phase::kAssembling);
    facts.bundle_bytes = write_bundle(fs, prover, store, bundle, monitor);
    facts.prove_seconds = seconds_since(start) - facts.verify_seconds;
    monitor.check();
    monitor.enter(Phase::kVerifying);
    const SteadyTime verify_start = std::chrono::steady_clock::now();
    const bool is_accepted = verify_bundle(prover, bundle, assembly, monitor);
    facts.verify_seconds += seconds_since(verify_start);
    if (is_accepted) break;
  }
  facts.stages = prover.stage_seconds();
}

}  // namespace epochd
