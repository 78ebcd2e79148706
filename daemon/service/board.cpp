#include "daemon/service/board.hpp"

#include <algorithm>

namespace epochd {
namespace {

template <class T>
void push_bounded(std::deque<T>& items, T item, size_t count_max) {
  items.push_back(std::move(item));
  if (items.size() > count_max) items.pop_front();
}

std::string job_text(const RunningJob& job) {
  std::string text = job.phase + " " + job.id;
  if (job.is_waiting) text += " (waiting for its turn)";
  if (job.phase != "proving") return text;
  const std::string count = job.epochs > 0 ? std::to_string(job.epochs) : "?";
  const u64 epoch =
      job.epochs > 0 ? std::min(job.epochs_done + 1, job.epochs) : job.epochs_done + 1;
  return text + ": epoch " + std::to_string(epoch) + " of " + count;
}

}  // namespace

void Board::advance() {
  const std::lock_guard lock(mutex_);
  has_advanced_ = true;
  advanced_s_ = clock_.seconds();
  is_resting_ = false;
}

void Board::rest() {
  const std::lock_guard lock(mutex_);
  is_resting_ = true;
}

template <class Change>
void Board::change(const std::string& id, Change change_lane) {
  const std::lock_guard lock(mutex_);
  for (Lane& lane : lanes_) {
    if (lane.job.id == id) change_lane(lane);
  }
}

void Board::begin_job(const std::string& id) {
  const std::lock_guard lock(mutex_);
  Lane lane;
  lane.job.id = id;
  lane.job.started_unix = clock_.unix_seconds();
  lane.start_s = lane.advanced_s = clock_.seconds();
  lanes_.push_back(std::move(lane));
}

void Board::advance(const std::string& id) {
  change(id, [&](Lane& lane) {
    lane.has_advanced = true;
    lane.advanced_s = clock_.seconds();
  });
}

void Board::enter_phase(const std::string& id, const std::string& phase) {
  change(id, [&](Lane& lane) { lane.job.phase = phase; });
}

void Board::set_backend(const std::string& id, const std::string& backend,
                        const std::string& fallback) {
  change(id, [&](Lane& lane) {
    lane.job.backend = backend;
    lane.job.fallback = fallback;
  });
}

void Board::set_epochs(const std::string& id, u64 count) {
  change(id, [&](Lane& lane) { lane.job.epochs = count; });
}

void Board::set_epochs_done(const std::string& id, u64 count) {
  change(id, [&](Lane& lane) { lane.job.epochs_done = count; });
}

void Board::set_waiting(const std::string& id, bool is_waiting) {
  change(id, [&](Lane& lane) {
    // From here on it is expected to go forward.
    if (lane.job.is_waiting && !is_waiting) lane.advanced_s = clock_.seconds();
    lane.job.is_waiting = is_waiting;
  });
}

void Board::end_job(const std::string& id, const std::string& outcome) {
  change(id, [&](const Lane& lane) {
    EndedJob ended{id, outcome, lane.job.epochs_done, clock_.seconds() - lane.start_s,
                   clock_.unix_seconds()};
    push_bounded(view_.ended, std::move(ended), kEndedMax);
  });
  const std::lock_guard lock(mutex_);
  std::erase_if(lanes_, [&](const Lane& lane) { return lane.job.id == id; });
}

void Board::set_device_bytes(u64 device_bytes) {
  const std::lock_guard lock(mutex_);
  device_bytes_ = device_bytes;
}

void Board::set_blocked(bool is_blocked) {
  const std::lock_guard lock(mutex_);
  view_.is_blocked = is_blocked;
}

void Board::set_draining() {
  const std::lock_guard lock(mutex_);
  view_.is_draining = true;
}

void Board::set_refused(std::string why) {
  const std::lock_guard lock(mutex_);
  refused_ = std::move(why);
}

void Board::set_queue(const std::array<u64, kPlaceNames.size()>& counts) {
  const std::lock_guard lock(mutex_);
  view_.queue = counts;
}

void Board::set_devices(std::vector<DeviceInfo> devices) {
  const std::lock_guard lock(mutex_);
  view_.devices = std::move(devices);
}

void Board::sample(double epochs_total, u64 resident_bytes) {
  const std::lock_guard lock(mutex_);
  const double now_s = clock_.seconds();
  const double elapsed_s = now_s - sampled_s_;
  const double rate = elapsed_s > 0 ? (epochs_total - sampled_epochs_) / elapsed_s : 0;
  sampled_epochs_ = epochs_total;
  sampled_s_ = now_s;
  push_bounded(view_.history,
               HistorySample{clock_.unix_seconds(), rate, resident_bytes, device_bytes_},
               kHistoryMax);
}

BoardView Board::view() const {
  const std::lock_guard lock(mutex_);
  BoardView view = view_;
  const double now_s = clock_.seconds();
  if (!is_resting_) view.stalled_seconds = now_s - advanced_s_;
  for (const Lane& lane : lanes_) {
    view.jobs.push_back(lane.job);
    if (lane.job.is_waiting) continue;
    view.stalled_seconds = std::max(view.stalled_seconds, now_s - lane.advanced_s);
  }
  return view;
}

bool Board::take_progress() {
  const std::lock_guard lock(mutex_);
  const bool is_all = std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
    return lane.has_advanced || lane.job.is_waiting;
  });
  if (!is_all || !(has_advanced_ || is_resting_)) return false;
  has_advanced_ = false;
  for (Lane& lane : lanes_) lane.has_advanced = false;
  return true;
}

std::string Board::summary() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const Lane& lane : lanes_) text += (text.empty() ? "" : ", ") + job_text(lane.job);
  if (text.empty()) text = "idle";
  if (view_.is_draining) text = "stopping; " + text;
  if (view_.is_blocked) text += "; nothing is begun until the disk takes it";
  const u64 queued = view_.queue[static_cast<size_t>(Place::kIncoming)];
  text += "; " + std::to_string(queued) + " queued";
  return refused_.empty() ? text : text + "; kept the old settings: " + refused_;
}

}  // namespace epochd
