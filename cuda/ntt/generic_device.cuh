// What the generic kernels share. Device code only, but for the launch geometry.
#pragma once

#include "cuda/ntt/generic.hpp"
#include "cuda/ntt/shared_transform.cuh"
#include "cuda/rt/error.hpp"
#include "prover/field/fp.hpp"

namespace epochd::cuda::generic {

inline constexpr u32 kThreadsMax = 512;
/// Words a block works on, unless one transform alone is more.
inline constexpr u32 kLogBlockWords = 12;

constexpr size_t padded_bytes(u32 log_words) {
  return ((size_t{17} << log_words) >> 4) * 8;
}
/// Half the words, although a step of radix 8 keeps only a quarter of the threads busy: loops over
/// words wait for memory in every turn.
constexpr u32 threads_of(u32 log_words) {
  return log_words >= 10 ? kThreadsMax : (1u << log_words) / 2;
}

/// Small columns: a block holds as many as fit.
struct SmallShape {
  u32 log_n;
  u32 log_total;
  u32 columns;
  __host__ __device__ u32 per_block() const { return 1u << (log_total - log_n); }
  u32 blocks() const { return (columns + per_block() - 1) / per_block(); }
  __device__ SharedShape shared() const { return {log_total, log_n, 0}; }
};
inline SmallShape small_shape(u32 log_n, u32 columns) {
  u32 log_total = log_n > 10 ? log_n : 10;
  while (log_total > log_n && columns << log_n <= 1u << (log_total - 1)) --log_total;
  return {log_n, log_total, columns};
}

/// Tiles of 2^log_t neighbouring columns of [N1][N2].
inline u32 tile_log_width(Split s) {
  const u32 fits = s.log_n1 < kLogBlockWords ? kLogBlockWords - s.log_n1 : 0;
  const u32 least = s.log_n1 <= 12 ? 2 : 1;
  return fits < least ? least : fits;
}

inline u64 inverse_of_size(u32 log_n) {
  return prover::Fp::from_canonical(u64{1} << log_n).inverse().value();
}

__device__ __forceinline__ u32 reverse_bits(u32 x, u32 bits) {
  return __brev(x) >> (32 - bits);
}

/// Block `block` of 7 H', which is 7 w^root_step <w_n> with w of order 2^log_m.
struct Coset {
  u32 log_m;
  u32 root_step;
};
__device__ __forceinline__ Coset coset_of_block(u32 log_n, u32 log_blowup, u32 block) {
  return {log_n + log_blowup, reverse_bits(block, log_blowup)};
}
/// The coset's shift to the power k.
__device__ __forceinline__ u64 coset_power(const u64* powers, Coset coset, u32 k) {
  const u64 shift = shift_power(powers, kShiftAt, k);
  if (coset.root_step == 0) return shift;
  return gl::mul(shift, root_power(powers, coset.log_m, coset.root_step * k));
}

inline void check_launch() {
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda::generic
