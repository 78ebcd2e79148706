// Pairs of interactions -> fractions (thread per row and pair) -> batch inversion -> row totals ->
// a scan for the accumulator. Bound: integer multiplication (about 13 k instructions a row of a
// 16-interaction chip).
#include "cuda/logup/logup.hpp"
#include "cuda/rt/block_map.cuh"
#include "cuda/rt/error.hpp"
#include "cuda/rt/planes.cuh"
#include "prover/field/packed_scalar.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;
using prover::fp3_one;
using prover::PackedScalar;
using Eval = prover::LogupEval<PackedScalar>;

constexpr u32 kThreads = kLogupRowsPerBlock;
constexpr u32 kScanRows = kLogupScanRows;
/// Elements that share one inversion in K.
constexpr u32 kInvertBatch = 8;

__device__ Fp3 unpack(const prover::Cubic<PackedScalar>& e) {
  return {e.c0.v, e.c1.v, e.c2.v};
}

/// numerator -> scratch, denominator -> aux. A table's blocks run over its rows within a pair, then
/// over pairs.
__global__ void __launch_bounds__(kThreads) fraction_kernel(const LogupJob* jobs, u32 job_count) {
  const LogupJob& job =
      jobs[find_job(jobs, job_count, [](const LogupJob& j) { return j.first_block; })];
  const size_t rows = size_t{1} << job.log_rows;
  const u32 block = blockIdx.x - job.first_block;
  const u32 blocks_per_pair = blocks_of(job.log_rows, kThreads);
  const u32 pair = block / blocks_per_pair;
  const size_t row = size_t{block % blocks_per_pair} * kThreads + threadIdx.x;
  if (row >= rows) return;
  const Eval::Fraction f = Eval::pair_fraction(job.table, pair, job.trace, row);
  const size_t plane = size_t{3 * pair} * rows;
  DevicePlanes{job.numerators + plane, rows}.set(row, unpack(f.numerator));
  DevicePlanes{job.aux + plane, rows}.set(row, unpack(f.denominator));
}

/// value = numerator / denominator, in place of the denominator; Montgomery's trick over
/// kInvertBatch rows a thread.
__global__ void __launch_bounds__(kThreads) divide_kernel(const LogupJob* jobs, u32 job_count) {
  const LogupJob& job =
      jobs[find_job(jobs, job_count, [](const LogupJob& j) { return j.first_divide_block; })];
  const size_t rows = size_t{1} << job.log_rows;
  const u32 block = blockIdx.x - job.first_divide_block;
  const u32 blocks_per_pair = blocks_of(job.log_rows, kLogupDivideRows);
  const size_t plane = size_t{3 * (block / blocks_per_pair)} * rows;
  const size_t first = size_t{block % blocks_per_pair} * kLogupDivideRows + threadIdx.x;
  if (first >= rows) return;
  const DevicePlanes values{job.aux + plane, rows};
  const DevicePlanes numerators{job.numerators + plane, rows};
  Fp3 prefix[kInvertBatch];
  Fp3 product = fp3_one();
#pragma unroll
  for (u32 k = 0; k < kInvertBatch; ++k) {
    const size_t row = first + k * kThreads;
    prefix[k] = product;
    if (row < rows) product *= values.get(row);
  }
  Fp3 inv = inverse(product);
#pragma unroll
  for (u32 k = kInvertBatch; k-- > 0;) {
    const size_t row = first + k * kThreads;
    if (row >= rows) continue;
    const Fp3 d = values.get(row);
    values.set(row, numerators.get(row) * (inv * prefix[k]));
    inv *= d;
  }
}
static_assert(kLogupDivideRows == kThreads * kInvertBatch);

__device__ Fp3 add_lane(const Fp3& v, u32 from, u32 lane) {
  const Fp3 o{Fp::from_canonical(__shfl_up_sync(0xffffffffu, v.c0.value(), from)),
              Fp::from_canonical(__shfl_up_sync(0xffffffffu, v.c1.value(), from)),
              Fp::from_canonical(__shfl_up_sync(0xffffffffu, v.c2.value(), from))};
  return lane >= from ? v + o : v;
}

/// Inclusive scan over a block of kScanRows threads.
__device__ Fp3 scan_block(Fp3 v) {
  __shared__ Fp3 warp_sum[kScanRows / 32];
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  for (u32 d = 1; d < 32; d *= 2) v = add_lane(v, d, lane);
  if (lane == 31) warp_sum[warp] = v;
  __syncthreads();
  for (u32 w = 0; w < warp; ++w) v += warp_sum[w];
  __syncthreads();
  return v;
}

/// The job and row of this thread in the scan launches.
struct ScanPlace {
  const LogupJob* job;
  u32 block;  ///< within the job
  size_t row;
  size_t rows;
};
__device__ ScanPlace scan_place(const LogupJob* jobs, u32 job_count) {
  const LogupJob* job =
      jobs + find_job(jobs, job_count, [](const LogupJob& j) { return j.first_scan_block; });
  const u32 block = blockIdx.x - job->first_scan_block;
  return {job, block, size_t{block} * kScanRows + threadIdx.x, size_t{1} << job->log_rows};
}

/// Row totals of all pairs into the accumulator column, and each block's sum.
__global__ void __launch_bounds__(kScanRows) total_kernel(const LogupJob* jobs, u32 job_count) {
  const ScanPlace p = scan_place(jobs, job_count);
  Fp3 total{};
  if (p.row < p.rows) {
    for (u32 j = 0; j < p.job->pairs; ++j) {
      total += DevicePlanes{p.job->aux + 3 * j * p.rows, p.rows}.get(p.row);
    }
    DevicePlanes{p.job->aux + 3 * (p.job->pairs - 1) * p.rows, p.rows}.set(p.row, total);
  }
  const Fp3 sum = scan_block(total);
  if (threadIdx.x == kScanRows - 1) p.job->block_sums[p.block] = sum;
}

/// Exclusive scan of a table's block sums, one block a table; *sum = everything.
__global__ void __launch_bounds__(kScanRows) scan_sums_kernel(const LogupJob* jobs) {
  const LogupJob& job = jobs[blockIdx.x];
  const u32 blocks = blocks_of(job.log_rows, kScanRows);
  __shared__ Fp3 carry;
  if (threadIdx.x == 0) carry = Fp3{};
  __syncthreads();
  for (u32 first = 0; first < blocks; first += kScanRows) {
    const u32 i = first + threadIdx.x;
    const Fp3 v = i < blocks ? job.block_sums[i] : Fp3{};
    const Fp3 inclusive = scan_block(v);
    const Fp3 before = carry;
    __syncthreads();
    if (i < blocks) job.block_sums[i] = before + inclusive - v;
    if (threadIdx.x == kScanRows - 1) carry = before + inclusive;
    __syncthreads();
  }
  if (threadIdx.x == 0) *job.sum = carry;
}

/// acc[i] = sum of totals before i, minus i * L / N.
__global__ void __launch_bounds__(kScanRows)
    accumulate_kernel(const LogupJob* jobs, u32 job_count) {
  const ScanPlace p = scan_place(jobs, job_count);
  const DevicePlanes planes{p.job->aux + 3 * (p.job->pairs - 1) * p.rows, p.rows};
  const Fp3 v = p.row < p.rows ? planes.get(p.row) : Fp3{};
  const Fp3 inclusive = scan_block(v);
  if (p.row >= p.rows) return;
  const Fp3 mean = *p.job->sum * p.job->inverse_rows;
  planes.set(p.row, p.job->block_sums[p.block] + inclusive - v - mean * Fp::from_u64(p.row));
}

/// A thread adds up all tables of its height at its row.
__global__ void __launch_bounds__(kThreads)
    logup_quotient_kernel(const LogupQuotientHeight* heights, u32 height_count) {
  const LogupQuotientHeight& h = heights[find_job(
      heights, height_count, [](const LogupQuotientHeight& x) { return x.first_block; })];
  const size_t row = size_t{blockIdx.x - h.first_block} * kThreads + threadIdx.x;
  if (row >= h.rows) return;
  const DevicePlanes planes{h.out, h.rows};
  Fp3 sum = planes.get(row);
  for (u32 j = 0; j < h.job_count; ++j) sum += unpack(Eval::constraints(h.jobs[j], row));
  planes.set(row, sum);
}

}  // namespace

void launch_logup(const LogupJob* jobs, u32 job_count, const LogupGrid& grid, cudaStream_t stream) {
  if (job_count == 0) return;
  fraction_kernel<<<grid.fraction, kThreads, 0, stream>>>(jobs, job_count);
  divide_kernel<<<grid.divide, kThreads, 0, stream>>>(jobs, job_count);
  total_kernel<<<grid.scan, kScanRows, 0, stream>>>(jobs, job_count);
  scan_sums_kernel<<<job_count, kScanRows, 0, stream>>>(jobs);
  accumulate_kernel<<<grid.scan, kScanRows, 0, stream>>>(jobs, job_count);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_logup_quotient(const LogupQuotientHeight* heights, u32 height_count, u32 total_blocks,
                           cudaStream_t stream) {
  if (height_count == 0) return;
  logup_quotient_kernel<<<total_blocks, kThreads, 0, stream>>>(heights, height_count);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
