// Owners of device memory, pinned memory, streams and events. Move-only; destructors never throw.
// Nothing outside cuda/rt calls cudaMalloc, cudaFree or cudaStreamCreate.
#pragma once

#include <utility>

#include "cuda/rt/error.hpp"
#include "prover/core/assert.hpp"
#include "prover/core/types.hpp"

namespace epochd::cuda {

/// A range of device memory; no host indexing.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  size_t size = 0;
};

/// How many allocations this process has made: constant after warm-up, a test asserts.
u64 allocation_count();

class DeviceBlock {
 public:
  DeviceBlock() = default;
  explicit DeviceBlock(size_t bytes);
  ~DeviceBlock();
  DeviceBlock(DeviceBlock&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  DeviceBlock& operator=(DeviceBlock&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  u8* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  u8* data_ = nullptr;
  size_t bytes_ = 0;
};

class PinnedBlock {
 public:
  PinnedBlock() = default;
  explicit PinnedBlock(size_t bytes);
  ~PinnedBlock();
  PinnedBlock(PinnedBlock&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  PinnedBlock& operator=(PinnedBlock&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  u8* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  u8* data_ = nullptr;
  size_t bytes_ = 0;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void synchronize() const { EPOCHD_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Hands out pieces of one block front to back; a mark and a rewind free everything since.
class Arena {
 public:
  Arena() = default;
  explicit Arena(size_t bytes) : block_(bytes) {}

  /// Throws Error(kOutOfPlan) when the block is used up.
  template <class T>
  T* take(size_t count) {
    return reinterpret_cast<T*>(take_bytes(count * sizeof(T)));
  }
  size_t used() const { return used_; }
  size_t bytes() const { return block_.bytes(); }
  void rewind(size_t mark) { used_ = mark; }

 private:
  u8* take_bytes(size_t bytes);

  DeviceBlock block_;
  size_t used_ = 0;
};

}  // namespace epochd::cuda
