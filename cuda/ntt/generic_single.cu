// The two halves of an LDE by themselves, at any height: coefficients to evaluations and back.
// Above kLogSmallMax in two passes over [N1][N2], columns first going forward, rows first coming
// back, so that the bit-reversed side is contiguous runs. Bound by shared-memory steps.
#include "cuda/ntt/generic_device.cuh"

namespace epochd::cuda::generic {
namespace {

/// Grid: (groups of columns, blocks of 7 H').
__global__ void __launch_bounds__(kThreadsMax)
    forward_small_kernel(const u64* powers, const u64* in, u64* out, SmallShape shape,
                         u32 log_blowup) {
  extern __shared__ u64 s[];
  const u32 n = 1u << shape.log_n;
  const u32 first = blockIdx.x * shape.per_block();
  const u32 words = min(shape.columns - first, shape.per_block()) << shape.log_n;
  const Coset coset = coset_of_block(shape.log_n, log_blowup, blockIdx.y);
  for (u32 a = threadIdx.x; a < 1u << shape.log_total; a += blockDim.x) {
    const u64 value = a < words ? in[(static_cast<u64>(first) << shape.log_n) + a] : 0;
    s[pad(a)] = gl::mul(value, coset_power(powers, coset, a & (n - 1)));
  }
  __syncthreads();
  transform_to_reversed<false>(s, powers, shape.shared());
  for (u32 a = threadIdx.x; a < words; a += blockDim.x) {
    const u64 column = first + (a >> shape.log_n);
    out[((column << log_blowup) + blockIdx.y) * n + (a & (n - 1))] = gl::canonical(s[pad(a)]);
  }
}

/// Coefficient k = N2 ka + kb; row bitrev(j1) of the result waits for the pass along it.
/// Grid: (tiles, columns, blocks of 7 H').
__global__ void __launch_bounds__(kThreadsMax)
    forward_columns_kernel(const u64* powers, const u64* in, u64* out, Split split, u32 log_t,
                           u32 log_blowup) {
  extern __shared__ u64 s[];
  const u32 log_n = split.log_n1 + split.log_n2;
  const u32 total = 1u << (split.log_n1 + log_t);
  const u32 t_mask = (1u << log_t) - 1;
  const u32 tile = blockIdx.x << log_t;
  const Coset coset = coset_of_block(log_n, log_blowup, blockIdx.z);
  in += static_cast<u64>(blockIdx.y) << log_n;
  out += ((static_cast<u64>(blockIdx.y) << log_blowup) + blockIdx.z) << log_n;
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    const u32 k = (a >> log_t << split.log_n2) + tile + (a & t_mask);
    s[pad(a)] = gl::mul(in[k], coset_power(powers, coset, k));
  }
  __syncthreads();
  transform_to_reversed<false>(s, powers, {split.log_n1 + log_t, split.log_n1, log_t});
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    const u32 row = a >> log_t;
    const u32 j1 = reverse_bits(row, split.log_n1);
    const u32 kb = tile + (a & t_mask);
    out[(row << split.log_n2) + kb] = gl::mul(s[pad(a)], root_power(powers, log_n, j1 * kb));
  }
}

/// In place. Grid: all rows of all columns and blocks.
__global__ void __launch_bounds__(kThreadsMax)
    forward_rows_kernel(const u64* powers, u64* data, u32 log_n2) {
  extern __shared__ u64 s[];
  data += static_cast<u64>(blockIdx.x) << log_n2;
  for (u32 a = threadIdx.x; a < 1u << log_n2; a += blockDim.x) s[pad(a)] = data[a];
  __syncthreads();
  transform_to_reversed<false>(s, powers, {log_n2, log_n2, 0});
  for (u32 a = threadIdx.x; a < 1u << log_n2; a += blockDim.x) data[a] = gl::canonical(s[pad(a)]);
}

/// In place. Grid: groups of columns.
__global__ void __launch_bounds__(kThreadsMax)
    inverse_small_kernel(const u64* powers, u64* data, SmallShape shape, u64 scale) {
  extern __shared__ u64 s[];
  const u32 first = blockIdx.x * shape.per_block();
  const u32 words = min(shape.columns - first, shape.per_block()) << shape.log_n;
  data += static_cast<u64>(first) << shape.log_n;
  for (u32 a = threadIdx.x; a < 1u << shape.log_total; a += blockDim.x) {
    s[pad(a)] = a < words ? data[a] : 0;
  }
  __syncthreads();
  transform_to_natural<true>(s, powers, shape.shared());
  for (u32 a = threadIdx.x; a < words; a += blockDim.x) {
    const u32 k = a & ((1u << shape.log_n) - 1);
    const u64 factor = gl::mul(shift_power(powers, kInverseShiftAt, k), scale);
    data[a] = gl::canonical(gl::mul(s[pad(a)], factor));
  }
}

/// In place. Grid: (N1, columns).
__global__ void __launch_bounds__(kThreadsMax)
    inverse_rows_kernel(const u64* powers, u64* data, Split split) {
  extern __shared__ u64 s[];
  const u32 log_n = split.log_n1 + split.log_n2;
  const u32 j1 = reverse_bits(blockIdx.x, split.log_n1);
  data += (static_cast<u64>(blockIdx.y) << log_n) + (blockIdx.x << split.log_n2);
  for (u32 a = threadIdx.x; a < 1u << split.log_n2; a += blockDim.x) s[pad(a)] = data[a];
  __syncthreads();
  transform_to_natural<true>(s, powers, {split.log_n2, split.log_n2, 0});
  for (u32 a = threadIdx.x; a < 1u << split.log_n2; a += blockDim.x) {
    data[a] = gl::mul(s[pad(a)], root_power(powers, log_n, 0 - j1 * a));
  }
}

/// In place. Grid: (tiles, columns).
__global__ void __launch_bounds__(kThreadsMax)
    inverse_columns_kernel(const u64* powers, u64* data, Split split, u32 log_t, u64 scale) {
  extern __shared__ u64 s[];
  const u32 total = 1u << (split.log_n1 + log_t);
  const u32 t_mask = (1u << log_t) - 1;
  const u32 tile = blockIdx.x << log_t;
  data += static_cast<u64>(blockIdx.y) << (split.log_n1 + split.log_n2);
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    s[pad(a)] = data[(a >> log_t << split.log_n2) + tile + (a & t_mask)];
  }
  __syncthreads();
  transform_to_natural<true>(s, powers, {split.log_n1 + log_t, split.log_n1, log_t});
  for (u32 a = threadIdx.x; a < total; a += blockDim.x) {
    const u32 k = (a >> log_t << split.log_n2) + tile + (a & t_mask);
    const u64 factor = gl::mul(shift_power(powers, kInverseShiftAt, k), scale);
    data[k] = gl::canonical(gl::mul(s[pad(a)], factor));
  }
}

}  // namespace

void prepare_single() {
  constexpr int kBytes = static_cast<int>(padded_bytes(14));
  for (const void* kernel : {reinterpret_cast<const void*>(forward_columns_kernel),
                             reinterpret_cast<const void*>(forward_rows_kernel),
                             reinterpret_cast<const void*>(inverse_rows_kernel),
                             reinterpret_cast<const void*>(inverse_columns_kernel)}) {
    EPOCHD_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  }
}

void from_coefficients(const u64* powers, const u64* in, u64* out, u32 columns, u32 log_n,
                       u32 log_blowup, cudaStream_t stream) {
  const u32 blocks = 1u << log_blowup;
  if (log_n <= kLogSmallMax) {
    const SmallShape shape = small_shape(log_n, columns);
    forward_small_kernel<<<dim3(shape.blocks(), blocks), threads_of(shape.log_total),
                           padded_bytes(shape.log_total), stream>>>(powers, in, out, shape,
                                                                    log_blowup);
    check_launch();
    return;
  }
  const Split s = split(log_n);
  const u32 log_t = tile_log_width(s);
  const u32 log_words = s.log_n1 + log_t;
  const dim3 grid((1u << s.log_n2) >> log_t, columns, blocks);
  forward_columns_kernel<<<grid, threads_of(log_words), padded_bytes(log_words), stream>>>(
      powers, in, out, s, log_t, log_blowup);
  check_launch();
  forward_rows_kernel<<<(columns << log_blowup) << s.log_n1, threads_of(s.log_n2),
                        padded_bytes(s.log_n2), stream>>>(powers, out, s.log_n2);
  check_launch();
}

void interpolate(const u64* powers, u64* columns_in_out, u32 columns, u32 log_m,
                 cudaStream_t stream) {
  const u64 scale = inverse_of_size(log_m);
  if (log_m <= kLogSmallMax) {
    const SmallShape shape = small_shape(log_m, columns);
    inverse_small_kernel<<<shape.blocks(), threads_of(shape.log_total),
                           padded_bytes(shape.log_total), stream>>>(powers, columns_in_out, shape,
                                                                    scale);
    check_launch();
    return;
  }
  const Split s = split(log_m);
  inverse_rows_kernel<<<dim3(1u << s.log_n1, columns), threads_of(s.log_n2), padded_bytes(s.log_n2),
                        stream>>>(powers, columns_in_out, s);
  check_launch();
  const u32 log_t = tile_log_width(s);
  const u32 log_words = s.log_n1 + log_t;
  inverse_columns_kernel<<<dim3((1u << s.log_n2) >> log_t, columns), threads_of(log_words),
                           padded_bytes(log_words), stream>>>(powers, columns_in_out, s, log_t,
                                                              scale);
  check_launch();
}

}  // namespace epochd::cuda::generic
