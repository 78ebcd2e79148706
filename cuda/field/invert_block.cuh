// One inversion for several threads of a block. Device code only.
#pragma once

#include "cuda/field/lazy_cubic.hpp"

namespace epochd::cuda {

/// The inverses of all threads' x, found by the first warp: each of its threads inverts the product
/// of kThreads / 32. For the whole block, which it makes wait. Where an x is 0, so are others.
template <u32 kThreads>
__device__ __forceinline__ u64 invert_block(u64 x) {
  __shared__ u64 values[kThreads];
  constexpr u32 kShare = kThreads / 32;
  values[threadIdx.x] = x;
  __syncthreads();
  if (threadIdx.x < 32) {
    u64 before[kShare];
    u64 product = 1;
#pragma unroll
    for (u32 i = 0; i < kShare; ++i) {
      before[i] = product;
      product = loose::mul(product, values[32 * i + threadIdx.x]);
    }
    u64 inverse = loose::inverse(product);
#pragma unroll
    for (u32 i = kShare; i-- > 0;) {
      u64& v = values[32 * i + threadIdx.x];
      const u64 own = loose::mul(inverse, before[i]);
      inverse = loose::mul(inverse, v);
      v = own;
    }
  }
  __syncthreads();
  return values[threadIdx.x];
}

}  // namespace epochd::cuda
