// Transforms of any power-of-two size in shared memory, several side by side. The address of a
// value is i << log_t | t with i its index and t the transform's; bits above the size count more
// transforms. Addresses are padded (pad()), values loose.
//
// Device code only.
#pragma once

#include "cuda/ntt/field.cuh"
#include "cuda/ntt/powers.hpp"

namespace epochd::cuda {

/// One spare word in sixteen: accesses at power-of-two distances spread over the banks.
__device__ __forceinline__ u32 pad(u32 address) {
  return address + (address >> 4);
}

/// w^exponent for the standard root w of order 2^kLogPowers. Exponents wrap.
__device__ __forceinline__ u64 small_root(const u64* powers, u32 exponent) {
  return __ldg(powers + kRootHighAt + (exponent & (kPowerCount - 1)));
}
/// w^exponent for the standard root w of order 2^log_order. Pre: log_order <= kLogPowers * 2.
__device__ __forceinline__ u64 root_power(const u64* powers, u32 log_order, u32 exponent) {
  const u32 e = exponent << (2 * kLogPowers - log_order);
  return gl::mul(small_root(powers, e >> kLogPowers),
                 __ldg(powers + kRootLowAt + (e & (kPowerCount - 1))));
}
/// 7^exponent, or 7^-exponent from kInverseShiftAt. Pre: exponent < 2^(2 * kLogPowers).
__device__ __forceinline__ u64 shift_power(const u64* powers, u32 table, u32 exponent) {
  return gl::mul(__ldg(powers + table + (exponent & (kPowerCount - 1))),
                 __ldg(powers + table + kPowerCount + (exponent >> kLogPowers)));
}

struct SharedShape {
  u32 log_total;  ///< words in shared memory
  u32 log_size;   ///< of each transform
  u32 log_t;
};

/// Where group g of a step that joins R addresses 2^place apart begins.
template <int R>
__device__ __forceinline__ u32 group_address(u32 g, u32 place) {
  return (g >> place << (place + gl::log2i(R))) | (g & ((1u << place) - 1));
}

/// One step of decimation in frequency: `log_m` is the log of the block size it splits in R.
template <int R, bool kInverse>
__device__ void frequency_step(u64* s, const u64* powers, SharedShape shape, u32 log_m) {
  constexpr u32 kLogR = gl::log2i(R);
  const u32 log_q = log_m - kLogR;
  const u32 place = shape.log_t + log_q;
  for (u32 g = threadIdx.x; g < 1u << (shape.log_total - kLogR); g += blockDim.x) {
    const u32 at = group_address<R>(g, place);
    const u32 j = (at >> shape.log_t) & ((1u << log_q) - 1);
    u64 x[R];
#pragma unroll
    for (int i = 0; i < R; ++i) x[i] = s[pad(at + (i << place))];
    gl::dft<R>(x);
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const u32 f = gl::dft_index<R, kInverse>(i);
      const u32 e = (j * f) << (kLogPowers - log_m);
      if (f != 0) x[i] = gl::mul(x[i], small_root(powers, kInverse ? 0 - e : e));
      s[pad(at + (static_cast<u32>(gl::bitrev(f, kLogR)) << place))] = x[i];
    }
  }
  __syncthreads();
}

/// One step of decimation in time: joins R blocks into one of 2^log_m.
template <int R, bool kInverse>
__device__ void time_step(u64* s, const u64* powers, SharedShape shape, u32 log_m) {
  constexpr u32 kLogR = gl::log2i(R);
  const u32 log_q = log_m - kLogR;
  const u32 place = shape.log_t + log_q;
  for (u32 g = threadIdx.x; g < 1u << (shape.log_total - kLogR); g += blockDim.x) {
    const u32 at = group_address<R>(g, place);
    const u32 j = (at >> shape.log_t) & ((1u << log_q) - 1);
    u64 x[R];
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const u32 e = (j * i) << (kLogPowers - log_m);
      x[i] = s[pad(at + (static_cast<u32>(gl::bitrev(i, kLogR)) << place))];
      if (i != 0) x[i] = gl::mul(x[i], small_root(powers, kInverse ? 0 - e : e));
    }
    gl::dft<R>(x);
#pragma unroll
    for (int i = 0; i < R; ++i) {
      s[pad(at + (static_cast<u32>(gl::dft_index<R, kInverse>(i)) << place))] = x[i];
    }
  }
  __syncthreads();
}

/// Natural order to bit-reversed. Pre: a barrier since the last write to s. Post: a barrier.
template <bool kInverse>
__device__ void transform_to_reversed(u64* s, const u64* powers, SharedShape shape) {
  u32 log_m = shape.log_size;
  for (; log_m >= 3; log_m -= 3) frequency_step<8, kInverse>(s, powers, shape, log_m);
  if (log_m == 2) frequency_step<4, kInverse>(s, powers, shape, log_m);
  if (log_m == 1) frequency_step<2, kInverse>(s, powers, shape, log_m);
}

/// Bit-reversed order to natural. Pre: a barrier since the last write to s. Post: a barrier.
template <bool kInverse>
__device__ void transform_to_natural(u64* s, const u64* powers, SharedShape shape) {
  u32 log_m = shape.log_size % 3;
  if (log_m == 2) time_step<4, kInverse>(s, powers, shape, log_m);
  if (log_m == 1) time_step<2, kInverse>(s, powers, shape, log_m);
  for (log_m += 3; log_m <= shape.log_size; log_m += 3) {
    time_step<8, kInverse>(s, powers, shape, log_m);
  }
}

}  // namespace epochd::cuda
