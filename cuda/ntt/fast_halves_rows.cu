// Row passes of the halves, on rows as Rows<C> says. Bound by the ALU.
#include "cuda/ntt/fast_device.cuh"
#include "cuda/ntt/fast_halves.hpp"

namespace epochd::cuda::fast {
namespace {

template <int C>
inline constexpr int kSharedWords = Rows<C>::kN2 + Rows<C>::kN2 / 16;

/// Where the C values of pair a * 16 + b lie in bit-reversed order, in units of C.
__device__ __forceinline__ int reversed_pair(int pair) {
  const int both = static_cast<int>(reverse_bits(static_cast<u32>(pair), 8));
  return (both & 15) << 4 | both >> 4;
}

/// Natural order to bit-reversed. Grid: (blocks, N1). kWhole: N1 = 1, and coefficients get their
/// powers of the shift here.
template <int C, bool kWhole>
__global__ void __launch_bounds__(Rows<C>::kThreads, Rows<C>::kBlocks)
    forward_kernel(const u64* in, u64* out, const __grid_constant__ HalfTwiddles tw,
                   u32 log_blowup) {
  using G = Rows<C>;
  __shared__ u64 s[kSharedWords<C>];
  const int t = threadIdx.x;
  const int mid = t / C * 16 * C + t % C;
  out += (static_cast<u64>(blockIdx.x) * gridDim.y + blockIdx.y) * G::kN2;
  in = kWhole ? in + static_cast<u64>(blockIdx.x >> log_blowup) * G::kN2 : out;
  const u64* shift = tw.outer + (blockIdx.x & ((1u << log_blowup) - 1)) * G::kN2;
  u64 x[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int at = G::kThreads * i + t;
    x[i] = kWhole ? gl::mul(in[at], shift[at]) : in[at];
  }
  gl::dft<16>(x, [&](int i) {
    const int f = gl::dft_index<16, false>(i);
    const u64 v = f != 0 ? gl::mul(x[i], tw.row[f * G::kThreads + t]) : x[i];
    s[G::pad(f * G::kThreads) + G::pad(t)] = v;
  });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = s[G::pad(mid + C * i)];
  gl::dft<16>(x, [&](int i) {
    const int f = gl::dft_index<16, false>(i);
    s[G::pad(mid + C * f)] = f != 0 ? gl::mul(x[i], tw.row2[f * C + t % C]) : x[i];
  });
  __syncthreads();
#pragma unroll
  for (int d = 0; d < G::kDfts; ++d) {
#pragma unroll
    for (int i = 0; i < C; ++i) x[C * d + i] = s[G::pad((t + G::kThreads * d) * C + i)];
  }
  __syncthreads();
#pragma unroll
  for (int d = 0; d < G::kDfts; ++d) {
    const int at = reversed_pair(t + G::kThreads * d) * C;
    gl::dft<C>(x + C * d, [&](int i) {
      const int f = gl::dft_index<C, false>(i);
      s[G::pad(at + gl::bitrev(f, gl::log2i(C)))] = gl::canonical(x[C * d + i]);
    });
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    out[G::kThreads * i + t] = s[G::pad(i * G::kThreads) + G::pad(t)];
  }
}

/// Bit-reversed order to natural, times the outer twiddles, in place. Grid: (columns, N1).
template <int C, bool kWhole>
__global__ void __launch_bounds__(Rows<C>::kThreads, Rows<C>::kBlocks)
    inverse_kernel(u64* data, const __grid_constant__ HalfTwiddles tw, u32 log_n1) {
  using G = Rows<C>;
  __shared__ u64 s[kSharedWords<C>];
  const int t = threadIdx.x;
  const int mid = t / C * 16 * C + t % C;
  data += (static_cast<u64>(blockIdx.x) * gridDim.y + blockIdx.y) * G::kN2;
  const u32 j1 = kWhole ? 0 : reverse_bits(blockIdx.y, log_n1);
  const u64* outer = tw.outer + static_cast<u64>(j1) * G::kN2;
  u64 x[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    s[G::pad(i * G::kThreads) + G::pad(t)] = data[G::kThreads * i + t];
  }
  __syncthreads();
#pragma unroll
  for (int d = 0; d < G::kDfts; ++d) {
    const int at = reversed_pair(t + G::kThreads * d) * C;
#pragma unroll
    for (int i = 0; i < C; ++i) x[C * d + i] = s[G::pad(at + gl::bitrev(i, gl::log2i(C)))];
  }
  __syncthreads();
#pragma unroll
  for (int d = 0; d < G::kDfts; ++d) {
    const int pair = t + G::kThreads * d;
    gl::dft<C>(x + C * d, [&](int i) {
      const int f = gl::dft_index<C, true>(i);
      const u64 v = x[C * d + i];
      s[G::pad(pair * C + f)] = f != 0 ? gl::mul(v, tw.row2[pair % 16 * C + f]) : v;
    });
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = s[G::pad(mid + C * i)];
  gl::dft<16>(x, [&](int i) {
    const int f = gl::dft_index<16, true>(i);
    s[G::pad(mid + C * f)] = gl::mul(x[i], tw.row[t / C * G::kThreads + C * f + t % C]);
  });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = s[G::pad(i * G::kThreads) + G::pad(t)];
  gl::dft<16>(x, [&](int i) {
    const int at = G::kThreads * gl::dft_index<16, true>(i) + t;
    const u64 v = gl::mul(x[i], outer[at]);
    data[at] = kWhole ? gl::canonical(v) : v;
  });
}

template <int C, bool kWhole>
void launch_forward(const HalfTwiddles& twiddles, const u64* in, u64* out, const HalfPass& p) {
  forward_kernel<C, kWhole>
      <<<dim3(p.blocks, 1u << p.split.log_n1), Rows<C>::kThreads, 0, p.stream>>>(in, out, twiddles,
                                                                                 p.log_blowup);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int C>
void launch_forward(const HalfTwiddles& twiddles, const u64* in, u64* out, const HalfPass& p) {
  if (p.split.log_n1 == 0) return launch_forward<C, true>(twiddles, in, out, p);
  launch_forward<C, false>(twiddles, in, out, p);
}

template <int C, bool kWhole>
void launch_inverse(const HalfTwiddles& twiddles, u64* data, const HalfPass& p) {
  inverse_kernel<C, kWhole>
      <<<dim3(p.blocks, 1u << p.split.log_n1), Rows<C>::kThreads, 0, p.stream>>>(data, twiddles,
                                                                                 p.split.log_n1);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int C>
void launch_inverse(const HalfTwiddles& twiddles, u64* data, const HalfPass& p) {
  if (p.split.log_n1 == 0) return launch_inverse<C, true>(twiddles, data, p);
  launch_inverse<C, false>(twiddles, data, p);
}

}  // namespace

void forward_rows(const HalfTwiddles& twiddles, const u64* in, u64* out, const HalfPass& pass) {
  switch (pass.split.log_n2) {
    case 10:
      return launch_forward<4>(twiddles, in, out, pass);
    case 11:
      return launch_forward<8>(twiddles, in, out, pass);
    default:
      return launch_forward<16>(twiddles, in, out, pass);
  }
}

void inverse_rows(const HalfTwiddles& twiddles, u64* data, const HalfPass& pass) {
  switch (pass.split.log_n2) {
    case 10:
      return launch_inverse<4>(twiddles, data, pass);
    case 11:
      return launch_inverse<8>(twiddles, data, pass);
    default:
      return launch_inverse<16>(twiddles, data, pass);
  }
}

}  // namespace epochd::cuda::fast
