// Sees what becomes of jobs, from the worker's thread, and writes it on the board and into the
// metrics. The prover it hands on is the given one with eyes on it.
#pragma once

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
    /// The device proved before and failed a whole attempt; called between jobs, once.
    std::function<void()> device_lost;
  };

  /// What `ends` refers to outlives this.
  explicit ServiceObserver(Ends ends) : ends_(std::move(ends)) {}

  void between_jobs() override;
  void resting(bool is_blocked) override;
  void started(const std::string& id) override;
  void ended(const std::string& id, Outcome outcome) override;

  /// The provers of the result do not outlive this.
  JobProverFactory observe(JobProverFactory make);

 private:
  class Prover;

  void note_backend(const ProverUsage& usage);
  void note_usage(const ProverUsage& usage, ProverUsage& seen);
  void note_stages(const std::map<std::string, double>& totals,
                   std::map<std::string, double>& seen);
  void note_error(Reason reason);
  void purge();

  Ends ends_;
  double job_start_s_ = 0;
  double purged_s_ = 0;
  bool is_purge_due_ = false;
  // Of the attempt under way:
  bool device_failed_ = false;
  bool device_proved_ = false;
  bool had_new_workers_ = false;
  // Of this process:
  bool has_device_proved_ = false;
  bool said_device_lost_ = false;
};

}  // namespace epochd
