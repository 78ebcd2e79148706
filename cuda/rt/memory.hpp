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
/// Device memory this process holds, and the most it has held at once.
u64 device_bytes();
u64 peak_device_bytes();

/// Owns bytes that Memory hands out. Errors: cuda::Error(kOutOfPlan).
template <class Memory>
class OwnedBlock {
 public:
  OwnedBlock() = default;
  explicit OwnedBlock(size_t bytes) : data_(Memory::allocate(bytes)), bytes_(bytes) {}
  ~OwnedBlock() { Memory::free(data_, bytes_); }
  OwnedBlock(OwnedBlock&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)) {}
  OwnedBlock& operator=(OwnedBlock&& o) noexcept {
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

/// Every allocation is counted, but one of 0 bytes, which is null. Freeing null does nothing.
struct DeviceMemory {
  static u8* allocate(size_t bytes);
  static void free(u8* p, size_t bytes) noexcept;
};
/// Page-locked host memory. Large blocks are of huge pages where the host has them, touched by
/// several threads: 0.07 s a GiB, where cudaHostAlloc takes 0.4.
struct PinnedMemory {
  static u8* allocate(size_t bytes);
  static void free(u8* p, size_t bytes) noexcept;
};
using DeviceBlock = OwnedBlock<DeviceMemory>;
using PinnedBlock = OwnedBlock<PinnedMemory>;

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
