// The LDE's middle pass, on rows as Rows<C> says, j = 16C j0 + C j1 + j2. The inverse ends and both
// forwards begin with the radix-C round over k2, so coefficients stay with their thread: stashed in
// shared memory for the second coset, which differs by w_2C^k2 there, shifts only.
//
// Twiddles are copied ahead into the slots of the stash that only the copying thread uses, and a
// few spare ones. Bound by the ALU and the multiply pipe, 69-73 % and 49-57 % busy.
#include "cuda/ntt/fast_device.cuh"

namespace epochd::cuda::fast {
namespace {

/// x[f] = stash[f] * w_2C^f: the ratio of the two cosets along k2.
template <int C, int f = 0>
__device__ __forceinline__ void unstash(u64* x, const u64* stash, int stride) {
  if constexpr (f < C) {
    const u64 v = stash[f * stride];
    x[f] = f != 0 ? gl::twist<13 * 96 / C * f % 192>(gl::W3{gl::lo(v), gl::hi(v), 0}) : v;
    unstash<C, f + 1>(x, stash, stride);
  }
}

/// Where the N words of a column go, by coset.
struct RowOutput {
  Place cosets[2];
  __device__ __forceinline__ u64* column(u32 column, int b) const {
    const u64 stride = b != 0 ? cosets[1].stride : cosets[0].stride;
    return (b != 0 ? cosets[1].at : cosets[0].at) + column * stride;
  }
};

/// Three rounds: x[i] holds value kThreads i + t of the row before, coefficients in the order of
/// unstash() after, times the first coset's factor of k2; own[] holds a copy.
template <int C>
__device__ __forceinline__ void inverse_row(u64* x, u64* s, u64* own, const LdeTwiddles& tw) {
  using G = Rows<C>;
  const int t = threadIdx.x;
  const int tc = t % C;
  const int mid = t / C * 16 * C + tc;
  gl::dft<16>(x, [&](int i) {
    const int f = gl::dft_index<16, true>(i);
    const u64 v = f != 0 ? gl::mul(x[i], own[f * G::kThreads]) : x[i];
    s[G::pad(f * G::kThreads) + G::pad(t)] = v;
  });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = s[G::pad(mid + C * i)];
  gl::dft<16>(x, [&](int i) {
    const int f = gl::dft_index<16, true>(i);
    s[G::pad(mid + C * f)] = f != 0 ? gl::mul(x[i], tw.row_inverse2[f * C + tc]) : x[i];
  });
  __syncthreads();
#pragma unroll
  for (int d = 0; d < G::kDfts; ++d) {  // (k0, k1) pair number t + kThreads d
    u64* y = x + C * d;
#pragma unroll
    for (int i = 0; i < C; ++i) y[i] = s[G::pad((t + G::kThreads * d) * C + i)];
    u64 z[C];
    gl::dft<C>(y, [&](int i) {
      const int f = gl::dft_index<C, true>(i);
      z[f] = f != 0 ? gl::mul(y[i], tw.scale[f]) : y[i];
      own[(d * C + f) * G::kThreads] = z[f];
    });
#pragma unroll
    for (int i = 0; i < C; ++i) y[i] = z[i];
  }
}

/// The first two rounds of a forward transform; x is ready for the third after.
template <int C>
__device__ __forceinline__ void forward_row(u64* x, u64* s, const u64* inner, const u64* inner2) {
  using G = Rows<C>;
  const int t = threadIdx.x;
  const int mid = t / C * 16 * C + t % C;
#pragma unroll
  for (int d = 0; d < G::kDfts; ++d) {
    u64* y = x + C * d;
    gl::dft<C>(y, [&](int i) {
      const int f = gl::dft_index<C, false>(i);
      s[G::pad((t + G::kThreads * d) * C + f)] = gl::mul(y[i], inner[f * 16 + t % 16]);
    });
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = s[G::pad(mid + C * i)];
  gl::dft<16>(x, [&](int i) {
    const int f = gl::dft_index<16, false>(i);
    s[G::pad(mid + C * f)] = gl::mul(x[i], inner2[f * G::kThreads + t]);
  });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = s[G::pad(i * G::kThreads) + G::pad(t)];
}

/// Grid: (columns, N1). kWhole: N1 = 1 and the row is a column, stored canonical in its last order.
template <int C, bool kWhole>
__global__ void __launch_bounds__(Rows<C>::kThreads,
                                  kWhole ? Rows<C>::kBlocksWhole : Rows<C>::kBlocks)
    rows_kernel(const u64* __restrict__ in, size_t in_stride,
                const __grid_constant__ LdeTwiddles tw, const __grid_constant__ RowOutput output) {
  using G = Rows<C>;
  extern __shared__ u64 s[];
  const int t = threadIdx.x;
  const u64 row = static_cast<u64>(blockIdx.y) * G::kN2 + t;
  u64* own = s + G::kStashAt + t;
  u64* spare = own + G::kN2;
  in += blockIdx.x * in_stride + row;
  u64 x[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = load_once(in + G::kThreads * i);
#pragma unroll
  for (int f = 1; f < 16; ++f) {
    copy_async(own + f * G::kThreads, tw.row_inverse + f * G::kThreads + t);
  }
  if constexpr (!kWhole) {
#pragma unroll
    for (int f = 0; f < G::kSpare; ++f) {
      copy_async(spare + f * G::kThreads, tw.outer[0] + row + f * G::kThreads);
    }
  }
  wait_copies();
  inverse_row<C>(x, s, own, tw);
#pragma unroll 1
  for (int b = 0;; ++b) {
    forward_row<C>(x, s, b != 0 ? tw.row_forward[1] : tw.row_forward[0],
                   b != 0 ? tw.row_forward2[1] : tw.row_forward2[0]);
    wait_copies();
    u64* o = output.column(blockIdx.x, b) + (kWhole ? 0 : row);
    const u64* outer = (b != 0 ? tw.outer[1] : tw.outer[0]) + row;
    gl::dft<16>(x, [&](int i) {
      const int f = gl::dft_index<16, false>(i);
      if constexpr (kWhole) {
        o[reverse_bits(G::kThreads * f + t, gl::log2i(G::kN2))] = gl::canonical(x[i]);
      } else {
        const u64 ahead = b != 0 ? own[f * G::kThreads] : spare[f % G::kSpare * G::kThreads];
        o[G::kThreads * f] =
            gl::mul(x[i], b != 0 || f < G::kSpare ? ahead : outer[G::kThreads * f]);
      }
    });
    if (b != 0) break;
#pragma unroll
    for (int d = 0; d < G::kDfts; ++d) {
      unstash<C>(x + C * d, own + d * C * G::kThreads, G::kThreads);
    }
    if constexpr (!kWhole) {
#pragma unroll
      for (int f = 0; f < 16; ++f) {
        copy_async(own + f * G::kThreads, tw.outer[1] + row + f * G::kThreads);
      }
    }
    __syncthreads();
  }
}

template <int C, bool kWhole>
void launch(const LdeTwiddles& twiddles, const u64* in, size_t in_stride, const Pass& p,
            const RowOutput& output) {
  using G = Rows<C>;
  const dim3 grid(p.columns, 1u << p.split.log_n1);
  rows_kernel<C, kWhole>
      <<<grid, G::kThreads, G::kBytes, p.stream>>>(in, in_stride, twiddles, output);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

template <bool kWhole>
void launch(const LdeTwiddles& twiddles, const u64* in, size_t in_stride, const Pass& p,
            const RowOutput& output) {
  switch (p.split.log_n2) {
    case 10:
      return launch<4, kWhole>(twiddles, in, in_stride, p, output);
    case 11:
      return launch<8, kWhole>(twiddles, in, in_stride, p, output);
    default:
      return launch<16, kWhole>(twiddles, in, in_stride, p, output);
  }
}

template <int C>
void prepare() {
  for (const void* kernel : {reinterpret_cast<const void*>(rows_kernel<C, false>),
                             reinterpret_cast<const void*>(rows_kernel<C, true>)}) {
    EPOCHD_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Rows<C>::kBytes));
  }
}

}  // namespace

void prepare_rows() {
  prepare<4>();
  prepare<8>();
  prepare<16>();
}

void middle(const LdeTwiddles& twiddles, const Pass& p) {
  launch<false>(twiddles, p.x.at, p.x.stride, p, {{p.w[0], p.w[1]}});
}

void whole(const LdeTwiddles& twiddles, const u64* in, const Pass& p, u64* out) {
  const size_t n = size_t{1} << p.split.log_n2;
  u64* const first = out + 2 * p.pair * n;
  launch<true>(twiddles, in, n, p, {{{first, n << p.log_blowup}, {first + n, n << p.log_blowup}}});
}

}  // namespace epochd::cuda::fast
