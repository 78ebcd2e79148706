// Inverses are taken by Montgomery's trick, one for four threads. Dot products read each column
// once, four columns a block sharing the weights. Bound: memory for dot and deep.
#include "cuda/field/invert_block.cuh"
#include "cuda/open/open.hpp"
#include "cuda/rt/block_map.cuh"
#include "cuda/rt/error.hpp"
#include "cuda/rt/planes.cuh"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 128;
static_assert(kWeightRows == kThreads);
/// z - x, x in F.
__device__ __forceinline__ LooseCubic minus(const Fp3& z, Fp x) {
  return LooseCubic::of(z - x);
}

/// 1 / d for every thread of the block, d != 0.
__device__ __forceinline__ LooseCubic inverse_of(const LooseCubic& d) {
  const Adjugate a = Adjugate::of(d);
  const u64 scale = invert_block<kThreads>(a.norm);
  return {loose::mul(a.adjugate.c0, scale), loose::mul(a.adjugate.c1, scale),
          loose::mul(a.adjugate.c2, scale)};
}

__global__ void __launch_bounds__(kThreads) weight_kernel(const WeightJob* jobs, u32 job_count) {
  const WeightJob& job =
      jobs[find_job(jobs, job_count, [](const WeightJob& j) { return j.first_block; })];
  const size_t rows = size_t{1} << job.log_n;
  const size_t i = size_t{blockIdx.x - job.first_block} * kThreads + threadIdx.x;
  const u64 x = i < rows ? job.points.at(i).value() : 0;
  const LooseCubic inverse = inverse_of(minus(job.z, Fp::from_canonical(x)));
  if (i >= rows) return;
  const LooseCubic w{loose::mul(inverse.c0, x), loose::mul(inverse.c1, x),
                     loose::mul(inverse.c2, x)};
  DevicePlanes{job.weights, rows}.set(i, w.canonical());
}

__device__ Fp3 sum_warp(Fp3 v) {
  for (u32 d = 16; d > 0; d /= 2) {
    v += Fp3{Fp::from_canonical(__shfl_down_sync(0xffffffffu, v.c0.value(), d)),
             Fp::from_canonical(__shfl_down_sync(0xffffffffu, v.c1.value(), d)),
             Fp::from_canonical(__shfl_down_sync(0xffffffffu, v.c2.value(), d))};
  }
  return v;
}

__global__ void __launch_bounds__(kThreads)
    dot_kernel(const DotJob* jobs, u32 job_count, u32 chunks_max, Fp3* partial) {
  const DotJob& job =
      jobs[find_job(jobs, job_count, [](const DotJob& j) { return j.first_block; })];
  const size_t rows = size_t{1} << job.log_n;
  const u32 chunk = blockIdx.x - job.first_block;
  const size_t begin = size_t{chunk} * kDotRows;
  const size_t end = begin + kDotRows < rows ? begin + kDotRows : rows;
  const Fp* column[kDotColumns];
  LazyCubicSum sum[kDotColumns];
#pragma unroll
  for (u32 k = 0; k < kDotColumns; ++k) {
    column[k] = job.columns[k < job.column_count ? k : 0];
  }
  const Fp* weights = job.weights;
  for (size_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const LooseCubic w{weights[i].value(), weights[i + rows].value(),
                       weights[i + 2 * rows].value()};
#pragma unroll
    for (u32 k = 0; k < kDotColumns; ++k) sum[k].add(w, column[k][i].value());
  }
  __shared__ Fp3 warp_sum[kDotColumns][kThreads / 32];
#pragma unroll
  for (u32 k = 0; k < kDotColumns; ++k) {
    const Fp3 s = sum_warp(sum[k].value().canonical());
    if (threadIdx.x % 32 == 0) warp_sum[k][threadIdx.x / 32] = s;
  }
  __syncthreads();
  if (threadIdx.x >= job.column_count) return;
  Fp3 s{};
  for (u32 w = 0; w < kThreads / 32; ++w) s += warp_sum[threadIdx.x][w];
  partial[size_t{job.first_value + threadIdx.x} * chunks_max + chunk] = s;
}

/// One block a job, one warp a column.
__global__ void __launch_bounds__(32 * kDotColumns)
    dot_finish_kernel(const DotJob* jobs, u32 chunks_max, const Fp3* partial, Fp3* values) {
  const DotJob& job = jobs[blockIdx.x];
  const u32 k = threadIdx.x / 32;
  if (k >= job.column_count) return;
  const u32 chunks = chunks_of(job.log_n, kDotRows);
  const Fp3* of_value = partial + size_t{job.first_value + k} * chunks_max;
  Fp3 s{};
  for (u32 c = threadIdx.x % 32; c < chunks; c += 32) s += of_value[c];
  s = sum_warp(s);
  if (threadIdx.x % 32 == 0) values[job.first_value + k] = s * job.scale;
}

/// sum of weight * column at a row, for every thread of the block; their descriptions pass through
/// shared memory. `row` may be any row where the result is not used.
__device__ LooseCubic combine(const DeepPoint& p, size_t row) {
  constexpr u32 kStaged = 64;
  __shared__ DeepColumn staged[kStaged];
  LazyCubicSum s(LooseCubic::of(-p.at_z));
  for (u32 first = 0; first < p.count; first += kStaged) {
    const u32 count = p.count - first < kStaged ? p.count - first : kStaged;
    __syncthreads();
    if (threadIdx.x < count) staged[threadIdx.x] = p.columns[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (u32 c = 0; c < count; ++c) {
      s.add(LooseCubic::of(staged[c].weight), staged[c].column[row].value());
    }
  }
  return s.value();
}

__global__ void __launch_bounds__(kDeepRows) deep_kernel(const DeepJob* jobs, u32 job_count) {
  const DeepJob& job =
      jobs[find_job(jobs, job_count, [](const DeepJob& j) { return j.first_row_block; })];
  const size_t rows = size_t{1} << job.log_rows;
  const size_t i = size_t{blockIdx.x - job.first_row_block} * kDeepRows + threadIdx.x;
  const size_t row = i < rows ? i : 0;
  const Fp x = job.x.at(row);
  const LooseFactor d0 = LooseFactor::of(minus(job.points[0].z, x));
  const LooseFactor d1 = LooseFactor::of(minus(job.points[1].z, x));
  // -(s0 d1 + s1 d0) / (d0 d1) with d = z - x.
  LazyCubicSum numerator;
  numerator.add(combine(job.points[0], row), d1);
  if (job.points[1].count > 0) numerator.add(combine(job.points[1], row), d0);
  const LooseCubic inverse = inverse_of(product(LooseCubic{d0.c0, d0.c1, d0.c2}, d1));
  if (i >= rows) return;
  const LooseCubic quotient = product(numerator.value(), LooseFactor::of(inverse));
  DevicePlanes{job.out, rows}.set(i, -quotient.canonical());
}
static_assert(kDeepRows == kThreads, "inverse_of() is for blocks of that size");

__global__ void __launch_bounds__(kThreads)
    lift_kernel(const DeepJob* jobs, u32 job_count, Fp* word, u32 log_word) {
  const size_t rows = size_t{1} << log_word;
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows) return;
  Fp3 sum{};
  for (u32 j = 0; j < job_count; ++j) {
    sum += DevicePlanes{jobs[j].out, size_t{1} << jobs[j].log_rows}.get(
        i >> (log_word - jobs[j].log_rows));
  }
  DevicePlanes{word, rows}.set(i, sum);
}

}  // namespace

void launch_weights(const WeightJob* jobs, u32 job_count, u32 blocks, cudaStream_t stream) {
  weight_kernel<<<blocks, kThreads, 0, stream>>>(jobs, job_count);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_dots(const DotJob* jobs, u32 job_count, u32 blocks, u32 chunks_max, Fp3* partial,
                 Fp3* values, cudaStream_t stream) {
  dot_kernel<<<blocks, kThreads, 0, stream>>>(jobs, job_count, chunks_max, partial);
  dot_finish_kernel<<<job_count, 32 * kDotColumns, 0, stream>>>(jobs, chunks_max, partial, values);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_deep(const DeepJob* jobs, u32 job_count, u32 blocks, cudaStream_t stream) {
  deep_kernel<<<blocks, kDeepRows, 0, stream>>>(jobs, job_count);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_lift(const DeepJob* jobs, u32 job_count, Fp* word, u32 log_word, cudaStream_t stream) {
  lift_kernel<<<chunks_of(log_word, kThreads), kThreads, 0, stream>>>(jobs, job_count, word,
                                                                      log_word);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
