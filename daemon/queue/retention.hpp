// Finished jobs do not pile up for ever: those past an age, and the oldest of those that are too
// much, are removed. What has not ended is never touched.
#pragma once

#include "daemon/queue/layout.hpp"

namespace epochd {

/// 0: no limit.
struct RetentionLimits {
  u32 days = 0;   ///< since the job ended
  u64 bytes = 0;  ///< of all jobs in the place; the one that ended last always stays
};

struct Expired {
  u64 jobs = 0;
  u64 bytes = 0;
};

/// `place` is done/ or failed/. A job there has ended when it holds its answer, and at the time of
/// that file; others are left alone. A job leaves the place in one rename, so whoever collects it
/// finds it whole or not at all. A bundle that several equal jobs share counts for each.
/// Threads: any, one at a time. Errors: IoError.
Expired apply_retention(FileSystem& fs, const Path& root, Place place,
                        const RetentionLimits& limits, i64 now_unix);

/// Removes what a crash in the middle of that left behind. Errors: IoError.
void finish_interrupted_removals(FileSystem& fs, const Path& root);

}  // namespace epochd
