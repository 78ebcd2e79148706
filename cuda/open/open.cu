// Inverses are taken by Montgomery's trick, eight a thread. Dot products read each column once,
// four columns a block sharing the weights. Bound: memory for dot and deep.
#include "cuda/open/open.hpp"
#include "cuda/rt/block_map.cuh"
#include "cuda/rt/error.hpp"
#include "cuda/rt/planes.cuh"
#include "prover/field/wide_sum.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 128;
constexpr u32 kInvertBatch = kInvertRows / kThreads;

/// Inverts denominator(i) for the kInvertBatch indices of this thread, block `block` of `rows`.
template <class Denominator, class Finish>
__device__ void invert_batch(u32 block, size_t rows, const Denominator& denominator,
                             const Finish& finish) {
  const size_t first = size_t{block} * kInvertRows + threadIdx.x;
  if (first >= rows) return;
  Fp3 prefix[kInvertBatch];
  Fp3 product = prover::fp3_one();
#pragma unroll
  for (u32 k = 0; k < kInvertBatch; ++k) {
    const size_t i = first + k * kThreads;
    prefix[k] = product;
    if (i < rows) product *= denominator(i);
  }
  Fp3 inv = inverse(product);
#pragma unroll
  for (u32 k = kInvertBatch; k-- > 0;) {
    const size_t i = first + k * kThreads;
    if (i >= rows) continue;
    finish(i, inv * prefix[k]);
    inv *= denominator(i);
  }
}

__global__ void __launch_bounds__(kThreads) weight_kernel(const WeightJob* jobs, u32 job_count) {
  const WeightJob& job =
      jobs[find_job(jobs, job_count, [](const WeightJob& j) { return j.first_block; })];
  const size_t rows = size_t{1} << job.log_n;
  const DevicePlanes out{job.weights, rows};
  invert_batch(
      blockIdx.x - job.first_block, rows, [&](size_t i) { return job.z - job.points.at(i); },
      [&](size_t i, const Fp3& inverse) { out.set(i, inverse * job.points.at(i)); });
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
  prover::WideSum3 sum[kDotColumns];
#pragma unroll
  for (u32 k = 0; k < kDotColumns; ++k) {
    column[k] = job.columns[k < job.column_count ? k : 0];
  }
  const Fp* weights = job.weights;
  for (size_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const Fp3 w{weights[i], weights[i + rows], weights[i + 2 * rows]};
#pragma unroll
    for (u32 k = 0; k < kDotColumns; ++k) sum[k].add(w, column[k][i]);
  }
  __shared__ Fp3 warp_sum[kDotColumns][kThreads / 32];
#pragma unroll
  for (u32 k = 0; k < kDotColumns; ++k) {
    const Fp3 s = sum_warp(sum[k].value());
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

/// out = 1 / ((x - z0)(x - z1)).
__global__ void __launch_bounds__(kThreads) deep_invert_kernel(const DeepJob* jobs, u32 job_count) {
  const DeepJob& job =
      jobs[find_job(jobs, job_count, [](const DeepJob& j) { return j.first_block; })];
  const size_t rows = size_t{1} << job.log_rows;
  const DevicePlanes out{job.out, rows};
  const Fp3 z0 = job.points[0].z;
  const Fp3 z1 = job.points[1].z;
  invert_batch(
      blockIdx.x - job.first_block, rows,
      [&](size_t i) {
        const Fp x = job.x.at(i);
        return (z0 - x) * (z1 - x);
      },
      [&](size_t i, const Fp3& inverse) { out.set(i, inverse); });
}

__device__ Fp3 combine(const DeepPoint& p, size_t row) {
  prover::WideSum3 s;
  for (u32 c = 0; c < p.count; ++c) s.add(p.columns[c].weight, p.columns[c].column[row]);
  return s.value() - p.at_z;
}

__global__ void __launch_bounds__(kDeepRows) deep_kernel(const DeepJob* jobs, u32 job_count) {
  const DeepJob& job =
      jobs[find_job(jobs, job_count, [](const DeepJob& j) { return j.first_row_block; })];
  const size_t rows = size_t{1} << job.log_rows;
  const size_t i = size_t{blockIdx.x - job.first_row_block} * kDeepRows + threadIdx.x;
  if (i >= rows) return;
  const Fp3 x = fp3(job.x.at(i));
  const DevicePlanes out{job.out, rows};
  // (s0 d1 + s1 d0) / (d0 d1) with d = x - z; the signs of both differences cancel in the product.
  Fp3 numerator = combine(job.points[0], i) * (x - job.points[1].z);
  if (job.points[1].count > 0) numerator += combine(job.points[1], i) * (x - job.points[0].z);
  out.set(i, numerator * out.get(i));
}

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

void launch_deep(const DeepJob* jobs, u32 job_count, u32 invert_blocks, u32 row_blocks,
                 cudaStream_t stream) {
  deep_invert_kernel<<<invert_blocks, kThreads, 0, stream>>>(jobs, job_count);
  deep_kernel<<<row_blocks, kDeepRows, 0, stream>>>(jobs, job_count);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_lift(const DeepJob* jobs, u32 job_count, Fp* word, u32 log_word, cudaStream_t stream) {
  lift_kernel<<<chunks_of(log_word, kThreads), kThreads, 0, stream>>>(jobs, job_count, word,
                                                                      log_word);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
