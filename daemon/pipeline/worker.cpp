#include "daemon/pipeline/worker.hpp"

#include <algorithm>
#include <utility>

#include "daemon/host/host_info.hpp"
#include "daemon/log/log.hpp"
#include "daemon/queue/finish.hpp"
#include "daemon/queue/job_id.hpp"

namespace epochd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

/// Room for an epoch's proof and the records around it; with less, nothing is begun.
constexpr u64 kRoomBytes = u64{64} << 20;
/// While every lane has a job: how often a queue that changes is looked at, unless that takes long,
/// and how often those that wait are compared with those that run.
constexpr milliseconds kLookPause(20);
constexpr int kPauseOverLook = 10;
constexpr milliseconds kComparePause(1000);

}  // namespace

Worker::Worker(FileSystem& fs, Queue& queue, JobHandler& handler, SettingsSource settings,
               std::atomic<bool>& stop, WorkerObserver* observer)
    : fs_(fs),
      queue_(queue),
      handler_(handler),
      source_(std::move(settings)),
      stop_(stop),
      observer_(observer) {}

Worker::Worker(FileSystem& fs, Queue& queue, JobHandler& handler, const DaemonSettings& settings,
               std::atomic<bool>& stop, WorkerObserver* observer)
    : Worker(
          fs, queue, handler, [&settings] { return settings; }, stop, observer) {}

Worker::Report Worker::run(bool once) {
  try {
    finish_interrupted_jobs();
    start_lanes();
    serve(once);
  } catch (...) {
    note_error(std::current_exception());
  }
  end_lanes();
  take_in_ended();
  if (error_) std::rethrow_exception(error_);
  return report_;
}

void Worker::finish_interrupted_jobs() {
  try {
    for (const WaitingJob& job : queue_.active()) {
      const bool is_decided = has_decision(fs_, queue_.active_path(job.id));
      if (is_decided && !stop_) note(handle(job.id));
    }
  } catch (const IoError&) {
    note_error(std::current_exception());  // the lanes will meet them
  }
}

void Worker::start_lanes() {
  settings_ = source_();
  lane_count_ = settings_.jobs_at_once;
  for (size_t i = 0; i < lane_count_; ++i) lanes_.emplace_back([this] { run_lane(); });
}

void Worker::end_lanes() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    jobs_.clear();  // they stay in active/
  }
  assigned_.notify_all();
  for (std::thread& lane : lanes_) lane.join();
  lanes_.clear();
}

void Worker::run_lane() {
  for (;;) {
    std::unique_lock lock(mutex_);
    assigned_.wait(lock, [&] { return is_ending_ || !jobs_.empty(); });
    if (is_ending_) return;
    const std::string id = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    Ended ended = handle(id);
    handler_.scheduler().end(id);
    lock.lock();
    ended_.push_back(std::move(ended));
    changed_.notify_all();
  }
}

Worker::Ended Worker::handle(const std::string& id) {
  Ended ended;
  ended.id = id;
  if (observer_ != nullptr) observer_->started(id);
  try {
    ended.outcome = handler_.handle(id);
  } catch (...) {
    ended.error = std::current_exception();  // it stays in active/
  }
  if (observer_ != nullptr) observer_->ended(id, ended.outcome);
  return ended;
}

void Worker::serve(bool once) {
  for (;;) {
    take_in_ended();
    if (stop_) return;
    if (observer_ != nullptr) observer_->between_jobs();
    settings_ = source_();
    handler_.scheduler().set_ageing(settings_.ageing_s);
    report_.is_blocked = is_blocked(once);
    if (!report_.is_blocked) fill_lanes();
    const bool is_idle = running_.empty() && (report_.is_blocked || not_before_.empty());
    if (once && is_idle) return;
    if (observer_ != nullptr) observer_->resting(report_.is_blocked);
    wait();
  }
}

void Worker::take_in_ended() {
  std::deque<Ended> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
  }
  for (const Ended& one : ended) note(one);
}

void Worker::note(const Ended& ended) {
  running_.erase(ended.id);
  must_look_ = must_look_ || !twins_.empty() || std::exchange(is_left_for_later_, false);
  if (ended.outcome != Outcome::kTwin) twins_.clear();
  if (ended.error) return note_error(ended.error);
  is_short_of_room_ = is_short_of_room_ && ended.outcome != Outcome::kDone;
  switch (ended.outcome) {
    case Outcome::kDone:
      ++report_.done;
      break;
    case Outcome::kFailed:
      ++report_.failed;
      break;
    case Outcome::kCancelled:
      ++report_.cancelled;
      break;
    case Outcome::kRetry:
      not_before_[ended.id] = SteadyClock::now() + seconds(settings_.retries.delay_s);
      break;
    case Outcome::kDiskFull:
      is_short_of_room_ = true;
      block();
      break;
    case Outcome::kTwin:
      twins_.insert(ended.id);
      break;
    case Outcome::kYielded:
    case Outcome::kStopped:
      must_look_ = true;
      break;
  }
}

/// The queue's own failures pass; anything else ends the worker.
void Worker::note_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const IoError& io) {
    // Neither the job nor its failure could be written down. It stays where it is.
    log::error("the queue cannot be written; trying again later", {{"message", io.what()}});
    block();
  } catch (...) {
    if (!error_) error_ = std::current_exception();
    stop_ = true;
  }
}

void Worker::block() {
  blocked_until_ = SteadyClock::now() + seconds(settings_.rescan_s);
  must_look_ = true;
}

/// With `once`, what the disk did not let through is left.
bool Worker::is_blocked(bool once) {
  if (blocked_until_ == Time()) return false;
  if (once || SteadyClock::now() < blocked_until_) return true;
  const auto free = free_disk_bytes(queue_.root());
  if (is_short_of_room_ && free && *free < kRoomBytes) {
    block();
    return true;
  }
  blocked_until_ = Time();
  return false;
}

void Worker::fill_lanes() {
  try {
    give_jobs();
    if (is_full()) ask_for_lane();
  } catch (const IoError&) {
    note_error(std::current_exception());
    report_.is_blocked = true;
  }
}

void Worker::give_jobs() {
  const Time now = SteadyClock::now();
  must_look_ |= std::erase_if(not_before_, [&](const auto& job) { return job.second <= now; }) > 0;
  if (running_.empty() && !twins_.empty()) {
    twins_.clear();
    must_look_ = true;
  }
  bool has_looked = must_look_ && now - looked_ >= look_pause();
  if (has_looked) look();
  // Jobs that wait for an equal one are as many as the lanes at most: the queue may be full of
  // such.
  while (!is_full() && twins_.size() < lane_count_) {
    const std::optional<WaitingJob> job = handler_.scheduler().next();
    if (job) {
      begin(*job);  // or it cannot be claimed now: the next look finds it again
    } else if (!has_looked) {
      look();  // the last look was a while ago
      has_looked = true;
    } else {
      return;
    }
  }
}

void Worker::ask_for_lane() {
  const std::optional<WaitingJob> job = handler_.scheduler().next();
  if (!job) return;
  if (job->place == Place::kActive || queue_.is_ready(*job)) {
    handler_.scheduler().ask_for_lane(*job);
  }
  handler_.scheduler().put_back(*job);
}

/// A large queue that changes all the time is looked at half of this thread's time at most, and
/// less while no lane is free. Meanwhile jobs are begun as they were seen last.
Worker::Pause Worker::look_pause() const {
  if (!is_full()) return handler_.scheduler().is_anyone_waiting() ? look_took_ : Pause(0);
  return std::max<Pause>(kLookPause, kPauseOverLook * look_took_);
}

void Worker::look() {
  const Time start = SteadyClock::now();
  std::vector<WaitingJob> jobs;
  for (WaitingJob& job : queue_.active()) {
    const bool is_free =
        running_.count(job.id) + twins_.count(job.id) + not_before_.count(job.id) == 0;
    if (is_free) jobs.push_back(std::move(job));
  }
  for (WaitingJob& job : queue_.waiting()) jobs.push_back(std::move(job));
  handler_.scheduler().set_waiting(jobs);
  looked_ = SteadyClock::now();
  look_took_ = looked_ - start;
  must_look_ = false;
}

void Worker::begin(const WaitingJob& job) {
  WaitingJob claimed = job;
  if (job.place != Place::kActive) {
    const std::optional<std::string> id = queue_.claim(job, running_);
    is_left_for_later_ = is_left_for_later_ || (!id && running_.count(to_job_id(job.id)) != 0);
    if (!id) return;
    claimed.id = *id;
  }
  handler_.scheduler().begin(claimed);
  running_.insert(claimed.id);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(claimed.id);
  }
  assigned_.notify_one();
}

Worker::Time Worker::next_time() const {
  const Time now = SteadyClock::now();
  if (report_.is_blocked) return blocked_until_;
  // Never before it may look again, or this would not wait at all: a slow disk's listing can take
  // longer than the time between two.
  const Pause to_look = must_look_ ? Pause(0) : Pause(seconds(settings_.rescan_s));
  Time next = looked_ + std::max(to_look, look_pause());
  for (const auto& [id, time] : not_before_) next = std::min(next, time);
  if (is_full() && handler_.scheduler().is_anyone_waiting()) {
    next = std::min(next, now + kComparePause);
  }
  return next;
}

void Worker::wait() {
  const Time next = next_time();
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, next, [&] { return is_woken_ || stop_ || !ended_.empty(); });
  const bool is_rescan = SteadyClock::now() >= looked_ + seconds(settings_.rescan_s);
  must_look_ = must_look_ || is_woken_ || is_rescan;
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
