// What the fast kernels share. Device code only.
#pragma once

#include "cuda/ntt/fast.hpp"
#include "cuda/ntt/field.cuh"

namespace epochd::cuda::fast {

/// Copies a word from global to shared memory while the thread goes on.
__device__ __forceinline__ void copy_async(u64* shared, const u64* global) {
  const u32 at = static_cast<u32>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0],[%1],8;" ::"r"(at), "l"(global) : "memory");
}
/// Waits for this thread's own copies: what it copied, it may read without a barrier.
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ __forceinline__ u32 reverse_bits(u32 x, u32 bits) {
  return __brev(x) >> (32 - bits);
}

/// Which of a column's 2^log_blowup blocks is block b of this pair, counted over all columns.
struct OutBlocks {
  u32 log_blowup;
  u32 pair;
  __device__ __forceinline__ u64 index(u32 column, u32 b) const {
    return (static_cast<u64>(column) << log_blowup) + 2 * pair + b;
  }
};

}  // namespace epochd::cuda::fast
