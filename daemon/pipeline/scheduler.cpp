#include "daemon/pipeline/scheduler.hpp"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

namespace epochd {
namespace {

constexpr std::chrono::milliseconds kTurnPause(2);

bool is_older(const WaitingJob& a, const WaitingJob& b) {
  return a.mtime_ns != b.mtime_ns ? a.mtime_ns < b.mtime_ns : a.id < b.id;
}

}  // namespace

void wait_for_turn(ProvingTurn& turn, const std::function<void()>& check) {
  while (!turn.try_take()) {
    check();
    std::this_thread::sleep_for(kTurnPause);
  }
}

void Scheduler::set_ageing(double seconds) {
  const std::lock_guard lock(mutex_);
  ageing_s_ = seconds;
}

void Scheduler::set_waiting(const std::vector<WaitingJob>& jobs) {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  for (const WaitingJob& job : jobs) waiting_[job.priority].push_back(job);
  for (auto& [priority, of_class] : waiting_) {
    std::sort(of_class.begin(), of_class.end(),
              [](const WaitingJob& a, const WaitingJob& b) { return is_older(b, a); });
  }
  note_classes();
}

std::optional<WaitingJob> Scheduler::next() {
  const std::lock_guard lock(mutex_);
  const double now_s = clock_.seconds();
  const auto best =
      std::max_element(waiting_.begin(), waiting_.end(), [&](const auto& a, const auto& b) {
        return effective(a.first, now_s) < effective(b.first, now_s);
      });
  if (best == waiting_.end()) return std::nullopt;
  WaitingJob job = std::move(best->second.back());
  best->second.pop_back();
  if (best->second.empty()) waiting_.erase(best);
  return job;
}

void Scheduler::put_back(const WaitingJob& job) {
  const std::lock_guard lock(mutex_);
  waiting_[job.priority].push_back(job);
}

bool Scheduler::is_anyone_waiting() const {
  const std::lock_guard lock(mutex_);
  return !waiting_.empty();
}

void Scheduler::begin(const WaitingJob& job) {
  const std::lock_guard lock(mutex_);
  Lane& lane = lanes_[job.id];
  lane.priority = job.priority;
  lane.age = job.mtime_ns;
  note_classes();
}

void Scheduler::end(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) return;
  leave_line(found->second, id);
  lanes_.erase(found);
  note_classes();
}

void Scheduler::ask_for_lane(const WaitingJob& job) {
  const std::lock_guard lock(mutex_);
  const double now_s = clock_.seconds();
  Lanes::value_type* last = nullptr;
  for (auto& lane : lanes_) {
    if (lane.second.is_leaving) return;
    if (!lane.second.may_leave) continue;
    if (last == nullptr || comes_before(*last, lane, now_s)) last = &lane;
  }
  if (last == nullptr) return;
  const i32 of_last = last->second.priority;
  last->second.is_leaving = effective(job.priority, now_s) > effective(of_last, now_s);
}

void Scheduler::lift(const std::string& other, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto lifted = lanes_.find(other);
  const auto waits = lanes_.find(id);
  if (lifted == lanes_.end() || waits == lanes_.end()) return;
  lifted->second.priority = std::max(lifted->second.priority, waits->second.priority);
  note_classes();
}

void Scheduler::note_classes() {
  std::set<i32> present;
  for (const auto& [priority, jobs] : waiting_) present.insert(priority);
  for (const auto& [id, lane] : lanes_) present.insert(lane.priority);
  std::erase_if(class_since_s_, [&](const auto& of) { return present.count(of.first) == 0; });
  for (const i32 priority : present) class_since_s_.emplace(priority, clock_.seconds());
}

double Scheduler::effective(i32 priority, double now_s) const {
  const auto since = class_since_s_.find(priority);
  const bool is_served = holder_ && lanes_.at(*holder_).priority == priority;
  if (is_served || since == class_since_s_.end()) return priority;
  return priority + (now_s - since->second) / ageing_s_;
}

bool Scheduler::comes_before(const Lanes::value_type& a, const Lanes::value_type& b,
                             double now_s) const {
  if (a.second.priority != b.second.priority) {
    return effective(a.second.priority, now_s) > effective(b.second.priority, now_s);
  }
  return a.second.age != b.second.age ? a.second.age < b.second.age : a.first < b.first;
}

Scheduler::Lanes::value_type* Scheduler::first_in_line(double now_s) {
  Lanes::value_type* first = nullptr;
  for (auto& lane : lanes_) {
    if (!lane.second.is_in_line) continue;
    if (first == nullptr || comes_before(lane, *first, now_s)) first = &lane;
  }
  return first;
}

void Scheduler::grant() {
  if (holder_) return;
  const double now_s = clock_.seconds();
  Lanes::value_type* const first = first_in_line(now_s);
  if (first == nullptr) return;
  Lane& lane = first->second;
  lane.is_in_line = false;
  lane.waited_s += now_s - lane.in_line_since_s;
  holder_ = first->first;
  has_advanced_ = false;
  if (lane.told) lane.told();
}

void Scheduler::leave_line(Lane& lane, const std::string& id) {
  if (lane.is_in_line) lane.waited_s += clock_.seconds() - lane.in_line_since_s;
  lane.is_in_line = false;
  if (holder_ != id) return;
  class_since_s_[lane.priority] = clock_.seconds();
  holder_.reset();
  grant();
}

JobTurn::JobTurn(Scheduler& scheduler, std::string id) : scheduler_(scheduler), id_(std::move(id)) {
  const std::lock_guard lock(scheduler_.mutex_);
  has_made_lane_ = scheduler_.lanes_.try_emplace(id_).second;
  if (has_made_lane_) scheduler_.note_classes();
}

JobTurn::~JobTurn() {
  give_back();
  on_turn({});
  if (has_made_lane_) scheduler_.end(id_);
}

void JobTurn::watch_energy(std::function<std::optional<double>()> joules) {
  meter_ = std::move(joules);
}

bool JobTurn::try_take() {
  const bool has_it = stand_in_line();
  if (has_it && meter_ && !std::exchange(is_metered_, true)) begin_joules_ = meter_();
  return has_it;
}

/// Adds what was taken since the turn began.
void JobTurn::read_meter() {
  if (!std::exchange(is_metered_, false)) return;
  const std::optional<double> end = meter_();
  has_failed_reading_ = has_failed_reading_ || !begin_joules_ || !end || *end < *begin_joules_;
  joules_ = has_failed_reading_ ? std::nullopt
                                : std::optional(joules_.value_or(0) + *end - *begin_joules_);
}

bool JobTurn::stand_in_line() {
  const std::lock_guard lock(scheduler_.mutex_);
  if (scheduler_.holder_ == id_) return true;
  Scheduler::Lane& lane = scheduler_.lanes_.at(id_);
  if (!lane.is_in_line) {
    lane.is_in_line = true;
    lane.in_line_since_s = scheduler_.clock_.seconds();
    scheduler_.grant();
  }
  return scheduler_.holder_ == id_;
}

bool JobTurn::is_wanted() const {
  const std::lock_guard lock(scheduler_.mutex_);
  if (scheduler_.holder_ != id_ || !scheduler_.has_advanced_) return false;
  const double now_s = scheduler_.clock_.seconds();
  const auto* first = scheduler_.first_in_line(now_s);
  if (first == nullptr) return false;
  const i32 mine = scheduler_.lanes_.at(id_).priority;
  return scheduler_.effective(first->second.priority, now_s) > scheduler_.effective(mine, now_s);
}

void JobTurn::give_back() {
  read_meter();
  const std::lock_guard lock(scheduler_.mutex_);
  const auto found = scheduler_.lanes_.find(id_);
  if (found != scheduler_.lanes_.end()) scheduler_.leave_line(found->second, id_);
}

void JobTurn::on_turn(std::function<void()> told) {
  const std::lock_guard lock(scheduler_.mutex_);
  const auto found = scheduler_.lanes_.find(id_);
  if (found != scheduler_.lanes_.end()) found->second.told = std::move(told);
}

void JobTurn::advanced() {
  const std::lock_guard lock(scheduler_.mutex_);
  if (scheduler_.holder_ == id_) scheduler_.has_advanced_ = true;
}

bool JobTurn::must_leave() const {
  const std::lock_guard lock(scheduler_.mutex_);
  const auto found = scheduler_.lanes_.find(id_);
  if (found == scheduler_.lanes_.end() || !found->second.is_leaving) return false;
  // The turn it has, it makes something of.
  return scheduler_.holder_ != id_ || scheduler_.has_advanced_;
}

void JobTurn::keep_lane() {
  const std::lock_guard lock(scheduler_.mutex_);
  const auto found = scheduler_.lanes_.find(id_);
  if (found == scheduler_.lanes_.end()) return;
  found->second.may_leave = false;
  found->second.is_leaving = false;
}

double JobTurn::waited_s() const {
  const std::lock_guard lock(scheduler_.mutex_);
  const auto found = scheduler_.lanes_.find(id_);
  if (found == scheduler_.lanes_.end()) return 0;
  const Scheduler::Lane& lane = found->second;
  const double now_s = lane.is_in_line ? scheduler_.clock_.seconds() - lane.in_line_since_s : 0;
  return lane.waited_s + now_s;
}

bool JobTurn::is_waiting() const {
  const std::lock_guard lock(scheduler_.mutex_);
  const auto found = scheduler_.lanes_.find(id_);
  return found != scheduler_.lanes_.end() && found->second.is_in_line;
}

}  // namespace epochd
