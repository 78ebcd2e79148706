// Column passes of one round: a thread transforms a whole column of N1 = R values in registers.
// Bound by memory.
#include "cuda/ntt/fast_columns.hpp"
#include "cuda/ntt/fast_device.cuh"

namespace epochd::cuda::fast {
namespace {

constexpr u32 kThreads = 128;
constexpr u32 kLogThreads = 7;

/// Grid: (tiles of kThreads columns of the matrix, columns).
template <int R>
__global__ void __launch_bounds__(kThreads)
    first_kernel(const u64* __restrict__ in, u64* __restrict__ out, size_t out_stride,
                 const __grid_constant__ LdeTwiddles twiddles, u32 log_n2) {
  const u32 n2 = blockIdx.x * kThreads + threadIdx.x;
  in += (static_cast<u64>(blockIdx.y) << (gl::log2i(R) + log_n2)) + n2;
  out += blockIdx.y * out_stride + n2;
  const u64* outer = twiddles.outer_inverse + n2;
  u64 x[R];
#pragma unroll
  for (int i = 0; i < R; ++i) x[i] = in[static_cast<u32>(i) << log_n2];
  gl::dft<R>(x, [&](int i) {
    const u32 at = static_cast<u32>(gl::dft_index<R, true>(i)) << log_n2;
    out[at] = gl::mul(x[i], outer[at]);
  });
}

/// Grid: (tiles of kThreads columns of the matrix, columns and cosets). Each thread's column
/// becomes R words in a row, written by the warp together.
template <int R>
__global__ void __launch_bounds__(kThreads)
    last_kernel(u64* __restrict__ out, u32 log_n2, const __grid_constant__ LastPass pass) {
  constexpr int kPitch = R + 1;
  __shared__ u64 s[kThreads * kPitch];
  const u32 tile = blockIdx.x * kThreads;
  const u64* w = pass.in() + tile + threadIdx.x;
  out += pass.out_block() << (gl::log2i(R) + log_n2);
  u64 x[R];
#pragma unroll
  for (int i = 0; i < R; ++i) x[i] = load_once(w + (static_cast<u32>(i) << log_n2));
  gl::dft<R>(x, [&](int i) {
    const int at = gl::bitrev(gl::dft_index<R, false>(i), gl::log2i(R));
    s[threadIdx.x * kPitch + at] = gl::canonical(x[i]);
  });
  __syncwarp();
  // A warp stores what its own threads left.
  const u32 first = threadIdx.x / 32 * 32;
  const u32 lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const u32 word = i * 32 + lane;
    const u32 run = first + word / R;
    const u64 to = static_cast<u64>(reverse_bits(tile + run, log_n2)) * R + word % R;
    out[to] = s[run * kPitch + word % R];
  }
}

template <int R>
void launch_first(const LdeTwiddles& twiddles, const u64* in, const Pass& p) {
  const dim3 grid(1u << (p.split.log_n2 - kLogThreads), p.columns);
  first_kernel<R>
      <<<grid, kThreads, 0, p.stream>>>(in, p.x.at, p.x.stride, twiddles, p.split.log_n2);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int R>
void launch_last(const Pass& p, u64* out) {
  launch_last_pass(p, [&](const LastPass& pass, u32 blocks) {
    const dim3 grid(1u << (p.split.log_n2 - kLogThreads), blocks);
    last_kernel<R><<<grid, kThreads, 0, p.stream>>>(out, p.split.log_n2, pass);
  });
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void first_one_round(const LdeTwiddles& twiddles, const u64* in, const Pass& pass) {
  switch (pass.split.log_n1) {
    case 3:
      return launch_first<8>(twiddles, in, pass);
    case 4:
      return launch_first<16>(twiddles, in, pass);
    default:
      return launch_first<32>(twiddles, in, pass);
  }
}
void last_one_round(const Pass& pass, u64* out) {
  switch (pass.split.log_n1) {
    case 3:
      return launch_last<8>(pass, out);
    case 4:
      return launch_last<16>(pass, out);
    default:
      return launch_last<32>(pass, out);
  }
}

void first(const LdeTwiddles& twiddles, const u64* in, const Pass& pass) {
  if (three_rounds_first(pass.split)) return first_three_rounds(twiddles, in, pass);
  if (two_rounds(pass.split)) return first_two_rounds(twiddles, in, pass);
  first_one_round(twiddles, in, pass);
}
void last(const LdeTwiddles& twiddles, const Pass& pass, u64* out) {
  if (two_rounds(pass.split)) return last_two_rounds(twiddles, pass, out);
  last_one_round(pass, out);
}

}  // namespace epochd::cuda::fast
