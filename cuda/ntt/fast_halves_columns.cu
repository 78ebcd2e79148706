// Column passes of the halves, of one round (N1 = R) or two (see Columns). Bound by
// memory and the ALU alike.
#include "cuda/ntt/fast_device.cuh"
#include "cuda/ntt/fast_halves.hpp"

namespace epochd::cuda::fast {
namespace {

constexpr u32 kThreads = 128;
constexpr u32 kLogThreads = 7;

/// Where block blockIdx.y of a forward pass reads, writes, and finds its coset's twiddles.
template <int kLogN1>
struct ForwardBlock {
  const u64* in;
  u64* out;
  const u64* shift;
  const u64* outer;

  __device__ __forceinline__ ForwardBlock(const u64* all_in, u64* all_out, const HalfTwiddles& tw,
                                          u32 log_n2, u32 log_blowup) {
    const u32 log_n = kLogN1 + log_n2;
    const u64 coset = blockIdx.y & ((1u << log_blowup) - 1);
    in = all_in + (static_cast<u64>(blockIdx.y >> log_blowup) << log_n);
    out = all_out + (static_cast<u64>(blockIdx.y) << log_n);
    shift = tw.column_shift + (coset << kLogN1);
    outer = tw.outer + (coset << log_n);
  }
};

/// Grid: (tiles of kThreads columns of the matrix, blocks).
template <int R>
__global__ void __launch_bounds__(kThreads)
    forward_short_kernel(const u64* in, u64* out, const __grid_constant__ HalfTwiddles tw,
                         u32 log_n2, u32 log_blowup) {
  constexpr int kLogR = gl::log2i(R);
  const ForwardBlock<kLogR> block(in, out, tw, log_n2, log_blowup);
  const u32 kb = blockIdx.x * kThreads + threadIdx.x;
  u64 x[R];
#pragma unroll
  for (int i = 0; i < R; ++i) {
    x[i] = gl::mul(block.in[(static_cast<u32>(i) << log_n2) + kb], block.shift[i]);
  }
  gl::dft<R>(x, [&](int i) {
    const int f = gl::dft_index<R, false>(i);
    const u64 v = gl::mul(x[i], block.outer[(static_cast<u32>(f) << log_n2) + kb]);
    block.out[(static_cast<u32>(gl::bitrev(f, kLogR)) << log_n2) + kb] = v;
  });
}

/// Grid: Columns::grid over blocks.
template <int R1, int R2>
__global__ void __launch_bounds__(Columns<R1, R2>::kThreads, Columns<R1, R2>::kBlocksFirst)
    forward_kernel(const u64* in, u64* out, const __grid_constant__ HalfTwiddles tw, u32 log_n2,
                   u32 log_blowup) {
  using C = Columns<R1, R2>;
  extern __shared__ u64 s[];
  const ForwardBlock<C::kLogN1> block(in, out, tw, log_n2, log_blowup);
  const int t = threadIdx.x % C::T;
  const int g = threadIdx.x / C::T;
  const u32 kb = (blockIdx.z * C::kGroup + blockIdx.x) * C::T + t;
  u64 x[R1];
#pragma unroll
  for (int i = 0; i < R1; ++i) {
    const u32 ka = R2 * i + g;
    x[i] = gl::mul(block.in[(ka << log_n2) + kb], block.shift[ka]);
  }
  first_round<R1, R2, false>(x, s, tw.column_rounds, g, t);
  const u32 first = C::reversed_first(g);
  second_round<R1, R2>(x, [&](int i) {
    const u32 j1 = C::template result<false>(g, i);
    const u32 row = first + C::template reversed_rest<false>(i);
    block.out[(row << log_n2) + kb] = gl::mul(x[i], block.outer[(j1 << log_n2) + kb]);
  });
}

/// In place. Grid: (tiles of kThreads columns of the matrix, columns).
template <int R>
__global__ void __launch_bounds__(kThreads)
    inverse_short_kernel(u64* data, const u64* shift, u32 log_n2) {
  constexpr int kLogR = gl::log2i(R);
  data += (static_cast<u64>(blockIdx.y) << (kLogR + log_n2)) + blockIdx.x * kThreads + threadIdx.x;
  u64 x[R];
#pragma unroll
  for (int i = 0; i < R; ++i) x[i] = data[static_cast<u32>(gl::bitrev(i, kLogR)) << log_n2];
  gl::dft<R>(x, [&](int i) {
    const u32 ka = gl::dft_index<R, true>(i);
    data[ka << log_n2] = gl::canonical(gl::mul(x[i], shift[ka]));
  });
}

/// In place: a block owns its tile of columns. Grid: Columns::grid over columns.
template <int R1, int R2>
__global__ void __launch_bounds__(Columns<R1, R2>::kThreads, Columns<R1, R2>::kBlocksFirst)
    inverse_kernel(u64* data, const __grid_constant__ HalfTwiddles tw, u32 log_n2) {
  using C = Columns<R1, R2>;
  extern __shared__ u64 s[];
  const int t = threadIdx.x % C::T;
  const int g = threadIdx.x / C::T;
  const u32 kb = (blockIdx.z * C::kGroup + blockIdx.x) * C::T + t;
  data += (static_cast<u64>(blockIdx.y) << (C::kLogN1 + log_n2)) + kb;
  // Value j1 = R2 i + g lies in row bitrev(g) R1 + bitrev(i).
  const u32 reversed_g = static_cast<u32>(gl::bitrev(g, gl::log2i(R2))) * R1;
  u64 x[R1];
#pragma unroll
  for (int i = 0; i < R1; ++i) x[i] = data[(reversed_g + gl::bitrev(i, gl::log2i(R1))) << log_n2];
  first_round<R1, R2, true>(x, s, tw.column_rounds, g, t);
  second_round<R1, R2>(x, [&](int i) {
    const u32 ka = C::template result<true>(g, i);
    data[ka << log_n2] = gl::canonical(gl::mul(x[i], tw.column_shift[ka]));
  });
}

template <int R>
void launch_forward_short(const HalfTwiddles& twiddles, const u64* in, u64* out,
                          const HalfPass& p) {
  const dim3 grid(1u << (p.split.log_n2 - kLogThreads), p.blocks);
  forward_short_kernel<R>
      <<<grid, kThreads, 0, p.stream>>>(in, out, twiddles, p.split.log_n2, p.log_blowup);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int R1, int R2>
void launch_forward(const HalfTwiddles& twiddles, const u64* in, u64* out, const HalfPass& p) {
  using C = Columns<R1, R2>;
  forward_kernel<R1, R2>
      <<<C::grid(p.split.log_n2, p.blocks), C::kThreads, C::kBytesExchange, p.stream>>>(
          in, out, twiddles, p.split.log_n2, p.log_blowup);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int R>
void launch_inverse_short(const HalfTwiddles& twiddles, u64* data, const HalfPass& p) {
  const dim3 grid(1u << (p.split.log_n2 - kLogThreads), p.blocks);
  inverse_short_kernel<R>
      <<<grid, kThreads, 0, p.stream>>>(data, twiddles.column_shift, p.split.log_n2);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}
template <int R1, int R2>
void launch_inverse(const HalfTwiddles& twiddles, u64* data, const HalfPass& p) {
  using C = Columns<R1, R2>;
  inverse_kernel<R1, R2>
      <<<C::grid(p.split.log_n2, p.blocks), C::kThreads, C::kBytesExchange, p.stream>>>(
          data, twiddles, p.split.log_n2);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

template <int R1, int R2>
void prepare() {
  for (const void* kernel : {reinterpret_cast<const void*>(forward_kernel<R1, R2>),
                             reinterpret_cast<const void*>(inverse_kernel<R1, R2>)}) {
    EPOCHD_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           Columns<R1, R2>::kBytesExchange));
  }
}

}  // namespace

void prepare_half_columns() {
  prepare<32, 16>();
  prepare<32, 32>();
}

void forward_columns(const HalfTwiddles& twiddles, const u64* in, u64* out, const HalfPass& pass) {
  switch (pass.split.log_n1) {
    case 3:
      return launch_forward_short<8>(twiddles, in, out, pass);
    case 4:
      return launch_forward_short<16>(twiddles, in, out, pass);
    case 5:
      return launch_forward_short<32>(twiddles, in, out, pass);
    case 8:
      return launch_forward<16, 16>(twiddles, in, out, pass);
    case 9:
      return launch_forward<32, 16>(twiddles, in, out, pass);
    default:
      return launch_forward<32, 32>(twiddles, in, out, pass);
  }
}

void inverse_columns(const HalfTwiddles& twiddles, u64* data, const HalfPass& pass) {
  switch (pass.split.log_n1) {
    case 3:
      return launch_inverse_short<8>(twiddles, data, pass);
    case 4:
      return launch_inverse_short<16>(twiddles, data, pass);
    case 5:
      return launch_inverse_short<32>(twiddles, data, pass);
    case 8:
      return launch_inverse<16, 16>(twiddles, data, pass);
    case 9:
      return launch_inverse<32, 16>(twiddles, data, pass);
    default:
      return launch_inverse<32, 32>(twiddles, data, pass);
  }
}

void from_coefficients(const HalfTwiddles& twiddles, const u64* in, u64* out, u32 columns,
                       u32 log_n, u32 log_blowup, cudaStream_t stream) {
  const HalfPass pass{split(log_n), columns << log_blowup, log_blowup, stream};
  if (pass.split.log_n1 != 0) forward_columns(twiddles, in, out, pass);
  forward_rows(twiddles, in, out, pass);
}

void interpolate(const HalfTwiddles& twiddles, u64* columns_in_out, u32 columns, u32 log_m,
                 cudaStream_t stream) {
  const HalfPass pass{split(log_m), columns, 0, stream};
  inverse_rows(twiddles, columns_in_out, pass);
  if (pass.split.log_n1 != 0) inverse_columns(twiddles, columns_in_out, pass);
}

}  // namespace epochd::cuda::fast
