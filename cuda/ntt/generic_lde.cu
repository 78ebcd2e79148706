// coset_lde at any height. Above kLogSmallMax in three passes:
//   first    a[n1][n2]    -> X[k1][n2]     inverse transforms down columns, times w^(-n2 k1) / N
//   middle   X[k1][n2]    -> W[b][k1][j2]  inverse along the row, leaving k2 in bit-reversed order;
//                                          per coset times shift^k, forward, times w^(j2 k1)
//   last     W[b][k1][j2] -> out[b N + bitrev(j2) N1 + bitrev(j1)]   forward transforms down
//   columns
// with n = N2 n1 + n2, k = k1 + N1 k2, j = j2 + N2 j1. Bound by shared-memory steps.
#include "cuda/ntt/generic_device.cuh"

namespace epochd::cuda::generic {
namespace {

/// Grid: groups of columns. Shared: two padded copies of the block's words.
__global__ void __launch_bounds__(kThreadsMax)
    small_kernel(const u64* powers, const u64* in, u64* out, SmallShape shape, u32 log_blowup,
                 u64 scale) {
  extern __shared__ u64 coefficients[];
  u64* work = coefficients + (17u << shape.log_total >> 4);
  const u32 n = 1u << shape.log_n;
  const u32 total = 1u << shape.log_total;
  const u32 first = blockIdx.x * shape.per_block();
  const u32 words = min(shape.columns - first, shape.per_block()) << shape.log_n;
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    coefficients[pad(a)] = a < words ? in[(static_cast<u64>(first) << shape.log_n) + a] : 0;
  }
  __syncthreads();
  transform_to_reversed<true>(coefficients, powers, shape.shared());
  for (u32 b = 0; b < 1u << log_blowup; ++b) {
    const Coset coset = coset_of_block(shape.log_n, log_blowup, b);
    for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
      const u32 k = reverse_bits(a & (n - 1), shape.log_n);
      const u64 factor = gl::mul(coset_power(powers, coset, k), scale);
      work[pad(a)] = gl::mul(coefficients[pad(a)], factor);
    }
    __syncthreads();
    transform_to_natural<false>(work, powers, shape.shared());
    for (u32 a = threadIdx.x; a < words; a += blockDim.x) {
      const u32 column = a >> shape.log_n;
      const u32 at = a & (n - 1);
      const u32 j = reverse_bits(at, shape.log_n);
      u64* to = out + ((static_cast<u64>(first + column) << log_blowup) + b) * n + at;
      *to = gl::canonical(work[pad((column << shape.log_n) + j)]);
    }
    __syncthreads();
  }
}

/// Grid: (tiles, columns).
__global__ void __launch_bounds__(kThreadsMax)
    first_kernel(const u64* powers, const u64* in, u64* x, size_t x_stride, Split split, u32 log_t,
                 u64 scale) {
  extern __shared__ u64 s[];
  const u32 log_n = split.log_n1 + split.log_n2;
  const u32 total = 1u << (split.log_n1 + log_t);
  const u32 t_mask = (1u << log_t) - 1;
  const u32 tile = blockIdx.x << log_t;
  in += (static_cast<u64>(blockIdx.y) << log_n) + tile;
  x += blockIdx.y * x_stride + tile;
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    s[pad(a)] = in[(static_cast<u64>(a >> log_t) << split.log_n2) + (a & t_mask)];
  }
  __syncthreads();
  transform_to_reversed<true>(s, powers, {split.log_n1 + log_t, split.log_n1, log_t});
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    const u32 k1 = reverse_bits(a >> log_t, split.log_n1);
    const u32 t = a & t_mask;
    const u64 factor = gl::mul(root_power(powers, log_n, 0 - (tile + t) * k1), scale);
    x[(static_cast<u64>(k1) << split.log_n2) + t] = gl::mul(s[pad(a)], factor);
  }
}

/// Grid: (N1, columns).
__global__ void __launch_bounds__(kThreadsMax)
    middle_kernel(const u64* powers, const u64* x, size_t x_stride, u64* w, Split split,
                  u32 log_blowup, u32 pair) {
  extern __shared__ u64 coefficients[];
  u64* work = coefficients + (17u << split.log_n2 >> 4);
  const u32 log_n = split.log_n1 + split.log_n2;
  const u32 n2 = 1u << split.log_n2;
  const u32 k1 = blockIdx.x;
  const SharedShape shape{split.log_n2, split.log_n2, 0};
  x += blockIdx.y * x_stride + (static_cast<u64>(k1) << split.log_n2);
  for (u32 a = threadIdx.x; a < n2; a += blockDim.x) coefficients[pad(a)] = x[a];
  __syncthreads();
  transform_to_reversed<true>(coefficients, powers, shape);
  for (u32 b = 0; b < 2; ++b) {
    const Coset coset = coset_of_block(log_n, log_blowup, 2 * pair + b);
    for (u32 a = threadIdx.x; a < n2; a += blockDim.x) {
      const u32 k2 = reverse_bits(a, split.log_n2);
      work[pad(a)] =
          gl::mul(coefficients[pad(a)], coset_power(powers, coset, k1 + (k2 << split.log_n1)));
    }
    __syncthreads();
    transform_to_natural<false>(work, powers, shape);
    u64* to = w + ((2 * static_cast<u64>(blockIdx.y) + b) << log_n) +
              (static_cast<u64>(k1) << split.log_n2);
    for (u32 a = threadIdx.x; a < n2; a += blockDim.x) {
      to[a] = gl::mul(work[pad(a)], root_power(powers, log_n, a * k1));
    }
    __syncthreads();
  }
}

/// Grid: (tiles, 2 * columns).
__global__ void __launch_bounds__(kThreadsMax)
    last_kernel(const u64* powers, const u64* w, u64* out, Split split, u32 log_t, u32 log_blowup,
                u32 pair) {
  extern __shared__ u64 s[];
  const u32 log_n = split.log_n1 + split.log_n2;
  const u32 total = 1u << (split.log_n1 + log_t);
  const u32 tile = blockIdx.x << log_t;
  const u64 block = (static_cast<u64>(blockIdx.y >> 1) << log_blowup) + 2 * pair + (blockIdx.y & 1);
  w += (static_cast<u64>(blockIdx.y) << log_n) + tile;
  out += block << log_n;
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    s[pad(a)] = w[(static_cast<u64>(a >> log_t) << split.log_n2) + (a & ((1u << log_t) - 1))];
  }
  __syncthreads();
  transform_to_reversed<false>(s, powers, {split.log_n1 + log_t, split.log_n1, log_t});
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    const u32 run = a >> split.log_n1;
    const u32 at = a & ((1u << split.log_n1) - 1);
    const u32 j2 = reverse_bits(tile + run, split.log_n2);
    out[(static_cast<u64>(j2) << split.log_n1) + at] = gl::canonical(s[pad((at << log_t) + run)]);
  }
}

}  // namespace

void prepare_lde() {
  constexpr int kBytes = static_cast<int>(padded_bytes(14));
  for (const void* kernel :
       {reinterpret_cast<const void*>(small_kernel), reinterpret_cast<const void*>(first_kernel),
        reinterpret_cast<const void*>(middle_kernel), reinterpret_cast<const void*>(last_kernel)}) {
    EPOCHD_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  }
}

void lde_small(const u64* powers, const u64* in, u64* out, u32 columns, u32 log_n, u32 log_blowup,
               cudaStream_t stream) {
  const SmallShape shape = small_shape(log_n, columns);
  small_kernel<<<shape.blocks(), threads_of(shape.log_total), 2 * padded_bytes(shape.log_total),
                 stream>>>(powers, in, out, shape, log_blowup, inverse_of_size(log_n));
  check_launch();
}

void lde_first(const u64* powers, const u64* in, const Work& work, u32 columns, u32 log_n,
               cudaStream_t stream) {
  const Split s = split(log_n);
  const u32 log_t = tile_log_width(s);
  const u32 log_words = s.log_n1 + log_t;
  const dim3 grid((1u << s.log_n2) >> log_t, columns);
  first_kernel<<<grid, threads_of(log_words), padded_bytes(log_words), stream>>>(
      powers, in, work.x, work.x_stride, s, log_t, inverse_of_size(log_n));
  check_launch();
}

void lde_middle(const u64* powers, const Work& work, u32 columns, u32 log_n, u32 log_blowup,
                u32 pair, cudaStream_t stream) {
  const Split s = split(log_n);
  middle_kernel<<<dim3(1u << s.log_n1, columns), threads_of(s.log_n2), 2 * padded_bytes(s.log_n2),
                  stream>>>(powers, work.x, work.x_stride, work.w, s, log_blowup, pair);
  check_launch();
}

void lde_last(const u64* powers, const Work& work, u64* out, u32 columns, u32 log_n, u32 log_blowup,
              u32 pair, cudaStream_t stream) {
  const Split s = split(log_n);
  const u32 log_t = tile_log_width(s);
  const u32 log_words = s.log_n1 + log_t;
  const dim3 grid((1u << s.log_n2) >> log_t, 2 * columns);
  last_kernel<<<grid, threads_of(log_words), padded_bytes(log_words), stream>>>(
      powers, work.w, out, s, log_t, log_blowup, pair);
  check_launch();
}

}  // namespace epochd::cuda::generic
