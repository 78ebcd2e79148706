#include "prover/core/aligned_buffer.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace epochd {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
/// Below this a block is not rounded up to huge pages: the last one would be mostly empty.
constexpr size_t kHugeMin = 16 * kHugePage;

std::atomic<u64> live{0};
std::atomic<u64> peak{0};

}  // namespace

u64 aligned_bytes_live() {
  return live.load();
}

u64 aligned_bytes_peak() {
  return peak.load();
}

void reset_aligned_bytes_peak() {
  peak.store(live.load());
}

namespace detail {

void* allocate_aligned(size_t bytes) {
  const size_t alignment = bytes >= kHugeMin ? kHugePage : AlignedBuffer<u64>::kAlignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  // Advice only: where the host has no huge pages, small ones do.
  if (bytes >= kHugeMin) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  const u64 now = live.fetch_add(bytes) + bytes;
  u64 seen = peak.load();
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
  return memory;
}

void free_aligned(void* memory, size_t bytes) {
  live.fetch_sub(bytes);
  std::free(memory);
}

}  // namespace detail
}  // namespace epochd
