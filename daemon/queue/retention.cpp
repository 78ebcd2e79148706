#include "daemon/queue/retention.hpp"

#include <algorithm>

#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd {
namespace {

constexpr i64 kSecondsOfADay = 24 * 3600;
constexpr i64 kNanosecondsOfASecond = 1'000'000'000;
/// Jobs on their way out wait in tmp/ under this prefix.
constexpr std::string_view kExpiredPrefix = ".expired-";

struct Finished {
  std::string id;
  i64 ended_ns = 0;
  u64 bytes = 0;
};

u64 tree_bytes(FileSystem& fs, const Path& directory) {
  u64 bytes = 0;
  for (const Entry& entry : fs.list(directory)) {
    bytes += entry.kind == Entry::Kind::kDirectory ? tree_bytes(fs, directory / entry.name)
                                                   : entry.bytes;
  }
  return bytes;
}

/// Oldest first.
std::vector<Finished> finished_jobs(FileSystem& fs, const Path& root, Place place) {
  const std::string_view answer = place == Place::kDone ? kResultFile : kReasonFile;
  std::vector<Finished> jobs;
  for (const Entry& entry : fs.list(place_path(root, place))) {
    if (entry.kind != Entry::Kind::kDirectory || entry.name.front() == '.') continue;
    const Path job = place_path(root, place) / entry.name;
    try {
      const std::optional<Entry> end = fs.stat(job / answer);
      if (end) jobs.push_back({entry.name, end->mtime_ns, tree_bytes(fs, job)});
    } catch (const IoError& error) {
      if (error.code() != ENOENT) throw;  // collected or retried meanwhile
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const Finished& a, const Finished& b) {
    return a.ended_ns != b.ended_ns ? a.ended_ns < b.ended_ns : a.id < b.id;
  });
  return jobs;
}

/// False when somebody else took it.
bool remove_job(FileSystem& fs, const Path& root, Place place, const std::string& id) {
  const Path grave = root / kTmpName / (std::string(kExpiredPrefix) + id);
  fs.remove_tree(grave);  // of an earlier job of that name
  const auto moved = move_no_replace(fs, place_path(root, place) / id, grave);
  if (moved != FileSystem::Moved::kYes) return false;
  fs.remove_tree(grave);
  return true;
}

}  // namespace

Expired apply_retention(FileSystem& fs, const Path& root, Place place,
                        const RetentionLimits& limits, i64 now_unix) {
  Expired expired;
  if (limits.days == 0 && limits.bytes == 0) return expired;
  const std::vector<Finished> jobs = finished_jobs(fs, root, place);
  u64 kept_bytes = 0;
  for (const Finished& job : jobs) kept_bytes += job.bytes;
  for (const Finished& job : jobs) {
    const i64 age_s = now_unix - job.ended_ns / kNanosecondsOfASecond;
    const bool is_old = limits.days > 0 && age_s > i64{limits.days} * kSecondsOfADay;
    const bool is_too_much =
        limits.bytes > 0 && kept_bytes > limits.bytes && job.id != jobs.back().id;
    if (!is_old && !is_too_much) continue;
    if (!remove_job(fs, root, place, job.id)) continue;
    kept_bytes -= job.bytes;
    ++expired.jobs;
    expired.bytes += job.bytes;
    log::info("job removed, as the settings for retention say",
              {{"job", job.id},
               {"place", kPlaceNames[static_cast<size_t>(place)]},
               {"why", is_old ? "age" : "size"},
               {"bytes", job.bytes}});
  }
  return expired;
}

void finish_interrupted_removals(FileSystem& fs, const Path& root) {
  for (const Entry& entry : fs.list(root / kTmpName)) {
    if (entry.name.starts_with(kExpiredPrefix)) fs.remove_tree(root / kTmpName / entry.name);
  }
}

}  // namespace epochd
