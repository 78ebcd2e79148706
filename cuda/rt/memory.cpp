#include "cuda/rt/memory.hpp"

#include "cuda/rt/pinned_resource.hpp"

#include <atomic>
#include <cstdio>

namespace epochd::cuda {
namespace {

constexpr size_t kAlignment = 256;
std::atomic<u64> allocations{0};
std::atomic<u64> held_bytes{0};
std::atomic<u64> held_bytes_peak{0};

/// In a destructor a failure can only be told.
void report(cudaError_t code, const char* what) noexcept {
  // At process exit the driver may be gone already; that is no failure.
  if (code == cudaSuccess || code == cudaErrorCudartUnloading) return;
  std::fprintf(stderr, "epochd: %s failed: %s\n", what, cudaGetErrorString(code));
}

}  // namespace

u64 allocation_count() {
  return allocations.load();
}

u64 device_bytes() {
  return held_bytes.load();
}

u64 peak_device_bytes() {
  return held_bytes_peak.load();
}

u8* DeviceMemory::allocate(size_t bytes) {
  void* p = nullptr;
  if (bytes == 0) return nullptr;
  EPOCHD_CUDA_CHECK(cudaMalloc(&p, bytes));
  ++allocations;
  const u64 now = held_bytes += bytes;
  u64 peak = held_bytes_peak.load();
  while (peak < now && !held_bytes_peak.compare_exchange_weak(peak, now)) {
  }
  return static_cast<u8*>(p);
}
void DeviceMemory::free(u8* p, size_t bytes) noexcept {
  if (p == nullptr) return;
  held_bytes -= bytes;
  report(cudaFree(p), "freeing device memory");
}

u8* PinnedMemory::allocate(size_t bytes) {
  void* p = nullptr;
  if (bytes == 0) return nullptr;
  EPOCHD_CUDA_CHECK(cudaHostAlloc(&p, bytes, cudaHostAllocPortable));
  ++allocations;
  return static_cast<u8*>(p);
}
void PinnedMemory::free(u8* p, size_t) noexcept {
  if (p != nullptr) report(cudaFreeHost(p), "freeing pinned memory");
}

void* PinnedResource::do_allocate(size_t bytes, size_t) {
  return PinnedMemory::allocate(bytes);
}
void PinnedResource::do_deallocate(void* p, size_t bytes, size_t) {
  PinnedMemory::free(static_cast<u8*>(p), bytes);
}
bool PinnedResource::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  return dynamic_cast<const PinnedResource*>(&other) != nullptr;
}

Stream::Stream() {
  EPOCHD_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}
Stream::~Stream() {
  report(cudaStreamDestroy(stream_), "destroying a stream");
}

u8* Arena::take_bytes(size_t bytes) {
  const size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (size > block_.bytes() - used_) {
    throw Error(ErrorKind::kOutOfPlan, cudaErrorMemoryAllocation,
                "the device arena of " + std::to_string(block_.bytes()) + " bytes has " +
                    std::to_string(block_.bytes() - used_) + " left, " + std::to_string(size) +
                    " are needed: lower EPOCH_SIZE_LOG2");
  }
  u8* p = block_.data() + used_;
  used_ += size;
  return p;
}

}  // namespace epochd::cuda
