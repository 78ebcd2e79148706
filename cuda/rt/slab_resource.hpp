// A memory resource over one block taken beforehand: containers grow and shrink in it without
// another allocation, until it is full. Host code without CUDA.
#pragma once

#include <map>
#include <memory_resource>

#include "prover/core/types.hpp"

namespace epochd::cuda {

/// First fit; neighbours that are free become one. What does not fit comes from `upstream`, and is
/// counted. Threads: one at a time.
class SlabResource : public std::pmr::memory_resource {
 public:
  /// `slab` has `bytes` bytes, aligned to kAlignment, and outlives this.
  SlabResource(u8* slab, size_t bytes, std::pmr::memory_resource* upstream);

  static constexpr size_t kAlignment = 256;

  u64 overflow_count() const { return overflow_count_; }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* p, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  bool is_in_slab(const u8* p) const { return p >= slab_ && p < slab_ + bytes_; }

  u8* slab_;
  size_t bytes_;
  std::pmr::memory_resource* upstream_;
  std::map<u8*, size_t> free_;  ///< by address
  u64 overflow_count_ = 0;
};

}  // namespace epochd::cuda
