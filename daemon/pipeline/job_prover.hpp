// The seam between the daemon and the engine: what the pipeline needs to have one job proved. The
// pipeline owns files, order, durability and time; the engine owns every byte of a proof. The same
// calls give the same bytes, so any of them may be repeated after a crash.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "config/daemon_settings.hpp"
#include "config/protocol_settings.hpp"
#include "daemon/queue/file_system.hpp"
#include "epoch/continuation/prover_usage.hpp"

namespace epochd {

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
};

/// What the run of the program came to.
struct RunFacts {
  u64 cycles = 0;
  u64 epochs = 0;
  u64 exit_code = 0;
  std::vector<u64> outputs;
};

class JobProver {
 public:
  using Checkpoint = std::function<void()>;  ///< may throw, to stop
  using EpochLoader = std::function<Bytes(u64 label)>;
  using ByteSink = std::function<void(std::span<const u8>)>;

  virtual ~JobProver() = default;

  /// Runs the program to its exit, calling `checkpoint` between epochs.
  /// Errors: JobError(kGuestFault, kCycleLimit, kInput).
  virtual RunFacts execute(const Checkpoint& checkpoint) = 0;

  // Then, for label = 1 .. epochs in order, exactly one of:
  /// The bytes from which assemble() can go on: the epoch's proof and its boundary.
  virtual Bytes prove_epoch(u64 label) = 0;
  /// Goes on to the next epoch without proving this one: its bytes are there already.
  /// Returns false when they are not what they should be; then prove_epoch(label) follows.
  virtual bool accept_epoch(u64 label, std::span<const u8> bytes) = 0;

  /// The global memory proof and the bundle, from the bytes of all epochs, each loaded when needed.
  virtual void assemble(const EpochLoader& load, const ByteSink& bundle) = 0;
  /// Errors: JobError(kInternal) when the bundle is not accepted by the plain verifier.
  virtual void verify(const Path& bundle) = 0;

  /// Before anything is proved: where it is going to be.
  virtual ProverUsage usage() const = 0;
};

/// Pre: the request outlives the prover. Errors: JobError(kInput) for a program, an input or a
/// residency it cannot take, JobError(kGpu) when it needs a device that is not there.
using JobProverFactory = std::function<std::unique_ptr<JobProver>(const ProofRequest&)>;

}  // namespace epochd
