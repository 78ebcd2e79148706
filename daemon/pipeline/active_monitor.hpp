// Watches an active job for the daemon: writes where it is, and stops it when the daemon is asked
// to stop, the job is cancelled, a phase takes too long or the deadline passes.
#pragma once

#include <atomic>
#include <exception>
#include <optional>

#include "daemon/pipeline/clock.hpp"
#include "daemon/pipeline/run_job.hpp"
#include "daemon/pipeline/scheduler.hpp"

namespace epochd {

/// Ends a job without blame and without an answer.
struct Interrupted : std::exception {
  enum class Why : u8 {
    kStop,
    kCancel,
    kYield,  ///< a job that comes before it needs the lane
    kTwin,   ///< an equal job is being proved
  };
  explicit Interrupted(Why reason) : why(reason) {}
  const char* what() const noexcept override { return "interrupted"; }
  Why why;
};

class ActiveMonitor : public JobMonitor {
 public:
  struct Limits {
    TimeoutSettings timeouts;
    std::optional<i64> deadline_unix;
  };

  /// `job` is the job's directory in active/. All references outlive the monitor.
  ActiveMonitor(FileSystem& fs, const Clock& clock, const std::atomic<bool>& stop, JobTurn& turn,
                Path job, u32 attempt, const Limits& limits);

  void enter(Phase phase) override;
  void surveyed(u64 count) override;
  void saved(u64 label, bool was_stored) override;
  /// Errors: Interrupted; JobError(kTimeout).
  void check() override;

 private:
  void check_time() const;
  u32 limit_s() const;
  /// In this phase, but for waiting for others to prove; running the program waits for nobody.
  double seconds_at_work() const;
  void write_state();

  FileSystem& fs_;
  const Clock& clock_;
  const std::atomic<bool>& stop_;
  JobTurn& turn_;
  Path job_;
  u32 attempt_;
  Limits limits_;
  Phase phase_ = Phase::kExecuting;
  double phase_start_s_;
  double waited_before_s_;  ///< for its turn, in earlier phases
  double last_look_s_;
  u64 saved_ = 0;
  u64 count_ = 0;  ///< 0: not known yet
};

}  // namespace epochd
