#include "daemon/pipeline/active_monitor.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/log/log.hpp"
#include "daemon/queue/layout.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

constexpr double kCancelLookPause_s = 0.1;

/// What the owner of a job knows the phases by.
constexpr std::array<const char*, 4> kPhaseVerbs = {"execute", "prove", "assemble", "verify"};

}  // namespace

ActiveMonitor::ActiveMonitor(FileSystem& fs, const Clock& clock, const std::atomic<bool>& stop,
                             JobTurn& turn, Path job, u32 attempt, const Limits& limits)
    : fs_(fs),
      clock_(clock),
      stop_(stop),
      turn_(turn),
      job_(std::move(job)),
      attempt_(attempt),
      limits_(limits),
      phase_start_s_(clock.seconds()),
      waited_before_s_(turn.waited_s()),
      last_look_s_(phase_start_s_) {}

void ActiveMonitor::enter(Phase phase) {
  phase_ = phase;
  phase_start_s_ = clock_.seconds();
  waited_before_s_ = turn_.waited_s();
  if (phase == Phase::kAssembling) turn_.keep_lane();
  log::debug(kPhaseNames[static_cast<size_t>(phase)], {{"job", job_.filename().string()}});
  write_state();
}

void ActiveMonitor::surveyed(u64 count) {
  count_ = count;
}

void ActiveMonitor::saved(u64 label, bool was_stored) {
  saved_ = label;
  if (!was_stored) turn_.advanced();
  log::debug(was_stored ? "epoch was proved before" : "epoch proved",
             {{"job", job_.filename().string()}, {"epoch", label}, {"epochs", count_}});
  write_state();
}

void ActiveMonitor::check() {
  if (stop_) throw Interrupted(Interrupted::Why::kStop);
  if (turn_.must_leave()) throw Interrupted(Interrupted::Why::kYield);
  check_time();
  // Small epochs pass thousands of times a second: the directory is looked at now and then only.
  const double now_s = clock_.seconds();
  if (now_s - last_look_s_ < kCancelLookPause_s) return;
  last_look_s_ = now_s;
  if (fs_.exists(job_ / kCancelFile)) throw Interrupted(Interrupted::Why::kCancel);
}

void ActiveMonitor::check_time() const {
  const std::string phase = kPhaseVerbs[static_cast<size_t>(phase_)];
  const u32 limit = limit_s();
  if (limit > 0 && seconds_at_work() > limit) {
    throw JobError(Reason::kTimeout,
                   "the phase '" + phase + "' took more than " + std::to_string(limit) +
                       " s; raise timeouts." + phase + "_s in the daemon's settings",
                   phase);
  }
  if (limits_.deadline_unix && clock_.unix_seconds() > *limits_.deadline_unix) {
    throw JobError(Reason::kTimeout, "the job's deadline passed; submit it with a later one",
                   phase);
  }
}

double ActiveMonitor::seconds_at_work() const {
  const double seconds = clock_.seconds() - phase_start_s_;
  return phase_ == Phase::kExecuting ? seconds : seconds - (turn_.waited_s() - waited_before_s_);
}

u32 ActiveMonitor::limit_s() const {
  switch (phase_) {
    case Phase::kExecuting:
      return limits_.timeouts.execute_s;
    case Phase::kProving:
      return limits_.timeouts.prove_s;
    case Phase::kAssembling:
      return limits_.timeouts.assemble_s;
    case Phase::kVerifying:
      return 0;
  }
  return 0;
}

void ActiveMonitor::write_state() {
  // Who looks wants to know how much is proved, be the program still running or not.
  const bool is_proving = phase_ == Phase::kProving || (phase_ == Phase::kExecuting && saved_ > 0);
  const Phase shown = is_proving ? Phase::kProving : phase_;
  nlohmann::json state = {{"state", kPhaseNames[static_cast<size_t>(shown)]},
                          {"attempt", attempt_}};
  if (is_proving) {
    state["epoch"] = count_ > 0 ? std::min(saved_ + 1, count_) : saved_ + 1;
    if (count_ > 0) state["epochs"] = count_;
  }
  replace_file_in_haste(fs_, job_ / kStateFile, as_bytes(state.dump() + "\n"));
}

}  // namespace epochd
