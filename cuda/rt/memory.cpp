#include "cuda/rt/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "cuda/rt/pinned_resource.hpp"

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

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;
constexpr u32 kTouchThreadsMax = 8;

size_t whole_huge_pages(size_t bytes) {
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

/// Makes every page be there. Most of the time that locking takes goes into this.
void touch(u8* p, size_t bytes) {
  const u32 count = std::clamp(std::thread::hardware_concurrency(), 1u, kTouchThreadsMax);
  std::vector<std::jthread> threads;
  for (u32 i = 0; i < count; ++i) {
    threads.emplace_back([=] {
      const size_t end = bytes / kPage * (i + 1) / count;
      for (size_t page = bytes / kPage * i / count; page < end; ++page) p[page * kPage] = 0;
    });
  }
}

/// `bytes` of the process's own at an address that is a multiple of kHugePage.
u8* map_huge(size_t bytes) {
  void* const mapped =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  u8* const begin = static_cast<u8*>(mapped);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, kHugePage - before);
  return begin + before;
}

}  // namespace

u8* PinnedMemory::allocate(size_t bytes) {
  void* p = nullptr;
  if (bytes == 0) return nullptr;
  if (bytes < kHugePage) {
    EPOCHD_CUDA_CHECK(cudaHostAlloc(&p, bytes, cudaHostAllocPortable));
    ++allocations;
    return static_cast<u8*>(p);
  }
  const size_t mapped = whole_huge_pages(bytes);
  u8* const begin = map_huge(mapped);
  if (begin == nullptr) {
    throw Error(ErrorKind::kOutOfPlan, cudaErrorMemoryAllocation,
                "the host has no " + std::to_string(bytes) + " bytes to lock");
  }
  // Advice: without huge pages it only takes longer.
  static_cast<void>(madvise(begin, mapped, MADV_HUGEPAGE));
  static_cast<void>(madvise(begin, mapped, MADV_DONTFORK));
  touch(begin, mapped);
  if (const auto code = cudaHostRegister(begin, mapped, cudaHostRegisterPortable);
      code != cudaSuccess) {
    munmap(begin, mapped);
    EPOCHD_CUDA_CHECK(code);
  }
  ++allocations;
  return begin;
}
void PinnedMemory::free(u8* p, size_t bytes) noexcept {
  if (p == nullptr) return;
  if (bytes < kHugePage) return report(cudaFreeHost(p), "freeing pinned memory");
  report(cudaHostUnregister(p), "unlocking pinned memory");
  munmap(p, whole_huge_pages(bytes));
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
