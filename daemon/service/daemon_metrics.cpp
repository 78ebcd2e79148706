#include "daemon/service/daemon_metrics.hpp"

#include "daemon/host/host_info.hpp"
#include "daemon/host/version.hpp"
#include "daemon/log/log.hpp"
#include "daemon/service/memory.hpp"

namespace epochd {
namespace {

/// Stages have the names of code; should they ever be more, the rest share one series.
constexpr size_t kStagesMax = 64;
constexpr std::string_view kOtherStage = "other";

constexpr std::array<std::string_view, 6> kAllocatorParts = {"allocated", "active", "metadata",
                                                             "resident",  "mapped", "retained"};

std::array<u64, kAllocatorParts.size()> parts_of(const AllocatorStats& stats) {
  return {stats.allocated, stats.active, stats.metadata,
          stats.resident,  stats.mapped, stats.retained};
}

}  // namespace

DaemonMetrics::DaemonMetrics(MetricsRegistry& registry, i64 start_unix)
    : epochs_proved(registry.counter("epochd_epochs_total", "Epochs that are proved, by source.",
                                     {"source", "proved"})),
      epochs_resumed(registry.counter("epochd_epochs_total", "Epochs that are proved, by source.",
                                      {"source", "earlier-attempt"})),
      cycles(registry.counter("epochd_cycles_total", "Cycles of runs whose epochs are proved.")),
      fallbacks(registry.counter("epochd_fallback_proofs_total",
                                 "Proofs the CPU made in a device's place.")),
      retries(registry.counter("epochd_epoch_retries_total",
                               "Second attempts at an epoch, where the first was made.")),
      refused_proofs(registry.counter("epochd_self_verify_failures_total",
                                      "Proofs of ours that the verifier refused.")),
      worker_restarts(registry.counter("epochd_device_worker_restarts_total",
                                       "Device workers started again after they died.")),
      bytes_to_device(registry.counter("epochd_device_transfer_bytes_total",
                                       "Bytes copied, by direction.", {"direction", "to-device"})),
      bytes_from_device(registry.counter("epochd_device_transfer_bytes_total",
                                         "Bytes copied, by direction.",
                                         {"direction", "from-device"})),
      device_bytes(registry.gauge("epochd_device_peak_bytes",
                                  "Device memory used at most by the last job.")),
      job_running(registry.gauge("epochd_job_running", "Jobs under way now.")),
      jobs_waiting(registry.gauge("epochd_jobs_waiting_for_turn",
                                  "Jobs under way that wait while another one proves.")),
      disk_free_bytes(
          registry.gauge("epochd_queue_disk_free_bytes", "Room on the queue's file system.")),
      job_seconds(registry.histogram("epochd_job_seconds",
                                     "From the start of a job's attempt to its end.",
                                     {0.1, 1, 10, 60, 600, 3600, 21600, 86400})),
      registry_(registry),
      resident_(registry.gauge("process_resident_memory_bytes", "Memory held by the daemon.")),
      peak_resident_(registry.gauge("epochd_peak_resident_memory_bytes",
                                    "Memory held by the daemon at most since its start.")),
      suppressed_(registry.counter("epochd_log_suppressed_total",
                                   "Log records left out because they repeated too fast.")) {
  registry
      .gauge("epochd_build_info", "Always 1; the version is the label.",
             {"version", version_text()})
      .set(1);
  registry.gauge("process_start_time_seconds", "Start of the daemon, seconds since 1970.")
      .set(static_cast<double>(start_unix));
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    outcomes_[i] =
        &registry.counter("epochd_attempts_total", "Attempts at jobs, by how they ended.",
                          {"outcome", kOutcomeLabels[i]});
  }
  for (size_t i = 0; i < errors_.size(); ++i) {
    errors_[i] = &registry.counter("epochd_prover_errors_total",
                                   "Errors of the prover, by reason; an attempt may survive one.",
                                   {"reason", kReasonNames[i]});
  }
  for (size_t i = 0; i < queue_.size(); ++i) {
    queue_[i] = &registry.gauge("epochd_queue_jobs", "Jobs, by directory of the queue.",
                                {"place", kPlaceNames[i]});
  }
  for (size_t i = 0; i < reloads_.size(); ++i) {
    reloads_[i] = &registry.counter("epochd_config_reloads_total", "Reloads of the settings.",
                                    {"result", i == 0 ? "accepted" : "refused"});
  }
  for (const Place place : {Place::kDone, Place::kFailed}) count_expired(place, 0, 0);
  for (size_t i = 0; i < allocator_.size(); ++i) {
    allocator_[i] = &registry.gauge("epochd_jemalloc_bytes",
                                    "jemalloc's statistics; 0 under another allocator.",
                                    {"kind", kAllocatorParts[i]});
  }
}

void DaemonMetrics::set_queue(const std::array<u64, kPlaceNames.size()>& counts) {
  for (size_t i = 0; i < queue_.size(); ++i) queue_[i]->set(static_cast<double>(counts[i]));
}

void DaemonMetrics::count_expired(Place place, u64 jobs, u64 bytes) {
  const std::string_view name = kPlaceNames[static_cast<size_t>(place)];
  registry_
      .counter("epochd_retention_removed_jobs_total", "Finished jobs removed.", {"place", name})
      .add(static_cast<double>(jobs));
  registry_
      .counter("epochd_retention_removed_bytes_total", "Bytes of finished jobs removed.",
               {"place", name})
      .add(static_cast<double>(bytes));
}

void DaemonMetrics::add_stage(const std::string& stage, double seconds) {
  const std::lock_guard lock(stages_mutex_);
  auto found = stages_.find(stage);
  if (found == stages_.end()) {
    const std::string_view label =
        stages_.size() < kStagesMax ? std::string_view(stage) : kOtherStage;
    Metric& metric = registry_.counter("epochd_stage_seconds_total",
                                       "Time in a stage, over all threads; a stage's time is also "
                                       "part of those that contain it.",
                                       {"stage", label});
    if (label == kOtherStage) return metric.add(seconds);
    found = stages_.emplace(stage, &metric).first;
  }
  found->second->add(seconds);
}

void DaemonMetrics::count_http(unsigned status) {
  registry_
      .counter("epochd_http_responses_total", "Answers over HTTP, by status.",
               {"code", std::to_string(status)})
      .add();
}

void DaemonMetrics::refresh() {
  resident_.set(static_cast<double>(resident_bytes()));
  peak_resident_.set(static_cast<double>(peak_rss_bytes()));
  suppressed_.set(static_cast<double>(log::suppressed_total()));
  const std::optional<AllocatorStats> stats = allocator_stats();
  if (!stats) return;
  const auto parts = parts_of(*stats);
  for (size_t i = 0; i < parts.size(); ++i) allocator_[i]->set(static_cast<double>(parts[i]));
}

}  // namespace epochd
