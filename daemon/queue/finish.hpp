// The ends of an active job. Each writes its answer durably into active/JOB and then moves the
// directory; so an answer found in active/ after a crash only has to be moved, and no job is
// published twice.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/queue/attempts.hpp"
#include "daemon/queue/queue.hpp"

namespace epochd {

/// Pre: active/ID/bundle.proof is durable. Returns the id under which it is published.
std::string publish_done(Queue& queue, FileSystem& fs, const std::string& id,
                         const nlohmann::json& result);
/// `place` is failed/ or quarantine/. Durable epoch proofs stay, so that a retry goes on from
/// there.
std::string publish_failed(Queue& queue, FileSystem& fs, const std::string& id, Place place,
                           const JobError& error, const Attempts& attempts);
std::string publish_cancelled(Queue& queue, FileSystem& fs, const std::string& id);

/// Whether a job in active/ is decided, and only has to be moved.
bool has_decision(FileSystem& fs, const Path& job);

struct Finished {
  Place place;
  std::string id;  ///< under which it is published
};
/// Moves a job whose answer a crash left behind, and says where; nothing if it has none.
std::optional<Finished> finish_interrupted(Queue& queue, FileSystem& fs, const std::string& id);

/// Removes what the daemon keeps while it works, and what was being written when it died, but not
/// the durable epoch proofs.
void strip_working_files(FileSystem& fs, const Path& job);

}  // namespace epochd
