// Thread per row throughout. Weights and DEEP inverses are batch-inverted; dot products read each
// column once, four columns a block sharing the weights. Bound: memory for dot and deep.
#include "cuda/open/open.hpp"
#include "cuda/rt/batch_invert.cuh"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 128;
constexpr u32 kColumnsPerBlock = 4;

struct WeightOp {
  Fp* weights;
  u32 log_n;
  DevicePoints points;
  Fp3 z;

  __device__ Fp3 denominator(size_t i) const { return z - points.at(i); }
  __device__ void finish(size_t i, const Fp3& inverse) const {
    DevicePlanes{weights, size_t{1} << log_n}.set(i, inverse * points.at(i));
  }
};

/// 1 / ((x - z0)(x - z1)).
struct DeepOp {
  Fp* out;
  u32 log_rows;
  DevicePoints points;
  Fp3 z0, z1;

  __device__ Fp3 denominator(size_t i) const {
    const Fp x = points.at(i);
    return (z0 - x) * (z1 - x);
  }
  __device__ void finish(size_t i, const Fp3& inverse) const {
    DevicePlanes{out, size_t{1} << log_rows}.set(i, inverse);
  }
};

__device__ Fp3 sum_warp(Fp3 v) {
  for (u32 d = 16; d > 0; d /= 2) {
    v += Fp3{Fp::from_canonical(__shfl_down_sync(0xffffffffu, v.c0.value(), d)),
             Fp::from_canonical(__shfl_down_sync(0xffffffffu, v.c1.value(), d)),
             Fp::from_canonical(__shfl_down_sync(0xffffffffu, v.c2.value(), d))};
  }
  return v;
}

/// Grid: (column blocks, chunks). partial[c * chunks + chunk].
__global__ void __launch_bounds__(kThreads)
    dot_kernel(const Fp* const* columns, u32 column_count, const Fp* weights, size_t rows,
               Fp3* partial) {
  const u32 first = blockIdx.x * kColumnsPerBlock;
  const size_t begin = size_t{blockIdx.y} * kDotChunk;
  const size_t end = begin + kDotChunk < rows ? begin + kDotChunk : rows;
  const Fp* column[kColumnsPerBlock];
  Fp3 sum[kColumnsPerBlock];
#pragma unroll
  for (u32 k = 0; k < kColumnsPerBlock; ++k) {
    column[k] = columns[first + k < column_count ? first + k : first];
    sum[k] = Fp3{};
  }
  for (size_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const Fp3 w{weights[i], weights[i + rows], weights[i + 2 * rows]};
#pragma unroll
    for (u32 k = 0; k < kColumnsPerBlock; ++k) sum[k] += w * column[k][i];
  }
  __shared__ Fp3 warp_sum[kColumnsPerBlock][kThreads / 32];
#pragma unroll
  for (u32 k = 0; k < kColumnsPerBlock; ++k) {
    const Fp3 s = sum_warp(sum[k]);
    if (threadIdx.x % 32 == 0) warp_sum[k][threadIdx.x / 32] = s;
  }
  __syncthreads();
  if (threadIdx.x >= kColumnsPerBlock || first + threadIdx.x >= column_count) return;
  Fp3 s{};
  for (u32 w = 0; w < kThreads / 32; ++w) s += warp_sum[threadIdx.x][w];
  partial[size_t{first + threadIdx.x} * gridDim.y + blockIdx.y] = s;
}

/// One warp a column.
__global__ void __launch_bounds__(kThreads)
    dot_finish_kernel(const Fp3* partial, u32 chunks, u32 column_count, Fp3 scale, Fp3* out) {
  const u32 c = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
  if (c >= column_count) return;
  Fp3 s{};
  for (u32 k = threadIdx.x % 32; k < chunks; k += 32) s += partial[size_t{c} * chunks + k];
  s = sum_warp(s);
  if (threadIdx.x % 32 == 0) out[c] = s * scale;
}

__device__ Fp3 combine(const DeepPoint& p, size_t row) {
  Fp3 s = -p.at_z;
  for (u32 c = 0; c < p.count; ++c) s += p.columns[c].weight * p.columns[c].column[row];
  return s;
}

__global__ void __launch_bounds__(kThreads)
    deep_kernel(const __grid_constant__ DeepPoint p0, const __grid_constant__ DeepPoint p1,
                u32 log_rows, DevicePoints points, const Fp* inverses, Fp* out) {
  const size_t rows = size_t{1} << log_rows;
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows) return;
  const Fp x = points.at(i);
  const Fp3 inv{inverses[i], inverses[i + rows], inverses[i + 2 * rows]};
  // (s0 d1 + s1 d0) / (d0 d1) with d = x - z; the signs of both differences cancel in the product.
  Fp3 numerator = combine(p0, i) * (fp3(x) - p1.z);
  if (p1.count > 0) numerator += combine(p1, i) * (fp3(x) - p0.z);
  DevicePlanes{out, rows}.set(i, numerator * inv);
}

__global__ void __launch_bounds__(kThreads)
    lift_kernel(Fp* word, size_t rows, const Fp* low, u32 shift) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows) return;
  const size_t low_rows = rows >> shift;
  for (u32 c = 0; c < 3; ++c) word[c * rows + i] += low[c * low_rows + (i >> shift)];
}

u32 blocks_for(size_t rows) {
  return static_cast<u32>((rows + kThreads - 1) / kThreads);
}

}  // namespace

void launch_weights(DevicePoints points, u32 log_n, Fp3 z, Fp* weights, cudaStream_t stream) {
  batch_invert(WeightOp{weights, log_n, points, z}, size_t{1} << log_n, stream);
}

void launch_dot(const Fp* const* columns, u32 column_count, const Fp* weights, u32 log_n, Fp3 scale,
                Fp3* partial, Fp3* out, cudaStream_t stream) {
  const size_t rows = size_t{1} << log_n;
  const u32 chunks = dot_chunks(rows);
  const dim3 grid((column_count + kColumnsPerBlock - 1) / kColumnsPerBlock, chunks);
  dot_kernel<<<grid, kThreads, 0, stream>>>(columns, column_count, weights, rows, partial);
  dot_finish_kernel<<<(column_count + 3) / 4, kThreads, 0, stream>>>(partial, chunks, column_count,
                                                                     scale, out);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_deep(DevicePoints x, const DeepPoint* points, u32 log_rows, Fp* out, Fp* scratch,
                 cudaStream_t stream) {
  const size_t rows = size_t{1} << log_rows;
  batch_invert(DeepOp{scratch, log_rows, x, points[0].z, points[1].z}, rows, stream);
  deep_kernel<<<blocks_for(rows), kThreads, 0, stream>>>(points[0], points[1], log_rows, x, scratch,
                                                         out);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_lift(Fp* word, u32 log_word, const Fp* low, u32 shift, cudaStream_t stream) {
  const size_t rows = size_t{1} << log_word;
  lift_kernel<<<blocks_for(rows), kThreads, 0, stream>>>(word, rows, low, shift);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
