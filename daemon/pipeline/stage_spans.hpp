// When the stages of an epoch's way begin and end, noted by whoever does them.
#pragma once

#include <chrono>
#include <utility>

#include "daemon/pipeline/prover_pool.hpp"
#include "prover/core/stage.hpp"

namespace epochd {

/// CLOCK_MONOTONIC.
inline i64 monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Notes the stages of one thread. Threads: one at a time.
class SpanRecorder : public StageListener {
 public:
  explicit SpanRecorder(u32 lane) : lane_(lane) {}

  void stage_begins(const char* name) override {
    open_.push_back(spans_.size());
    spans_.push_back({name, monotonic_ns(), 0, lane_});
  }
  void stage_ends(const char*) override {
    spans_[open_.back()].end_ns = monotonic_ns();
    open_.pop_back();
  }
  /// Those noted since the last call, in the order they began. Pre: none is open.
  std::vector<StageSpan> take() { return std::exchange(spans_, {}); }

 private:
  u32 lane_;
  std::vector<StageSpan> spans_;
  std::vector<size_t> open_;
};

}  // namespace epochd
