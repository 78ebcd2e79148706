// How often a job was tried, and what became of it. Durable before work starts.
//
// attempts.json holds the counts; the file `running` holds the number of the attempt under way and
// is removed when that attempt ends in any handled way. A `running` file that is still there at the
// next start, with the number of the last attempt, is therefore a crash; it is counted once,
// because counting it also moves the attempt number on.
#pragma once

#include "config/daemon_settings.hpp"
#include "daemon/queue/file_system.hpp"

namespace epochd {

struct Attempts {
  u32 attempt = 0;   ///< number of the last attempt begun; 1 is the first
  u32 failures = 0;  ///< attempts that ended in a handled failure that may pass
  u32 crashes = 0;   ///< attempts during which the daemon died

  bool operator==(const Attempts&) const = default;
};

/// When a job came and when it was begun first, in nanoseconds since 1970; 0: not known.
struct JobTimes {
  i64 queued_ns = 0;
  i64 started_ns = 0;
};

/// The counts as they stand, a crash not yet counted included. A damaged file reads as no attempts.
Attempts read_attempts(FileSystem& fs, const Path& job);
/// Counts the next attempt; when it returns, that is durable. When it throws, none was begun, and
/// a crash before it stays counted or to be counted. The first one is kept as the job's start.
/// `now_ns`: nanoseconds since 1970.
Attempts begin_attempt(FileSystem& fs, const Path& job, i64 now_ns = 0);
JobTimes read_times(FileSystem& fs, const Path& job);
/// The attempt ended without blame: done, cancelled, daemon stopped, disk full.
void end_attempt(FileSystem& fs, const Path& job);
/// The attempt ended in a handled failure.
Attempts end_attempt_failed(FileSystem& fs, const Path& job);
/// Is one of the budgets exhausted?
bool is_exhausted(const Attempts& attempts, const RetrySettings& budget);

}  // namespace epochd
