#include "cuda/rt/slab_resource.hpp"

#include "prover/core/assert.hpp"

namespace epochd::cuda {
namespace {

size_t rounded(size_t bytes) {
  constexpr size_t kStep = SlabResource::kAlignment;
  return (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

SlabResource::SlabResource(u8* slab, size_t bytes, std::pmr::memory_resource* upstream)
    : slab_(slab), bytes_(bytes / kAlignment * kAlignment), upstream_(upstream) {
  if (bytes_ > 0) free_.emplace(slab_, bytes_);
}

void* SlabResource::do_allocate(size_t bytes, size_t alignment) {
  EPOCHD_ASSERT(alignment <= kAlignment);
  const size_t wanted = rounded(bytes);
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    if (block->second < wanted) continue;
    const auto [at, size] = *block;
    free_.erase(block);
    if (size > wanted) free_.emplace(at + wanted, size - wanted);
    return at;
  }
  ++overflow_count_;
  return upstream_->allocate(bytes, alignment);
}

void SlabResource::do_deallocate(void* p, size_t bytes, size_t alignment) {
  u8* at = static_cast<u8*>(p);
  if (!is_in_slab(at)) {
    upstream_->deallocate(p, bytes, alignment);
    return;
  }
  size_t size = rounded(bytes);
  auto next = free_.upper_bound(at);
  if (next != free_.end() && at + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == at) {
      before->second += size;
      return;
    }
  }
  free_.emplace(at, size);
}

}  // namespace epochd::cuda
