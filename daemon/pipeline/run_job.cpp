#include "daemon/pipeline/run_job.hpp"

#include <chrono>

#include "daemon/log/log.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

double seconds_since(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Is the stored epoch taken over?
bool accept_stored(JobProver& prover, EpochStore& store, u64 label) {
  const std::optional<Bytes> stored = store.load(label);
  if (!stored) return false;
  if (prover.accept_epoch(label, *stored)) return true;
  log::warn("stored epoch does not belong to this run; the epoch is proved again",
            {{"epoch", label}});
  return false;
}

void prove_epochs(JobProver& prover, EpochStore& store, JobMonitor& monitor, ProofFacts& facts) {
  for (u64 label = 1; label <= facts.run.epochs; ++label) {
    monitor.check();
    const bool is_stored = accept_stored(prover, store, label);
    monitor.epoch(label, facts.run.epochs, is_stored);
    if (is_stored) {
      ++facts.epochs_resumed;
    } else {
      store.save(label, prover.prove_epoch(label));
    }
  }
}

u64 write_bundle(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle) {
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
  prover.assemble(load, [&](std::span<const u8> bytes) {
    file.append(bytes);
    bundle_bytes += bytes.size();
  });
  file.commit();
  return bundle_bytes;
}

}  // namespace

ProofFacts run_job(FileSystem& fs, JobProver& prover, EpochStore& store, const Path& bundle,
                   JobMonitor& monitor) {
  ProofFacts facts;
  monitor.check();
  monitor.enter(Phase::kExecuting);
  const SteadyTime execute_start = std::chrono::steady_clock::now();
  facts.run = prover.execute([&] { monitor.check(); });
  facts.execute_seconds = seconds_since(execute_start);

  monitor.check();
  monitor.enter(Phase::kProving);
  const SteadyTime prove_start = std::chrono::steady_clock::now();
  prove_epochs(prover, store, monitor, facts);
  monitor.check();
  monitor.enter(Phase::kAssembling);
  facts.bundle_bytes = write_bundle(fs, prover, store, bundle);
  facts.prove_seconds = seconds_since(prove_start);

  monitor.check();
  monitor.enter(Phase::kVerifying);
  const SteadyTime verify_start = std::chrono::steady_clock::now();
  prover.verify(bundle);
  facts.verify_seconds = seconds_since(verify_start);
  return facts;
}

}  // namespace epochd
