// Pinned host memory for std::pmr containers: what is uploaded from it crosses PCIe without a copy
// through a slab. Allocations are rare and slow (half a second a GiB): containers are to be reused.
#pragma once

#include <memory_resource>

#include "prover/core/types.hpp"

namespace epochd::cuda {

class PinnedResource : public std::pmr::memory_resource {
 private:
  /// Errors: cuda::Error(kOutOfPlan).
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* p, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;
};

}  // namespace epochd::cuda
