#include "daemon/queue/steer.hpp"

#include "daemon/queue/durable.hpp"
#include "daemon/queue/finish.hpp"
#include "daemon/queue/job_id.hpp"

namespace epochd {
namespace {

using Outcome = Steered::Outcome;

constexpr int kRaceTries = 10;

std::string quoted(const std::string& id) {
  return "job '" + id + "'";
}

Steered unknown(FileSystem& fs, const Path& root, const std::string& id) {
  if (fs.exists(place_path(root, Place::kIncoming) / (id + ".elf"))) {
    return {Outcome::kUnknown, "'" + id +
                                   ".elf' has not been taken in yet: start epochd on this queue, "
                                   "or take the file out of incoming/"};
  }
  return {Outcome::kUnknown, "there is no " + quoted(id) + " in '" + root.string() +
                                 "'; `epoch status --queue` lists what there is"};
}

std::string place_name(Place place) {
  return std::string(kPlaceNames[static_cast<size_t>(place)]);
}

/// Calls step(place) until it gives an answer. It gives none when the job moved under its hands.
template <class StepFn>
Steered steer(FileSystem& fs, const Path& root, const std::string& id, StepFn step) {
  for (int i = 0; i < kRaceTries; ++i) {
    const std::optional<Place> place = is_job_id(id) ? find_job(fs, root, id) : std::nullopt;
    if (!place) return unknown(fs, root, id);
    if (const std::optional<Steered> answer = step(*place)) return *answer;
  }
  return {Outcome::kRefused, quoted(id) + " keeps moving; try again"};
}

std::optional<Steered> move_job(FileSystem& fs, const Path& root, const std::string& id, Place from,
                                Place to, const std::string& message) {
  const auto moved = move_no_replace(fs, place_path(root, from) / id, place_path(root, to) / id);
  if (moved == FileSystem::Moved::kSourceGone) return std::nullopt;
  if (moved == FileSystem::Moved::kYes) return Steered{Outcome::kDone, message};
  return Steered{Outcome::kRefused, "another " + quoted(id) + " is already in " + place_name(to) +
                                        "/; move one of them away first"};
}

Steered refuse(const std::string& id, Place place, const std::string& what) {
  return {Outcome::kRefused, quoted(id) + " is in " + place_name(place) + "/ and " + what};
}

std::optional<Steered> request_cancel(FileSystem& fs, const Path& job, const std::string& id) {
  try {
    // Where the job is may not be durable yet: back in incoming/, it would forget the request.
    fs.sync_directory(job.parent_path());
    replace_file(fs, job / kCancelFile, {});
  } catch (const IoError& error) {
    if (error.code() == ENOENT) return std::nullopt;  // it just ended
    throw;
  }
  return Steered{Outcome::kRequested,
                 quoted(id) + " will be cancelled at the end of the running epoch"};
}

}  // namespace

std::optional<Place> find_job(FileSystem& fs, const Path& root, const std::string& id) {
  for (const Place place : {Place::kIncoming, Place::kHold, Place::kActive, Place::kDone,
                            Place::kFailed, Place::kQuarantine, Place::kCancelled}) {
    if (fs.exists(place_path(root, place) / id)) return place;
  }
  return std::nullopt;
}

Steered cancel_job(FileSystem& fs, const Path& root, const std::string& id) {
  return steer(fs, root, id, [&](Place place) -> std::optional<Steered> {
    switch (place) {
      case Place::kIncoming:
      case Place::kHold:
        return move_job(fs, root, id, place, Place::kCancelled, quoted(id) + " is cancelled");
      case Place::kActive:
        return request_cancel(fs, place_path(root, place) / id, id);
      case Place::kCancelled:
        return Steered{Outcome::kAlready, quoted(id) + " is cancelled"};
      default:
        return refuse(id, place, "cannot be cancelled any more");
    }
  });
}

Steered retry_job(FileSystem& fs, const Path& root, const std::string& id) {
  return steer(fs, root, id, [&](Place place) -> std::optional<Steered> {
    switch (place) {
      case Place::kFailed:
      case Place::kQuarantine:
      case Place::kCancelled: {
        const Path job = place_path(root, place) / id;
        strip_working_files(fs, job);
        remove_durably(fs, job / kReasonFile);
        return move_job(fs, root, id, place, Place::kIncoming, quoted(id) + " is queued again");
      }
      case Place::kIncoming:
      case Place::kActive:
        return Steered{Outcome::kAlready, quoted(id) + " is queued or running"};
      case Place::kHold:
        return refuse(id, place, "waits for `epoch release`");
      default:
        return refuse(id, place, "has its proof");
    }
  });
}

Steered hold_job(FileSystem& fs, const Path& root, const std::string& id) {
  return steer(fs, root, id, [&](Place place) -> std::optional<Steered> {
    switch (place) {
      case Place::kIncoming:
        return move_job(fs, root, id, place, Place::kHold, quoted(id) + " is held");
      case Place::kHold:
        return Steered{Outcome::kAlready, quoted(id) + " is held"};
      default:
        return refuse(id, place, "only a job that waits in incoming/ can be held");
    }
  });
}

Steered release_job(FileSystem& fs, const Path& root, const std::string& id) {
  return steer(fs, root, id, [&](Place place) -> std::optional<Steered> {
    switch (place) {
      case Place::kHold:
        return move_job(fs, root, id, place, Place::kIncoming, quoted(id) + " is queued");
      case Place::kIncoming:
      case Place::kActive:
        return Steered{Outcome::kAlready, quoted(id) + " is queued or running"};
      default:
        return refuse(id, place, "is not held");
    }
  });
}

}  // namespace epochd
