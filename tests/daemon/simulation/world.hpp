// One schedule: a disk, a daemon that lives and dies, users who steer it, all from one seed; and
// whether everything came out as it should.
#pragma once

#include <string>
#include <vector>

#include "tests/daemon/simulation/ledger.hpp"

namespace epochd::simulation {

/// A fault built into the daemon on purpose, to see that the simulation finds it.
enum class Mutation : u8 {
  kNone,
  kSkipDirectorySync,
  kSkipFileSync,
  kPublishBeforeBundleIsDurable,
  kForgetCrashes,
  kChargeFullDisk,
  kIgnoreCancel,
  kForgetEpochs,
  kForgetEqualJobs,
  kNameBeforeSync,   ///< a checkpoint is renamed before its fsync
  kKeepCheckpoints,  ///< old ones are not removed
  kAssumeEpochs,     ///< a checkpoint is taken though an epoch before it is missing
  kRetrySync,        ///< what failed at its fsync is synced once more
  kTrustProofs,      ///< no epoch's proof is verified
  kFallBackAlways,   ///< the CPU proves what requires a device
  kForgetTurn,       ///< every job proves at once
};

struct ScheduleResult {
  std::vector<std::string> violations;
  u64 trace_hash = 0;  ///< of every step of every process
  std::string log;     ///< every step, when asked for
  // What happened in it:
  u64 steps = 0;
  u64 lives = 0;
  u64 deaths = 0;
  u64 power_cuts = 0;
  u64 faults = 0;
  u64 submitted = 0;
  u64 done = 0;
  u64 resumed = 0;         ///< epochs that were stored
  u64 checkpoints = 0;     ///< runs that went on from one
  u64 units_failed = 0;    ///< attempts that ended because the device or the CPU failed
  u64 proved_instead = 0;  ///< proofs of the CPU in a device's place
};

/// `root`: a directory that stays empty but for the queue's. The same seed does the same. A hang
/// ends the process, after a line that says which seed it was.
ScheduleResult run_schedule(u64 seed, const Path& root, Mutation mutation = Mutation::kNone,
                            bool wants_log = false);

/// The line that runs one seed again.
std::string reproduction(u64 seed);

}  // namespace epochd::simulation
