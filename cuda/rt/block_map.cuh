// Launches over descriptor arrays: each job owns a range of blocks, and a block finds its job by
// the ranges' starts.
#pragma once

#include "prover/core/types.hpp"

namespace epochd::cuda {

/// Index of the last job whose first block is at or before this one. `first(job)` ascends, the
/// first is 0.
template <class Job, class First>
__device__ u32 find_job(const Job* jobs, u32 count, First first) {
  u32 low = 0;
  u32 high = count;
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (first(jobs[middle]) <= blockIdx.x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace epochd::cuda
