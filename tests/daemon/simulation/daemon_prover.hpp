// The product's prover and its pools, over provers whose proofs are hashes, whose time is the
// scheduler's, and whose failures are the seed's.
#pragma once

#include <thread>

#include "daemon/pipeline/engine_parts.hpp"
#include "tests/daemon/simulation/guest.hpp"
#include "tests/daemon/simulation/mutant.hpp"

namespace epochd::simulation {

/// A job's attempt is known by its lane's thread.
using Lane = std::thread::id;
enum class Unit : u8 { kCpu, kDevice };
/// The label of the global proof, among those of epochs.
constexpr u64 kGlobalLabel = 0;

/// Told what the provers do. Threads: any, one at a time.
class ProverWatcher {
 public:
  virtual ~ProverWatcher() = default;
  /// From here on a crash is the job's.
  virtual void begins(Lane lane, const JobKey& key, BackendPolicy policy) = 0;
  /// A pool opens, +1, or has ended, -1.
  virtual void pools_change(Lane lane, Unit unit, int change) = 0;
  virtual void proving(Lane lane, Unit unit, u64 label) = 0;
  virtual void proved(Lane lane, Unit unit, u64 label) = 0;
  virtual void saved(Lane lane, u64 label, bool was_stored) = 0;
  virtual void resumed(Lane lane, u64 label) = 0;
  /// In a way that may pass, and that ends the attempt unless something else does before.
  virtual void failed(Lane lane, bool is_internal) = 0;
  /// Verified, stopped, refused: the handler goes on.
  virtual void leaves(Lane lane) = 0;
};

/// How often something goes wrong with a unit: one in so many proofs; 0: never.
struct UnitFaults {
  u64 error = 0;
  u64 memory = 0;  ///< the host's, with the error
  u64 flip = 0;    ///< proves something else
  u64 loss = 0;    ///< fails, as does all that follows, for a while
  u64 slow = 0;    ///< takes seconds
  u64 death = 0;   ///< the worker process ends without a word
  u64 hang = 0;    ///< proves for ever
};

/// What proves, from life to life.
struct Units {
  UnitFaults cpu, device;
  bool has_device = false;
  bool has_workers = false;  ///< the device is a worker process's
  double lost_until_s = -1;  ///< the device
  double pace_s = 0;         ///< the longest time an epoch usually takes
  CheckpointPace checkpoints;
  u64 surprise = 0;  ///< an exception of no kind in particular, one in so many bundles; 0: never
  u64 refusal = 0;   ///< a good bundle is not accepted
  Mutation mutation = Mutation::kNone;

  bool is_device_lost(const Scheduler& scheduler) const { return scheduler.now_s() < lost_until_s; }
};

/// What the provers of one daemon share. All that it takes outlives it, and it them.
class DaemonProvers {
 public:
  DaemonProvers(Scheduler& scheduler, FileSystem& fs, ProverWatcher& watcher, Units& units,
                ExpectedRuns& expected);
  ~DaemonProvers();
  JobProverFactory factory();

  struct Shared;

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace epochd::simulation
