#include "prover/core/parallel.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "prover/core/assert.hpp"

namespace epochd {

namespace tbb = oneapi::tbb;

struct Parallel::Impl {
  explicit Impl(int threads) : arena(threads) {}
  tbb::task_arena arena;
};

Parallel::Parallel(u32 threads)
    : impl_(std::make_unique<Impl>(threads == 0 ? tbb::info::default_concurrency()
                                                : static_cast<int>(threads))) {}
Parallel::~Parallel() = default;

u32 Parallel::threads() const {
  return static_cast<u32>(impl_->arena.max_concurrency());
}

void Parallel::for_ranges(size_t count, size_t grain,
                          const std::function<void(size_t, size_t)>& body) const {
  EPOCHD_ASSERT(grain > 0);
  if (count == 0) return;
  const size_t pieces = (count + grain - 1) / grain;
  if (threads() == 1) {  // an arena of one would have its callers wait for each other
    for (size_t i = 0; i < pieces; ++i) body(i * grain, std::min(count, (i + 1) * grain));
    return;
  }
  impl_->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<size_t>(0, pieces, 1),
        [&](const auto& range) {
          for (size_t i = range.begin(); i < range.end(); ++i) {
            body(i * grain, std::min(count, (i + 1) * grain));
          }
        },
        tbb::simple_partitioner{});
  });
}

}  // namespace epochd
