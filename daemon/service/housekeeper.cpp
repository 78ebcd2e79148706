#include "daemon/service/housekeeper.hpp"

#include <algorithm>
#include <filesystem>

#include "daemon/host/host_info.hpp"
#include "daemon/log/log.hpp"

namespace epochd {
namespace {

constexpr double kCountPause_s = 1;
/// Counting a large queue takes a while: it is given at most a twentieth of the time.
constexpr double kPauseOverCount = 19;
constexpr double kExpirePause_s = 60;

/// Only the names are read: the thousands of jobs of a full queue are counted in milliseconds.
u64 count_entries(const Path& directory) {
  u64 count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool is_input = name.ends_with(".input");  // of a lone program
    if (name.front() != '.' && !is_input) ++count;
  }
  return count;
}

}  // namespace

Housekeeper::Housekeeper(const Ends& ends) : ends_(ends), thread_([this] { run(); }) {}

Housekeeper::~Housekeeper() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Housekeeper::count(const Ends& ends) {
  std::array<u64, kPlaceNames.size()> counts{};
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = count_entries(ends.root / kPlaceNames[i]);
  ends.board.set_queue(counts);
  ends.metrics.set_queue(counts);
  const std::optional<u64> free_bytes = free_disk_bytes(ends.root);
  if (free_bytes) ends.metrics.disk_free_bytes.set(static_cast<double>(*free_bytes));
}

void Housekeeper::expire(const Ends& ends) {
  const RetentionSettings settings = ends.config.latest().daemon.retention;
  const auto apply = [&](Place place, const RetentionLimits& limits) {
    const Expired expired =
        apply_retention(ends.fs, ends.root, place, limits, ends.clock.unix_seconds());
    ends.metrics.count_expired(place, expired.jobs, expired.bytes);
  };
  try {
    finish_interrupted_removals(ends.fs, ends.root);
    apply(Place::kDone, {settings.done_days, settings.done_bytes});
    apply(Place::kFailed, {settings.failed_days, settings.failed_bytes});
  } catch (const IoError& error) {
    log::warn("finished jobs cannot be removed; trying again later", {{"why", error.what()}});
  }
}

void Housekeeper::run() {
  double expired_s = ends_.clock.seconds() - kExpirePause_s;
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    lock.unlock();
    const double start_s = ends_.clock.seconds();
    count(ends_);
    const double pause_s =
        std::max(kCountPause_s, kPauseOverCount * (ends_.clock.seconds() - start_s));
    if (start_s - expired_s >= kExpirePause_s) {
      expire(ends_);
      expired_s = start_s;
    }
    lock.lock();
    changed_.wait_for(lock, std::chrono::duration<double>(pause_s), [&] { return is_ending_; });
  }
}

}  // namespace epochd
