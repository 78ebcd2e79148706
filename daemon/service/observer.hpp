// Sees what becomes of jobs, from the worker's threads, and writes it on the board and into the
// metrics. The provers it hands on are the given ones with eyes on them.
#pragma once

#include <map>
#include <mutex>
#include <thread>

#include "daemon/pipeline/worker.hpp"
#include "daemon/service/board.hpp"
#include "daemon/service/daemon_metrics.hpp"
#include "daemon/service/live_config.hpp"

namespace epochd {

class ServiceObserver : public WorkerObserver {
 public:
  struct Ends {
    Board& board;
    DaemonMetrics& metrics;
    LiveConfig& config;
    const Clock& clock;
    /// The device proved before and failed a whole attempt; called after that, once.
    std::function<void()> device_lost;
  };

  /// What `ends` refers to outlives this.
  explicit ServiceObserver(Ends ends) : ends_(std::move(ends)) {}

  void between_jobs() override;
  void resting(bool is_blocked) override;
  void started(const std::string& id) override;
  void ended(const std::string& id, Outcome outcome) override;

  /// The provers of the result do not outlive this. They are made and used on the thread on which
  /// the job was said to have started.
  JobProverFactory observe(JobProverFactory make);

 private:
  class Prover;

  /// Of a lane's job. Threads: the lane's.
  struct Attempt {
    std::string id;
    double start_s = 0;
    bool device_failed = false;
    bool device_proved = false;
    bool had_new_workers = false;
  };

  /// The calling thread's.
  Attempt& attempt();
  void note_usage(Attempt& attempt, const ProverUsage& usage, ProverUsage& seen);
  void note_stages(const std::map<std::string, double>& totals,
                   std::map<std::string, double>& seen);
  void note_error(Attempt& attempt, Reason reason);
  /// True once, when the device is lost for good.
  bool judge_device(const Attempt& attempt);
  void purge(double pause_s);

  Ends ends_;
  std::mutex mutex_;
  std::map<std::thread::id, Attempt> attempts_;
  double purged_s_ = 0;
  bool is_purge_due_ = false;
  bool has_device_proved_ = false;
  bool said_device_lost_ = false;
};

}  // namespace epochd
