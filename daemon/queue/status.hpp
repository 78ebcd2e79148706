// The queue as a user sees it. Reads only; needs no daemon.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/queue/layout.hpp"

namespace epochd {

struct JobStatus {
  std::string id;
  Place place = Place::kIncoming;
  std::string state;    ///< queued, claimed, executing, proving, assembling, verifying, done, ...
  u64 epoch = 0;        ///< proving: the epoch under way, from 1
  u64 epochs = 0;       ///< proving: of how many; 0: the program still runs
  u32 attempt = 0;      ///< while active
  std::string reason;   ///< failed, quarantined: one of the reasons, "timeout(execute)"
  std::string message;  ///< ... and its message

  /// "proving(3/7)", "proving(3/?)", "failed(input)"
  std::string state_text() const;
};

/// One job; nothing if it is nowhere.
std::optional<JobStatus> job_status(FileSystem& fs, const Path& root, const std::string& id);
/// All jobs, by place, then by name.
std::vector<JobStatus> queue_status(FileSystem& fs, const Path& root);

}  // namespace epochd
