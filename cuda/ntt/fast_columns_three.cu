// The LDE's first pass over columns of 1024 = 16 * 4 * 16 rows. Three rounds of at most 16 points
// keep to 64 registers and so 32 warps an SM; two of 32 points, in 128, spilled and ran at half the
// speed. Between the rounds of 4 and 16 points, which are a transform of 64 together, twiddles are
// powers of two. Bound by the ALU.
#include "cuda/ntt/fast_columns.hpp"
#include "cuda/ntt/fast_device.cuh"

namespace epochd::cuda::fast {
namespace {

/// A block transforms T neighbouring columns: thread (g, t) with g < 64, 16 values. Row 64 i + g is
/// transformed over i; of what comes, g = 16 a + h over a, then h. Frequency f + 16 (q + 4 r).
constexpr int kLogN1 = 10;
constexpr int T = kThreeRoundsTile;
constexpr int kThreads = 64 * T;
constexpr int kBlocks = 2;
/// Words between frequencies of the first round: half-warps touch all banks.
constexpr int kPitch = 64 * T + T;
constexpr int kBytes = 16 * kPitch * static_cast<int>(sizeof(u64));
/// Tiles launched side by side (256 bytes a row) before the next column.
constexpr int kGroup = 32 / T;

/// Four points, times w_64^(-h q): w_64 is 2^39.
template <int h>
__device__ __forceinline__ void quarter(u64* x) {
  constexpr int kExponent = 192 - 39 * h % 192;
  gl::W3 y0, y1, y2, y3;
  gl::dft4(gl::add_kp<4>(x[0]), x[1], x[2], x[3], y0, y2, y1, y3);
  x[0] = gl::norm(y0);
  x[3] = gl::twist<3 * kExponent % 192>(y1);  // the inverse root's q is 4 - that of 2^48
  x[2] = gl::twist<2 * kExponent % 192>(y2);
  x[1] = gl::twist<kExponent % 192>(y3);
}
template <int h>
__device__ __forceinline__ void quarters(u64* x) {
  quarter<h>(x);
  quarter<h + 4>(x + 4);
  quarter<h + 8>(x + 8);
  quarter<h + 12>(x + 12);
}

/// The round of 4 points on what a thread owns: (f, h = h0 + 4 u) for u < 4. h0 is its warp's.
__device__ __forceinline__ void middle_round(u64* x, u64* own, int h0) {
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = own[(i % 4 * 16 + i / 4 * 4) * T];
  switch (h0) {
    case 0:
      quarters<0>(x);
      break;
    case 1:
      quarters<1>(x);
      break;
    case 2:
      quarters<2>(x);
      break;
    default:
      quarters<3>(x);
      break;
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) own[(i % 4 * 16 + i / 4 * 4) * T] = x[i];
}

/// Grid: (kGroup tiles, columns, groups of tiles).
__global__ void __launch_bounds__(kThreads, kBlocks)
    first_kernel(const u64* __restrict__ in, u64* __restrict__ out, size_t out_stride,
                 const u64* __restrict__ rounds, const u64* __restrict__ outer, u32 log_n2) {
  extern __shared__ u64 s[];
  const int t = threadIdx.x % T;
  const int g = threadIdx.x / T;
  const u32 tile = blockIdx.z * kGroup + blockIdx.x;
  const u64 place = (static_cast<u64>(g) << log_n2) + tile * T + t;
  in += (static_cast<u64>(blockIdx.y) << (kLogN1 + log_n2)) + place;
  out += blockIdx.y * out_stride + place;
  outer += (static_cast<u64>(tile) << kLogN1) * T + threadIdx.x;
  u64 x[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = load_once(in + (static_cast<u64>(64 * i) << log_n2));
  gl::dft<16>(x, [&](int i) {
    const int f = gl::dft_index<16, true>(i);
    s[f * kPitch + g * T + t] = f != 0 ? gl::mul(x[i], rounds[f * 64 + g]) : x[i];
  });
  __syncthreads();
  u64* const row = s + g % 16 * kPitch + t;
  middle_round(x, row + g / 16 * T, g / 16);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = row[(g / 16 * 16 + i) * T];
  gl::dft<16>(x, [&](int i) {
    const u32 r = gl::dft_index<16, true>(i);
    out[64 * r << log_n2] = gl::mul(x[i], outer[64 * T * r]);
  });
}

}  // namespace

void prepare_three_rounds() {
  EPOCHD_CUDA_CHECK(
      cudaFuncSetAttribute(first_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
}

void first_three_rounds(const LdeTwiddles& twiddles, const u64* in, const Pass& p) {
  const dim3 grid(kGroup, p.columns, (1u << p.split.log_n2) / (T * kGroup));
  first_kernel<<<grid, kThreads, kBytes, p.stream>>>(
      in, p.x.at, p.x.stride, twiddles.column_inverse, twiddles.outer_inverse, p.split.log_n2);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda::fast
