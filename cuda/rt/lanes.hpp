// Streams beside a main one, for launches that do not depend on each other: where each is too small
// to fill the device, or leaves part of it idle at its end, the others use what is left.
#pragma once

#include <utility>

#include "cuda/rt/memory.hpp"

namespace epochd::cuda {

class Event {
 public:
  Event() { EPOCHD_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& o) noexcept : event_(std::exchange(o.event_, nullptr)) {}
  Event& operator=(Event&& o) noexcept {
    std::swap(event_, o.event_);
    return *this;
  }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Threads: one at a time. Lanes must be joined before they are forked again.
class Lanes {
 public:
  static constexpr u32 kCount = 4;

  cudaStream_t stream(u32 lane) const { return streams_[lane].get(); }
  /// What is launched on any lane from now on waits for what is on `main` now.
  void fork(cudaStream_t main) const {
    EPOCHD_CUDA_CHECK(cudaEventRecord(forked_.get(), main));
    for (const Stream& s : streams_) {
      EPOCHD_CUDA_CHECK(cudaStreamWaitEvent(s.get(), forked_.get()));
    }
  }
  /// What is launched on `main` from now on waits for everything on the lanes.
  void join(cudaStream_t main) const {
    for (u32 i = 0; i < kCount; ++i) {
      EPOCHD_CUDA_CHECK(cudaEventRecord(done_[i].get(), streams_[i].get()));
      EPOCHD_CUDA_CHECK(cudaStreamWaitEvent(main, done_[i].get()));
    }
  }

 private:
  Stream streams_[kCount];
  Event forked_;
  Event done_[kCount];
};

}  // namespace epochd::cuda
