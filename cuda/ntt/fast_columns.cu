// The LDE's column passes of two rounds. Outer twiddles are copied to shared memory ahead of their
// use. Bound by memory and the ALU alike.
#include "cuda/ntt/fast_columns.hpp"
#include "cuda/ntt/fast_device.cuh"

namespace epochd::cuda::fast {
namespace {

/// Grid: Columns<R>::grid over columns.
template <int R>
__global__ void __launch_bounds__(Columns<R>::kThreads, Columns<R>::kBlocksFirst)
    first_kernel(const u64* __restrict__ in, u64* __restrict__ out, size_t out_stride,
                 const __grid_constant__ LdeTwiddles twiddles, u32 log_n2) {
  using C = Columns<R>;
  extern __shared__ u64 s[];
  const int t = threadIdx.x % C::T;
  const int g = threadIdx.x / C::T;
  const u32 n2 = (blockIdx.z * C::kGroup + blockIdx.x) * C::T + t;
  in += static_cast<u64>(blockIdx.y) << (C::kLogN1 + log_n2);
  out += blockIdx.y * out_stride;
  u64 x[R];
  u64* fetched = s + C::kFetchAt + threadIdx.x;
#pragma unroll
  for (int i = 0; i < R; ++i) x[i] = in[(static_cast<u32>(R * i + g) << log_n2) + n2];
  auto place = [&](int i) {
    return (static_cast<u32>(g + R * gl::dft_index<R, true>(i)) << log_n2) + n2;
  };
#pragma unroll
  for (int i = 0; i < C::kFetched; ++i) {
    copy_async(fetched + i * C::kThreads, twiddles.outer_inverse + place(i));
  }
  first_round<R, true>(x, s, twiddles.column_inverse, g, t);
  wait_copies();
  gl::dft<R>(x, [&](int i) {
    const u32 at = place(i);
    out[at] =
        gl::mul(x[i], i < C::kFetched ? fetched[i * C::kThreads] : twiddles.outer_inverse[at]);
  });
}

/// Grid: Columns<R>::grid over pairs of blocks.
template <int R>
__global__ void __launch_bounds__(Columns<R>::kThreads, Columns<R>::kBlocks)
    last_kernel(const u64* __restrict__ w, u64* __restrict__ out,
                const __grid_constant__ LdeTwiddles twiddles, u32 log_n2, OutBlocks blocks) {
  using C = Columns<R>;
  extern __shared__ u64 s[];
  const int t = threadIdx.x % C::T;
  const int g = threadIdx.x / C::T;
  const u32 tile = (blockIdx.z * C::kGroup + blockIdx.x) * C::T;
  w += static_cast<u64>(blockIdx.y) << (C::kLogN1 + log_n2);
  out += blocks.index(blockIdx.y / 2, blockIdx.y % 2) << (C::kLogN1 + log_n2);
  u64 x[R];
#pragma unroll
  for (int i = 0; i < R; ++i) x[i] = w[(static_cast<u32>(R * i + g) << log_n2) + tile + t];
  first_round<R, false>(x, s, twiddles.column_forward, g, t);
  __syncthreads();
  // Column j2 of the tile becomes a contiguous run of N1: j1 = g + R f sits at bitrev(g) R +
  // bitrev(f).
  const int block = gl::bitrev(g, gl::log2i(R));
  const int at = t * C::kRunPitch + block * R + C::skew(block);
  gl::dft<R>(x, [&](int i) {
    s[at + gl::bitrev(gl::dft_index<R, false>(i), gl::log2i(R))] = gl::canonical(x[i]);
  });
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < C::T / C::kWarps; ++r) {
    const int run = warp + C::kWarps * r;
    u64* o = out + (static_cast<u64>(reverse_bits(tile + run, log_n2)) << C::kLogN1);
#pragma unroll
    for (int i = 0; i < C::kN1 / 32; ++i) {
      o[i * 32 + lane] = s[run * C::kRunPitch + i * 32 + lane + (R == 32 ? C::skew(i) : 0)];
    }
  }
}

template <int R>
void prepare() {
  using C = Columns<R>;
  EPOCHD_CUDA_CHECK(cudaFuncSetAttribute(
      first_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::kBytesFirst));
  EPOCHD_CUDA_CHECK(cudaFuncSetAttribute(
      last_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::kBytesLast));
}

}  // namespace

template <int R>
void first_two_rounds(const LdeTwiddles& twiddles, const u64* in, const Pass& p) {
  using C = Columns<R>;
  first_kernel<R><<<C::grid(p.split.log_n2, p.columns), C::kThreads, C::kBytesFirst, p.stream>>>(
      in, p.x, p.x_stride, twiddles, p.split.log_n2);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int R>
void last_two_rounds(const LdeTwiddles& twiddles, const Pass& p, u64* out) {
  using C = Columns<R>;
  last_kernel<R><<<C::grid(p.split.log_n2, 2 * p.columns), C::kThreads, C::kBytesLast, p.stream>>>(
      p.w, out, twiddles, p.split.log_n2, OutBlocks{p.log_blowup, p.pair});
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template void first_two_rounds<16>(const LdeTwiddles&, const u64*, const Pass&);
template void first_two_rounds<32>(const LdeTwiddles&, const u64*, const Pass&);
template void last_two_rounds<16>(const LdeTwiddles&, const Pass&, u64*);
template void last_two_rounds<32>(const LdeTwiddles&, const Pass&, u64*);

void prepare_columns() {
  prepare<16>();
  prepare<32>();
}

}  // namespace epochd::cuda::fast
