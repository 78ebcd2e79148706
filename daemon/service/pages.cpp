#include "daemon/service/pages.hpp"

#include <nlohmann/json.hpp>

#include "config/time_text.hpp"
#include "daemon/host/version.hpp"

namespace epochd {
namespace {

nlohmann::json to_json(const RunningJob& job) {
  nlohmann::json json = {{"job", job.id},
                         {"state", job.phase},
                         {"epochs_done", job.epochs_done},
                         {"epochs", job.epochs},
                         {"backend", job.backend},
                         {"waiting", job.is_waiting},
                         {"started", format_utc_time(job.started_unix)}};
  if (!job.fallback.empty()) json["fallback"] = job.fallback;
  return json;
}

nlohmann::json to_json(const EndedJob& job) {
  return {{"job", job.id},
          {"outcome", job.outcome},
          {"epochs", job.epochs},
          {"seconds", job.seconds},
          {"ended", format_utc_time(job.ended_unix)}};
}

nlohmann::json to_json(const HistorySample& sample) {
  return {{"time", sample.unix_seconds},
          {"epochs_per_second", sample.epochs_per_second},
          {"resident_bytes", sample.resident_bytes},
          {"device_bytes", sample.device_bytes}};
}

nlohmann::json to_json(const DeviceInfo& device) {
  return {{"device", device.device},
          {"name", device.name},
          {"memory_bytes", device.memory_bytes},
          {"free_bytes_at_start", device.free_bytes}};
}

template <class Items>
nlohmann::json list_of(const Items& items) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

std::string state_of(const BoardView& view) {
  if (view.is_draining) return "stopping";
  if (!view.jobs.empty()) return "working";
  return view.is_blocked ? "blocked" : "idle";
}

/// For who looks at one job only: the first of those that do not wait.
nlohmann::json first_job(const BoardView& view) {
  for (const RunningJob& job : view.jobs) {
    if (!job.is_waiting) return to_json(job);
  }
  return view.jobs.empty() ? nlohmann::json() : to_json(view.jobs.front());
}

}  // namespace

nlohmann::json to_json(const BoardView& view) {
  nlohmann::json queue = nlohmann::json::object();
  for (size_t i = 0; i < kPlaceNames.size(); ++i) {
    queue[std::string(kPlaceNames[i])] = view.queue[i];
  }
  return {{"state", state_of(view)},          {"job", first_job(view)},
          {"jobs", list_of(view.jobs)},       {"queue", std::move(queue)},
          {"ended", list_of(view.ended)},     {"history", list_of(view.history)},
          {"devices", list_of(view.devices)}, {"stalled_seconds", view.stalled_seconds}};
}

HttpAnswer Pages::get(std::string_view path) const {
  if (path == "/") return {200, "text/html; charset=utf-8", std::string(kDashboard)};
  if (path == "/status") return status();
  if (path == "/healthz") return health();
  if (path == "/readyz") return readiness();
  if (path == "/metrics") {
    metrics_.refresh();
    return {200, "text/plain; version=0.0.4; charset=utf-8", registry_.text()};
  }
  HttpAnswer missing;
  missing.status = 404;
  missing.body = "there are /, /status, /metrics, /healthz and /readyz\n";
  return missing;
}

HttpAnswer Pages::status() const {
  nlohmann::json json = to_json(board_.view());
  json["version"] = version_text();
  json["uptime_seconds"] = clock_.unix_seconds() - start_unix_;
  return {200, "application/json",
          json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

HttpAnswer Pages::health() const {
  const double stalled_s = board_.view().stalled_seconds;
  if (stalled_s <= kStalledSecondsMax) return {200, HttpAnswer{}.type, "ok\n"};
  return {503, HttpAnswer{}.type,
          "nothing went forward for " + std::to_string(static_cast<u64>(stalled_s)) + " s\n"};
}

HttpAnswer Pages::readiness() const {
  const BoardView view = board_.view();
  if (view.is_draining) return {503, HttpAnswer{}.type, "stopping: no job is begun\n"};
  if (view.is_blocked) {
    return {503, HttpAnswer{}.type, "no job is begun until the disk takes it\n"};
  }
  return {200, HttpAnswer{}.type, "ready\n"};
}

}  // namespace epochd
