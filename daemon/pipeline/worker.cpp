#include "daemon/pipeline/worker.hpp"

#include <chrono>

#include "daemon/host/host_info.hpp"
#include "daemon/log/log.hpp"

namespace epochd {
namespace {

/// Room for an epoch's proof and the records around it; with less, nothing is begun.
constexpr u64 kRoomBytes = u64{64} << 20;

}  // namespace

Worker::Worker(FileSystem& fs, Queue& queue, JobHandler& handler, const DaemonSettings& settings,
               std::atomic<bool>& stop, WorkerObserver* observer)
    : fs_(fs),
      queue_(queue),
      handler_(handler),
      settings_(settings),
      stop_(stop),
      observer_(observer) {}

Worker::Report Worker::run(bool once) {
  Report report;
  while (!stop_) {
    report.is_blocked = false;
    if (observer_ != nullptr) observer_->between_jobs();
    if (step(report)) continue;
    if (once) break;
    if (observer_ != nullptr) observer_->resting(report.is_blocked);
    wait(settings_.rescan_s);
  }
  return report;
}

bool Worker::step(Report& report) {
  if (is_short_of_room_ && !has_room()) {
    report.is_blocked = true;
    return false;
  }
  try {
    const std::optional<std::string> id = next_job();
    if (!id) return false;
    const Outcome outcome = handle(*id);
    count(report, outcome);
    if (outcome == Outcome::kRetry) {
      if (observer_ != nullptr) observer_->resting(false);
      wait(settings_.retries.delay_s);
    }
    is_short_of_room_ = outcome == Outcome::kDiskFull;
    report.is_blocked = is_short_of_room_;
    return !is_short_of_room_;
  } catch (const IoError& error) {
    // Neither the job nor its failure could be written down. It stays where it is.
    log::error("the queue cannot be written; trying again later", {{"message", error.what()}});
    report.is_blocked = true;
    return false;
  }
}

Outcome Worker::handle(const std::string& id) {
  if (observer_ == nullptr) return handler_.handle(id);
  observer_->started(id);
  try {
    const Outcome outcome = handler_.handle(id);
    observer_->ended(id, outcome);
    return outcome;
  } catch (...) {
    observer_->ended(id, Outcome::kRetry);  // it stays in active/
    throw;
  }
}

std::optional<std::string> Worker::next_job() {
  const std::vector<WaitingJob> active = queue_.active();
  if (!active.empty()) return active.front().id;
  return queue_.claim();
}

void Worker::count(Report& report, Outcome outcome) {
  if (outcome == Outcome::kDone) ++report.done;
  if (outcome == Outcome::kFailed) ++report.failed;
  if (outcome == Outcome::kCancelled) ++report.cancelled;
}

bool Worker::has_room() {
  const auto free = free_disk_bytes(queue_.root());
  return !free || *free >= kRoomBytes;
}

void Worker::wait(u32 seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(seconds), [&] { return is_woken_ || stop_; });
  is_woken_ = false;
}

void Worker::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  changed_.notify_all();
}

void Worker::stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

}  // namespace epochd
