// Montgomery's trick, one inversion in K for kPer elements a thread. An Op gives denominator(i),
// asked twice, and takes finish(i, inverse). Thread t owns elements t, t + n/kPer, t + 2n/kPer,
// ...: coalesced for every step.
#pragma once

#include "cuda/rt/error.hpp"
#include "prover/field/fp3.hpp"

namespace epochd::cuda {

constexpr u32 kInvertThreads = 128;

template <u32 kPer, class Op>
__global__ void __launch_bounds__(kInvertThreads)
    batch_invert_kernel(const __grid_constant__ Op op, size_t threads) {
  const size_t t = size_t{blockIdx.x} * kInvertThreads + threadIdx.x;
  if (t >= threads) return;
  prover::Fp3 prefix[kPer];
  prover::Fp3 product = op.denominator(t);
#pragma unroll
  for (u32 k = 1; k < kPer; ++k) {
    prefix[k] = product;
    product *= op.denominator(t + k * threads);
  }
  prover::Fp3 inv = prover::inverse(product);
#pragma unroll
  for (u32 k = kPer - 1; k > 0; --k) {
    const prover::Fp3 d = op.denominator(t + k * threads);
    op.finish(t + k * threads, inv * prefix[k]);
    inv *= d;
  }
  op.finish(t, inv);
}

/// Inverts `count` elements. Pre: count is a power of two; no denominator is zero.
template <class Op>
void batch_invert(const Op& op, size_t count, cudaStream_t stream) {
  const bool many = count >= 4096;
  const size_t threads = many ? count / 8 : count;
  const u32 blocks = static_cast<u32>((threads + kInvertThreads - 1) / kInvertThreads);
  if (many) {
    batch_invert_kernel<8><<<blocks, kInvertThreads, 0, stream>>>(op, threads);
  } else {
    batch_invert_kernel<1><<<blocks, kInvertThreads, 0, stream>>>(op, threads);
  }
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

/// A K column as three planes in device memory.
struct DevicePlanes {
  prover::Fp* base;
  size_t stride;

  __device__ prover::Fp3 get(size_t i) const {
    return {base[i], base[i + stride], base[i + 2 * stride]};
  }
  __device__ void set(size_t i, const prover::Fp3& v) const {
    base[i] = v.c0;
    base[i + stride] = v.c1;
    base[i + 2 * stride] = v.c2;
  }
};

/// i with its `bits` low bits reversed.
__device__ inline u64 reverse_index(u64 i, u32 bits) {
  return __brevll(i) >> (64 - bits);
}

}  // namespace epochd::cuda
