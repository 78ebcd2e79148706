#include "tests/fuzz/memory_meter.hpp"

#include <algorithm>

#include "prover/core/assert.hpp"

// sanitizer/allocator_interface.h, which not every compiler brings.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, size_t),
                                              void (*freed)(const volatile void*));
size_t __sanitizer_get_allocated_size(const volatile void* p);
}

namespace epochd::fuzz {
namespace {

struct Count {
  long held = 0;  // may fall below 0: what was there before is given back
  long peak = 0;
};
thread_local Count count;

void on_allocation(const volatile void*, size_t bytes) {
  count.held += static_cast<long>(bytes);
  count.peak = std::max(count.peak, count.held);
}
void on_free(const volatile void* p) {
  if (p != nullptr) count.held -= static_cast<long>(__sanitizer_get_allocated_size(p));
}

}  // namespace

MemoryMeter::MemoryMeter() {
  static const bool installed =
      __sanitizer_install_malloc_and_free_hooks(on_allocation, on_free) > 0;
  EPOCHD_ASSERT(installed);
  count = {};
}

size_t MemoryMeter::peak_bytes() const {
  return static_cast<size_t>(count.peak);
}

}  // namespace epochd::fuzz
