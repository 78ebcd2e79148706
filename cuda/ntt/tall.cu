// Bound by memory: 6 N words a column beside the inner LDE's 9.
#include "cuda/ntt/tall.hpp"

#include "cuda/ntt/fast_device.cuh"
#include "cuda/ntt/powers.hpp"
#include "prover/field/fp.hpp"

namespace epochd::cuda::tall {
namespace {

using prover::Fp;

constexpr u32 kThreads = 128;
constexpr u32 kLogOrder = 2 * kLogPowers;

/// w_N^exponent.
__device__ __forceinline__ u64 root_power(const u64* powers, u32 exponent, u32 log_n) {
  const u32 e = (exponent << (kLogOrder - log_n)) & ((1u << kLogOrder) - 1);
  return gl::mul(powers[kRootLowAt + e % kPowerCount], powers[kRootHighAt + e / kPowerCount]);
}

/// Which slot holds a frequency after gl::dft<R>.
template <int R, bool kInverse>
constexpr __host__ __device__ int slot_of(int frequency) {
  int slot = 0;
  while (gl::dft_index<R, kInverse>(slot) != frequency) ++slot;
  return slot;
}

/// Stores the frequencies from f on, times cur t^(i - f).
template <int R, int f = 0>
__device__ __forceinline__ void store_scaled(const u64* x, u64 cur, u64 t, u64* out,
                                             size_t stride) {
  if constexpr (f < R) {
    constexpr int kSlot = slot_of<R, true>(f);
    out[f * stride] = gl::mul(x[kSlot], cur);
    store_scaled<R, f + 1>(x, gl::mul(cur, t), t, out, stride);
  }
}

/// Grid: (tiles of kThreads of the N' rows, columns).
template <int R>
__global__ void __launch_bounds__(kThreads)
    split_kernel(const u64* __restrict__ in, u64* __restrict__ out, const u64* __restrict__ powers,
                 u32 log_n, u64 inverse_radix) {
  const size_t inner = size_t{1} << (log_n - gl::log2i(R));
  const u32 row = blockIdx.x * kThreads + threadIdx.x;
  in += static_cast<size_t>(blockIdx.y) << log_n;
  out += static_cast<size_t>(blockIdx.y) << log_n;
  u64 x[R];
#pragma unroll
  for (int i = 0; i < R; ++i) x[i] = in[i * inner + row];
  gl::dft<R>(x);
  store_scaled<R>(x, inverse_radix, root_power(powers, 0u - row, log_n), out + row, inner);
}

/// Grid: (tiles of kThreads of the N' rows, the two cosets of a pair, columns). Each thread's R
/// values are neighbours in the output, written by the warp together.
template <int R>
__global__ void __launch_bounds__(kThreads)
    join_kernel(const u64* __restrict__ in, u64* __restrict__ out, const u64* __restrict__ powers,
                u32 log_n, u64 shift0, u64 shift1) {
  constexpr int kPitch = R + 1;
  __shared__ u64 s[kThreads * kPitch];
  const u32 log_inner = log_n - gl::log2i(R);
  const u32 tile = blockIdx.x * kThreads;
  const u32 row = tile + threadIdx.x;
  in += (static_cast<size_t>(blockIdx.z) << (log_n + 1)) +
        (static_cast<size_t>(blockIdx.y) << log_inner) + row;
  out +=
      (static_cast<size_t>(2 * blockIdx.z + blockIdx.y) << log_n) + static_cast<size_t>(tile) * R;
  const u64 t = gl::mul(root_power(powers, fast::reverse_bits(row, log_inner), log_n),
                        blockIdx.y == 0 ? shift0 : shift1);
  u64 x[R];
#pragma unroll
  for (int k = 0; k < R; ++k) x[k] = in[static_cast<size_t>(2 * k) << log_inner];
  u64 cur = t;
#pragma unroll
  for (int k = 1; k < R; ++k) {
    x[k] = gl::mul(x[k], cur);
    cur = gl::mul(cur, t);
  }
  gl::dft<R>(x, [&](int i) {
    const int at = gl::bitrev(gl::dft_index<R, false>(i), gl::log2i(R));
    s[threadIdx.x * kPitch + at] = gl::canonical(x[i]);
  });
  __syncwarp();
  const u32 first = threadIdx.x / 32 * 32;
  const u32 lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const u32 word = i * 32 + lane;
    out[first * R + word] = s[(first + word / R) * kPitch + word % R];
  }
}

struct Work {
  const u64* powers;
  const LdeTwiddles* pairs;
  u64* scratch;
  u32 log_blowup;
  cudaStream_t stream;
};

/// The columns of a job, at most columns_at_once(), one if log_blowup > 1: their results are to lie
/// back to back.
template <int R>
void lde_columns(const Work& work, const LdeJob& job) {
  const size_t n = size_t{1} << job.log_n;
  const u32 log_inner = job.log_n - static_cast<u32>(gl::log2i(R));
  const u32 tiles = (1u << log_inner) / kThreads;
  u64* joined = work.scratch;  // the R columns of each before, and extended after
  u64* x = work.scratch + 2 * n * job.columns;
  split_kernel<R><<<dim3(tiles, job.columns), kThreads, 0, work.stream>>>(
      job.in, joined, work.powers, job.log_n, Fp::from_u64(R).inverse().value());
  const size_t inner = n / R;
  fast::Pass pass{
      fast::split(log_inner), R * job.columns, 1, 0, {x, inner}, {}, false, work.stream};
  fast::first(work.pairs[0], joined, pass);
  for (u32 pair = 0; pair < 1u << (work.log_blowup - 1); ++pair) {
    // Each pass's output goes where the next but one reads: W where the result will be.
    u64* const w = job.out + 2 * pair * n;
    pass.w[0] = {w, 2 * inner};
    pass.w[1] = {w + inner, 2 * inner};
    fast::middle(work.pairs[pair], pass);
    fast::last(work.pairs[pair], pass, joined);
    const Fp shift = Fp::generator() * (pair == 0 ? Fp::one() : Fp::two_adic_root(job.log_n + 2));
    join_kernel<R><<<dim3(tiles, 2, job.columns), kThreads, 0, work.stream>>>(
        joined, w, work.powers, job.log_n, shift.value(),
        (shift * Fp::two_adic_root(job.log_n + 1)).value());
  }
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void lde_columns(const Work& work, const LdeJob& job) {
  switch (log_radix(job.log_n)) {
    case 3:
      return lde_columns<8>(work, job);
    case 4:
      return lde_columns<16>(work, job);
    default:
      return lde_columns<32>(work, job);
  }
}

}  // namespace

fast::HeightTables make_tables(u32 log_n, u32 log_blowup, cudaStream_t stream) {
  const Fp shift = Fp::generator().pow(u64{1} << log_radix(log_n));
  return fast::make_tables(log_inner(log_n), log_blowup, shift, stream);
}

void lde(const u64* powers, const LdeTwiddles* pairs, const LdeJob& job, u64* scratch,
         u32 log_blowup, cudaStream_t stream) {
  const Work work{powers, pairs, scratch, log_blowup, stream};
  const u32 batch = log_blowup == 1 ? columns_at_once(job.log_n) : 1;
  for (u32 c = 0; c < job.columns; c += batch) {
    const u32 count = job.columns - c < batch ? job.columns - c : batch;
    lde_columns(work, {job.in + (size_t{c} << job.log_n),
                       job.out + (size_t{c} << (job.log_n + log_blowup)), count, job.log_n});
  }
}

}  // namespace epochd::cuda::tall
