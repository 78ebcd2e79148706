#include "daemon/service/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "prover/core/assert.hpp"

namespace epochd {
namespace {

constexpr const char* kKindNames[] = {"counter", "gauge", "histogram"};

std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::isnan(value)) return "NaN";
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return error == std::errc{} ? std::string(text, end) : "NaN";
}

/// As the format wants label values: backslash, quote and line end escaped.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  EPOCHD_ASSERT(std::is_sorted(bounds_.begin(), bounds_.end()));
}

void Histogram::observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Metric& MetricsRegistry::counter(std::string_view name, std::string_view help, Label label) {
  return series(name, help, Kind::kCounter, label);
}

Metric& MetricsRegistry::gauge(std::string_view name, std::string_view help, Label label) {
  return series(name, help, Kind::kGauge, label);
}

Histogram& MetricsRegistry::histogram(std::string_view name, std::string_view help,
                                      std::vector<double> bounds) {
  const std::lock_guard lock(mutex_);
  Family& found = family(name, help, Kind::kHistogram);
  if (!found.histogram) found.histogram = std::make_unique<Histogram>(std::move(bounds));
  return *found.histogram;
}

MetricsRegistry::Family& MetricsRegistry::family(std::string_view name, std::string_view help,
                                                 Kind kind) {
  for (const auto& known : families_) {
    if (known->name != name) continue;
    EPOCHD_ASSERT(known->kind == kind);
    return *known;
  }
  families_.push_back(std::make_unique<Family>());
  Family& made = *families_.back();
  made.name = name;
  made.help = help;
  made.kind = kind;
  return made;
}

Metric& MetricsRegistry::series(std::string_view name, std::string_view help, Kind kind,
                                Label label) {
  std::string labels;
  if (!label.first.empty()) {
    labels.append("{").append(label.first).append("=").append(quoted(label.second)).append("}");
  }
  const std::lock_guard lock(mutex_);
  Family& found = family(name, help, kind);
  for (const auto& known : found.series) {
    if (known->labels == labels) return known->metric;
  }
  found.series.push_back(std::make_unique<Series>());
  found.series.back()->labels = std::move(labels);
  return found.series.back()->metric;
}

std::string MetricsRegistry::text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  const auto line = [&](const std::string& series, const std::string& value) {
    out.append(series).append(" ").append(value).append("\n");
  };
  for (const auto& family : families_) {
    out += "# HELP " + family->name + " " + family->help + "\n";
    out += "# TYPE " + family->name + " " + kKindNames[static_cast<size_t>(family->kind)] + "\n";
    for (const auto& series : family->series) {
      line(family->name + series->labels, number(series->metric.value()));
    }
    if (!family->histogram) continue;
    const Histogram& histogram = *family->histogram;
    u64 count = 0;
    for (size_t i = 0; i < histogram.counts_.size(); ++i) {
      count += histogram.counts_[i].load(std::memory_order_relaxed);
      const double bound = i < histogram.bounds_.size() ? histogram.bounds_[i] : INFINITY;
      line(family->name + "_bucket{le=\"" + number(bound) + "\"}", std::to_string(count));
    }
    line(family->name + "_sum", number(histogram.sum_.load(std::memory_order_relaxed)));
    line(family->name + "_count", std::to_string(count));
  }
  return out;
}

}  // namespace epochd
