// Numbers for monitors, in the text format of Prometheus (version 0.0.4). Values are atomic and may
// be changed from any thread; a registry only grows, and what it hands out lives as long as it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd {

/// A counter or a gauge. Threads: any.
class Metric {
 public:
  void add(double amount = 1) { value_.fetch_add(amount, std::memory_order_relaxed); }
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

/// How values are spread. Threads: any; a reader may see a value counted in one place and not yet
/// in the other.
class Histogram {
 public:
  /// `bounds`: upper ends of the buckets, ascending; one without an end is added.
  explicit Histogram(std::vector<double> bounds);
  void observe(double value);

 private:
  friend class MetricsRegistry;
  std::vector<double> bounds_;
  std::vector<std::atomic<u64>> counts_;  ///< by bucket, not cumulative
  std::atomic<double> sum_ = 0;
};

class MetricsRegistry {
 public:
  using Label = std::pair<std::string_view, std::string_view>;  ///< name, value

  // Pre: a name is used with one kind and help only; label values come from a small fixed set.
  // The same name with another label is another series; the same again is the same one.
  Metric& counter(std::string_view name, std::string_view help, Label label = {});
  Metric& gauge(std::string_view name, std::string_view help, Label label = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds);

  /// Everything, in the order of registration.
  std::string text() const;

 private:
  enum class Kind : u8 { kCounter, kGauge, kHistogram };
  struct Series {
    std::string labels;  ///< {name="value"}, or empty
    Metric metric;
  };
  struct Family {
    std::string name, help;
    Kind kind;
    std::vector<std::unique_ptr<Series>> series;
    std::unique_ptr<Histogram> histogram;
  };

  Family& family(std::string_view name, std::string_view help, Kind kind);
  Metric& series(std::string_view name, std::string_view help, Kind kind, Label label);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Family>> families_;
};

}  // namespace epochd
