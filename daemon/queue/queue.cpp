#include "daemon/queue/queue.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "config/config.hpp"
#include "daemon/log/log.hpp"
#include "daemon/queue/attempts.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/job_id.hpp"

namespace epochd {
namespace {

bool comes_first(const WaitingJob& a, const WaitingJob& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.mtime_ns != b.mtime_ns) return a.mtime_ns < b.mtime_ns;
  return a.id < b.id;
}

u64 device_of(const Path& path) {
  struct ::stat status {};
  if (::stat(path.c_str(), &status) != 0) throw IoError("look at", path, errno);
  return status.st_dev;
}

}  // namespace

void complete_queue_directories(FileSystem& fs, const Path& root) {
  fs.make_directory(root / kTmpName);
  for (const std::string_view name : kPlaceNames) fs.make_directory(root / name);
  // Also when all were there: whoever made them may have died before this.
  fs.sync_directory(root);
}

Queue::Queue(FileSystem& fs, Path root) : fs_(fs), root_(std::move(root)) {
  std::error_code error;
  std::filesystem::create_directories(root_, error);
  if (error) throw IoError("create the queue directory", root_, error.value());
  lock_.emplace(root_);
  complete_directories();
  finish_interrupted_intakes();
}

void Queue::complete_directories() {
  complete_queue_directories(fs_, root_);
  const u64 device = device_of(root_);
  for (const std::string_view name : kPlaceNames) {
    // A rename between file systems would be a copy, which a crash can cut in two.
    if (device_of(root_ / name) != device) throw IoError("rename into", root_ / name, EXDEV);
  }
  // Work goes on where jobs are seen to be: a move that a crash cut off before it was durable would
  // take that work back with it.
  for (const std::string_view name : kPlaceNames) fs_.sync_directory(root_ / name);
}

std::vector<WaitingJob> Queue::waiting() {
  take_in_lone_programs();
  return list_jobs(Place::kIncoming);
}

std::vector<WaitingJob> Queue::active() {
  return list_jobs(Place::kActive);
}

std::vector<WaitingJob> Queue::list_jobs(Place place) {
  std::vector<WaitingJob> jobs;
  KnownJobs before = std::exchange(known_[place], {});
  for (const Entry& entry : fs_.list(place_path(root_, place))) {
    if (entry.name.front() == '.') continue;
    if (entry.kind == Entry::Kind::kDirectory) {
      KnownJob& known = known_[place][entry.name] = before[entry.name];
      look_at(known, entry, place);
      const i64 came_ns = known.queued_ns > 0 ? known.queued_ns : entry.mtime_ns;
      jobs.push_back({entry.name, known.priority, came_ns, place});
    } else if (place != Place::kIncoming || entry.kind != Entry::Kind::kFile) {
      warn_once(entry.name, "not a job; left alone");
    }
  }
  std::sort(jobs.begin(), jobs.end(), comes_first);
  return jobs;
}

void Queue::look_at(KnownJob& known, const Entry& entry, Place place) {
  const Path job = path_of(place, entry.name);
  const bool is_new = known.inode != entry.inode;
  if (is_new) known = {entry.inode};
  // A file that cannot be read is the job's own failure, reported when its turn comes.
  try {
    if (place == Place::kActive && known.queued_ns == 0) {
      known.queued_ns = read_times(fs_, job).queued_ns;
    }
    if (!is_new) return;
    const std::string text = fs_.read_text(job / kJobFile, kJobFileBytesMax);
    if (const auto spec = parse_job(std::string(kJobFile), text)) known.priority = spec->priority;
  } catch (const IoError&) {
  }
}

bool Queue::is_ready(const WaitingJob& job) {
  if (fs_.is_denied(path_of(Place::kIncoming, job.id))) {
    // That job's own fault, and no reason to keep the others waiting.
    warn_once(job.id,
              "this job's directory belongs to another user; left alone until it is given to the "
              "queue's owner (chown -R), or submitted with `epoch submit`");
    return false;
  }
  for (const std::string_view name : {kJobFile, kProgramFile, kInputFile}) {
    if (!fs_.is_being_written(path_of(Place::kIncoming, job.id) / name)) continue;
    warn_once(job.id, "a file of this job is still open for writing; waiting for it");
    return false;
  }
  return true;
}

std::optional<std::string> Queue::claim() {
  for (const WaitingJob& job : waiting()) {
    if (const auto id = claim(job)) return id;
  }
  return std::nullopt;
}

std::optional<std::string> Queue::claim(const WaitingJob& job, const Ids& at_work) {
  if (at_work.count(to_job_id(job.id)) != 0 || !is_ready(job)) return std::nullopt;
  const Path from = path_of(Place::kIncoming, job.id);
  strip_reserved_files(from);
  const std::string id = free_id(job.id, at_work);
  const auto moved = move_no_replace(fs_, from, active_path(id));
  if (moved == FileSystem::Moved::kYes) return id;
  // Cancelled or held in the meantime, or its new name was taken: the next look finds out.
  return std::nullopt;
}

void Queue::strip_reserved_files(const Path& job) {
  // Only the daemon may say what a job's answer is.
  bool is_changed = false;
  for (const std::string_view name : {kBundleFile, kResultFile, kReasonFile, kRunningFile,
                                      kStateFile, kCancelFile, kAttemptsFile}) {
    if (!fs_.exists(job / name)) continue;
    fs_.remove_tree(job / name);
    is_changed = true;
  }
  if (is_changed) fs_.sync_directory(job);
}

bool Queue::is_known(const std::string& id) {
  for (const Place place : {Place::kActive, Place::kDone, Place::kFailed, Place::kQuarantine,
                            Place::kCancelled, Place::kHold}) {
    if (fs_.exists(path_of(place, id))) return true;
  }
  return false;
}

std::string Queue::free_id(const std::string& id, const Ids& at_work) {
  const std::string clean = to_job_id(id);
  std::string candidate = clean;
  for (u32 number = 2; at_work.count(candidate) != 0 || is_known(candidate); ++number) {
    candidate = to_alternative_id(clean, number);
  }
  if (candidate != id) log::info("job renamed", {{"from", id}, {"job", candidate}});
  return candidate;
}

std::string Queue::publish(const std::string& id, Place place) {
  std::string published = id;
  for (u32 number = 2;; ++number) {
    const auto moved = move_no_replace(fs_, active_path(id), path_of(place, published));
    if (moved == FileSystem::Moved::kYes) return published;
    if (moved == FileSystem::Moved::kSourceGone) {
      throw IoError("publish the job, which vanished from", active_path(id), ENOENT);
    }
    published = to_alternative_id(id, number);
  }
}

void Queue::warn_once(const std::string& name, const char* message) {
  if (warned_.insert(name).second) log::warn(message, {{"name", name}});
}

}  // namespace epochd
