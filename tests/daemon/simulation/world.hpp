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
  u64 resumed = 0;
};

/// `root`: a directory that stays empty but for the queue's. The same seed does the same. A hang
/// ends the process, after a line that says which seed it was.
ScheduleResult run_schedule(u64 seed, const Path& root, Mutation mutation = Mutation::kNone,
                            bool wants_log = false);

/// The line that runs one seed again.
std::string reproduction(u64 seed);

}  // namespace epochd::simulation
