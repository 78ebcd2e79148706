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
  if (job.phase != "proving") return text;
  const std::string count = job.epochs > 0 ? std::to_string(job.epochs) : "?";
  const u64 epoch =
      job.epochs > 0 ? std::min(job.epochs_done + 1, job.epochs) : job.epochs_done + 1;
  return text + ": epoch " + std::to_string(epoch) + " of " + count;
}

}  // namespace

void Board::advance() {
  const std::lock_guard lock(mutex_);
  ++progress_;
  advanced_s_ = clock_.seconds();
  is_resting_ = false;
}

void Board::rest() {
  const std::lock_guard lock(mutex_);
  is_resting_ = true;
}

void Board::begin_job(RunningJob job) {
  const std::lock_guard lock(mutex_);
  job.started_unix = clock_.unix_seconds();
  job_start_s_ = clock_.seconds();
  view_.job = std::move(job);
}

void Board::enter_phase(const std::string& phase) {
  const std::lock_guard lock(mutex_);
  if (view_.job) view_.job->phase = phase;
}

void Board::set_backend(const std::string& backend, const std::string& fallback) {
  const std::lock_guard lock(mutex_);
  if (!view_.job) return;
  view_.job->backend = backend;
  view_.job->fallback = fallback;
}

void Board::set_epochs(u64 count) {
  const std::lock_guard lock(mutex_);
  if (view_.job) view_.job->epochs = count;
}

void Board::set_epochs_done(u64 count) {
  const std::lock_guard lock(mutex_);
  if (view_.job) view_.job->epochs_done = count;
}

void Board::end_job(const std::string& outcome) {
  const std::lock_guard lock(mutex_);
  if (!view_.job) return;
  EndedJob ended{view_.job->id, outcome, view_.job->epochs_done, clock_.seconds() - job_start_s_,
                 clock_.unix_seconds()};
  push_bounded(view_.ended, std::move(ended), kEndedMax);
  view_.job.reset();
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
  view.stalled_seconds = is_resting_ ? 0 : clock_.seconds() - advanced_s_;
  return view;
}

u64 Board::progress() {
  const std::lock_guard lock(mutex_);
  if (is_resting_) ++progress_;
  return progress_;
}

std::string Board::summary() const {
  const std::lock_guard lock(mutex_);
  std::string text = view_.job ? job_text(*view_.job) : "idle";
  if (view_.is_draining) text = "stopping; " + text;
  if (view_.is_blocked) text += "; nothing is begun until the disk takes it";
  const u64 queued = view_.queue[static_cast<size_t>(Place::kIncoming)];
  return text + "; " + std::to_string(queued) + " queued";
}

}  // namespace epochd
