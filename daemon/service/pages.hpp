// What is answered over HTTP: the dashboard, its data, metrics and health.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/service/board.hpp"
#include "daemon/service/daemon_metrics.hpp"
#include "daemon/service/http_server.hpp"

namespace epochd {

/// Standing still for longer than this, with work to do, is not healthy. An epoch of the largest
/// size takes minutes on two cores.
constexpr double kStalledSecondsMax = 1800;

class Pages {
 public:
  Pages(const Board& board, const MetricsRegistry& registry, DaemonMetrics& metrics, i64 start_unix,
        const Clock& clock)
      : board_(board),
        registry_(registry),
        metrics_(metrics),
        start_unix_(start_unix),
        clock_(clock) {}

  HttpAnswer get(std::string_view path) const;

 private:
  HttpAnswer status() const;
  HttpAnswer health() const;
  HttpAnswer readiness() const;

  const Board& board_;
  const MetricsRegistry& registry_;
  DaemonMetrics& metrics_;
  i64 start_unix_;
  const Clock& clock_;
};

nlohmann::json to_json(const BoardView& view);

/// dashboard.html.
extern const std::string_view kDashboard;

}  // namespace epochd
