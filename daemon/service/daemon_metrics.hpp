// The series the daemon exports, by name. docs/operations.md has the table.
#pragma once

#include <map>
#include <mutex>

#include "daemon/pipeline/job_handler.hpp"
#include "daemon/queue/layout.hpp"
#include "daemon/queue/reason.hpp"
#include "daemon/service/metrics.hpp"

namespace epochd {

constexpr std::array<std::string_view, 8> kOutcomeLabels = {
    "done", "failed", "cancelled", "retry", "stopped", "disk-full", "yielded", "waits-for-equal"};

/// Threads: any.
class DaemonMetrics {
 public:
  explicit DaemonMetrics(MetricsRegistry& registry, i64 start_unix);

  void count_outcome(Outcome outcome) { outcomes_[static_cast<size_t>(outcome)]->add(); }
  void count_error(Reason reason) { errors_[static_cast<size_t>(reason)]->add(); }
  void set_queue(const std::array<u64, kPlaceNames.size()>& counts);
  void count_expired(Place place, u64 jobs, u64 bytes);
  void add_stage(const std::string& stage, double seconds);
  void count_http(unsigned status);
  void count_reload(bool is_accepted) { reloads_[is_accepted ? 0 : 1]->add(); }
  /// Reads what the kernel, the allocator and the log count.
  void refresh();

  Metric& epochs_proved;
  Metric& epochs_resumed;
  Metric& cycles;
  Metric& fallbacks;
  Metric& retries;
  Metric& refused_proofs;
  Metric& worker_restarts;
  Metric& bytes_to_device;
  Metric& bytes_from_device;
  Metric& device_bytes;
  Metric& job_running;
  Metric& jobs_waiting;
  Metric& disk_free_bytes;
  Histogram& job_seconds;

 private:
  MetricsRegistry& registry_;
  std::array<Metric*, kOutcomeLabels.size()> outcomes_{};
  std::array<Metric*, kReasonNames.size()> errors_{};
  std::array<Metric*, kPlaceNames.size()> queue_{};
  std::array<Metric*, 2> reloads_{};
  std::mutex stages_mutex_;
  std::map<std::string, Metric*> stages_;
  std::array<Metric*, 6> allocator_{};
  Metric& resident_;
  Metric& peak_resident_;
  Metric& suppressed_;
};

}  // namespace epochd
