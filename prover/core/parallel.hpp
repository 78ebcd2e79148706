// The one door to threads for CPU loops: ranges are split by the caller's grain, results never
// depend on how (proofs are byte-identical for every thread count). oneTBB behind it; see
// docs/adr/0003.
#pragma once

#include <functional>
#include <memory>

#include "prover/core/types.hpp"

namespace epochd {

class Parallel {
 public:
  /// threads = 0: one per hardware thread.
  explicit Parallel(u32 threads = 0);
  ~Parallel();
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  u32 threads() const;
  /// Calls body(begin, end) over a partition of [0, count) into pieces of at most `grain` (>= 1)
  /// indices, concurrently. Returns when all are done. The first exception is rethrown.
  void for_ranges(size_t count, size_t grain,
                  const std::function<void(size_t begin, size_t end)>& body) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace epochd
