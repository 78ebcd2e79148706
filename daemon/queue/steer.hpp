// What a user does to jobs from outside, with or without a daemon running: submit, cancel, retry,
// hold, release. All are idempotent; all are single renames, so they may race with the daemon.
#pragma once

#include <optional>
#include <string>

#include "config/job_spec.hpp"
#include "daemon/queue/layout.hpp"

namespace epochd {

struct SubmitRequest {
  Path program;
  std::optional<Path> input;
  JobSpec spec;
  std::string id = {};  ///< a job id; empty: made from the name, the time and chance
};

/// Builds the job in tmp/ and renames it into incoming/; as the queue's owner, where root submits.
/// Returns its id.
/// Errors: IoError; NotAQueue when `root` is not a queue directory.
std::string submit_job(FileSystem& fs, const Path& root, const SubmitRequest& request);

class NotAQueue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Completes an empty or half made queue; refuses a directory that holds other things.
void require_queue(FileSystem& fs, const Path& root);

/// Where the job is; nothing if nowhere.
std::optional<Place> find_job(FileSystem& fs, const Path& root, const std::string& id);

struct Steered {
  enum class Outcome : u8 {
    kDone,       ///< moved
    kRequested,  ///< the daemon will act at the end of the running epoch
    kAlready,    ///< it was so already
    kRefused,    ///< it cannot be, from where the job is
    kUnknown,    ///< no such job
  };
  Outcome outcome;
  std::string message;
};

Steered cancel_job(FileSystem& fs, const Path& root, const std::string& id);
Steered retry_job(FileSystem& fs, const Path& root, const std::string& id);
Steered hold_job(FileSystem& fs, const Path& root, const std::string& id);
Steered release_job(FileSystem& fs, const Path& root, const std::string& id);

}  // namespace epochd
