// The LDE's column passes of two rounds. Outer twiddles are copied to shared memory ahead of their
// use. Bound by memory and the ALU alike.
#include "cuda/ntt/fast_columns.hpp"
#include "cuda/ntt/fast_device.cuh"

namespace epochd::cuda::fast {
namespace {

/// Grid: Columns::grid over columns.
template <int R1, int R2>
__global__ void __launch_bounds__(Columns<R1, R2>::kThreads, Columns<R1, R2>::kBlocksFirst)
    first_kernel(const u64* __restrict__ in, u64* __restrict__ out, size_t out_stride,
                 const __grid_constant__ LdeTwiddles twiddles, u32 log_n2) {
  using C = Columns<R1, R2>;
  extern __shared__ u64 s[];
  const int t = threadIdx.x % C::T;
  const int g = threadIdx.x / C::T;
  const u32 n2 = (blockIdx.z * C::kGroup + blockIdx.x) * C::T + t;
  in += static_cast<u64>(blockIdx.y) << (C::kLogN1 + log_n2);
  out += blockIdx.y * out_stride;
  u64 x[R1];
  u64* fetched = s + C::kFetchAt + threadIdx.x;
#pragma unroll
  for (int i = 0; i < R1; ++i) x[i] = in[(static_cast<u32>(R2 * i + g) << log_n2) + n2];
  auto place = [&](int i) { return (C::template result<true>(g, i) << log_n2) + n2; };
#pragma unroll
  for (int i = 0; i < C::kFetched; ++i) {
    copy_async(fetched + i * C::kThreads, twiddles.outer_inverse + place(i));
  }
  first_round<R1, R2, true>(x, s, twiddles.column_inverse, g, t);
  wait_copies();
  second_round<R1, R2>(x, [&](int i) {
    const u32 at = place(i);
    out[at] =
        gl::mul(x[i], i < C::kFetched ? fetched[i * C::kThreads] : twiddles.outer_inverse[at]);
  });
}

/// Grid: Columns::grid over columns and cosets.
template <int R1, int R2>
__global__ void __launch_bounds__(Columns<R1, R2>::kThreads, Columns<R1, R2>::kBlocks)
    last_kernel(u64* __restrict__ out, const __grid_constant__ LdeTwiddles twiddles, u32 log_n2,
                const __grid_constant__ LastPass pass) {
  using C = Columns<R1, R2>;
  extern __shared__ u64 s[];
  const int t = threadIdx.x % C::T;
  const int g = threadIdx.x / C::T;
  const u32 tile = (blockIdx.z * C::kGroup + blockIdx.x) * C::T;
  const u64* w = pass.in() + (static_cast<u64>(g) << log_n2) + tile + t;
  out += pass.out_block() << (C::kLogN1 + log_n2);
  u64 x[R1];
#pragma unroll
  for (int i = 0; i < R1; ++i) x[i] = load_once(w + (static_cast<u64>(R2 * i) << log_n2));
  first_round<R1, R2, false>(x, s, twiddles.column_forward, g, t);
  __syncthreads();
  // Column j2 of the tile becomes a contiguous run of N1.
  const int first = C::reversed_first(g);
  const int to = t * C::kRunPitch + first + C::skew(first / R1);
  second_round<R1, R2>(
      x, [&](int i) { s[to + C::template reversed_rest<false>(i)] = gl::canonical(x[i]); });
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < C::T / C::kWarps; ++r) {
    const int run = warp + C::kWarps * r;
    u64* o = out + (static_cast<u64>(reverse_bits(tile + run, log_n2)) << C::kLogN1);
#pragma unroll
    for (int i = 0; i < C::kN1 / 32; ++i) {
      o[i * 32 + lane] = s[run * C::kRunPitch + i * 32 + lane + C::skew(i * 32 / R1)];
    }
  }
}

template <int R1, int R2>
void prepare() {
  using C = Columns<R1, R2>;
  const auto allow = [](auto* kernel, int bytes) {
    EPOCHD_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  };
  if constexpr (R2 == 16) allow(first_kernel<R1, R2>, C::kBytesFirst);
  allow(last_kernel<R1, R2>, C::kBytesLast);
}

template <int R1, int R2>
void launch_first(const LdeTwiddles& twiddles, const u64* in, const Pass& p) {
  using C = Columns<R1, R2>;
  first_kernel<R1, R2>
      <<<C::grid(p.split.log_n2, p.columns), C::kThreads, C::kBytesFirst, p.stream>>>(
          in, p.x.at, p.x.stride, twiddles, p.split.log_n2);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int R1, int R2>
void launch_last(const LdeTwiddles& twiddles, const Pass& p, u64* out) {
  using C = Columns<R1, R2>;
  launch_last_pass(p, [&](const LastPass& pass, u32 blocks) {
    last_kernel<R1, R2><<<C::grid(p.split.log_n2, blocks), C::kThreads, C::kBytesLast, p.stream>>>(
        out, twiddles, p.split.log_n2, pass);
  });
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void prepare_columns() {
  prepare<16, 16>();
  prepare<32, 16>();
  prepare<32, 32>();
  prepare_three_rounds();
}

void first_two_rounds(const LdeTwiddles& twiddles, const u64* in, const Pass& pass) {
  if (pass.split.log_n1 == 8) return launch_first<16, 16>(twiddles, in, pass);
  launch_first<32, 16>(twiddles, in, pass);
}
void last_two_rounds(const LdeTwiddles& twiddles, const Pass& pass, u64* out) {
  switch (pass.split.log_n1) {
    case 8:
      return launch_last<16, 16>(twiddles, pass, out);
    case 9:
      return launch_last<32, 16>(twiddles, pass, out);
    default:
      return launch_last<32, 32>(twiddles, pass, out);
  }
}

}  // namespace epochd::cuda::fast
