// Pairs of interactions -> fractions -> one inversion for four rows (Montgomery's trick over all
// their pairs) -> row totals -> a scan for the accumulator. Bound: integer multiplication.
#include "cuda/field/invert_block.cuh"
#include "cuda/logup/tile.cuh"
#include "cuda/rt/block_map.cuh"
#include "cuda/rt/error.hpp"
#include "cuda/rt/planes.cuh"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;

constexpr u32 kThreads = kLogupRows;
/// Block sums a thread adds up before it scans.
constexpr u32 kSumsPerThread = 8;

/// Where one row's values of the pairs are, and words for what inverting them needs.
struct PairValues {
  u64* aux;
  u64* scratch;
  size_t rows;

  __device__ __forceinline__ void set(u32 pair, const LooseCubic& v) const {
    u64* at = aux + 3 * pair * rows;
    at[0] = v.c0;
    at[rows] = v.c1;
    at[2 * rows] = v.c2;
  }
  __device__ __forceinline__ LooseCubic get(u32 pair) const {
    const u64* at = aux + 3 * pair * rows;
    return {at[0], at[rows], at[2 * rows]};
  }
  __device__ __forceinline__ u64& norm(u32 pair) const { return scratch[2 * pair * rows]; }
  __device__ __forceinline__ u64& before(u32 pair) const { return scratch[(2 * pair + 1) * rows]; }
};

/// The values of a row's pairs times their norms; returns the norms' product.
__device__ __forceinline__ u64 multiply_row(const LogupProgram& program, LogupTile tile,
                                            const PairValues& values) {
  LogupRow row(program, tile);
  u64 norms = 1;
#pragma unroll 1
  for (u32 j = 0; j < program.pairs; ++j) {
    const LogupRow::Fraction f = row.fraction();
    const Adjugate a = Adjugate::of(f.denominator);
    values.set(j, product(f.numerator, LooseFactor::of(a.adjugate)));
    values.norm(j) = a.norm;
    values.before(j) = norms;
    norms = loose::mul(norms, a.norm);
  }
  return norms;
}

/// Takes the norms out again. The values stay in the aux columns but for the last pair's; returns
/// the sum of all.
__device__ __forceinline__ Fp3 divide_row(u32 pairs, u64 inverse, const PairValues& values) {
  Fp3 total{};
#pragma unroll 2
  for (u32 j = pairs; j-- > 0;) {
    const LooseCubic v = values.get(j);
    const u64 scale = loose::mul(inverse, values.before(j));
    inverse = loose::mul(inverse, values.norm(j));
    const Fp3 value =
        LooseCubic{loose::mul(v.c0, scale), loose::mul(v.c1, scale), loose::mul(v.c2, scale)}
            .canonical();
    total += value;
    if (j + 1 < pairs) values.set(j, LooseCubic::of(value));
  }
  return total;
}

__device__ Fp3 shuffle(const Fp3& v, u32 from) {
  return {Fp::from_canonical(__shfl_up_sync(0xffffffffu, v.c0.value(), from)),
          Fp::from_canonical(__shfl_up_sync(0xffffffffu, v.c1.value(), from)),
          Fp::from_canonical(__shfl_up_sync(0xffffffffu, v.c2.value(), from))};
}

/// Inclusive scan over a block.
__device__ Fp3 scan_block(Fp3 v) {
  __shared__ Fp3 warp_sum[kThreads / 32];
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  for (u32 d = 1; d < 32; d *= 2) {
    const Fp3 other = shuffle(v, d);
    if (lane >= d) v += other;
  }
  if (lane == 31) warp_sum[warp] = v;
  __syncthreads();
  for (u32 w = 0; w < warp; ++w) v += warp_sum[w];
  __syncthreads();
  return v;
}

struct Place {
  const LogupJob* job;
  u32 block;  ///< within the job
  size_t row;
  size_t rows;
};
__device__ Place place_of(const LogupJob* jobs, u32 job_count) {
  const LogupJob* job =
      jobs + find_job(jobs, job_count, [](const LogupJob& j) { return j.first_block; });
  const u32 block = blockIdx.x - job->first_block;
  return {job, block, size_t{block} * kThreads + threadIdx.x, size_t{1} << job->log_rows};
}

/// The accumulator's column holds row totals after; block_sums their sums.
__global__ void __launch_bounds__(kThreads, kLogupBlocksPerSm)
    values_kernel(const LogupJob* jobs, u32 job_count) {
  extern __shared__ __align__(16) u64 shared[];
  const Place p = place_of(jobs, job_count);
  const LogupProgram program = load_program(p.job->program, p.job->trace, shared);
  const PairValues values{reinterpret_cast<u64*>(p.job->aux) + p.row, p.job->scratch + p.row,
                          p.rows};
  u64 norms = 1;
  if (p.row < p.rows) {
    norms = multiply_row(program, load_tile(program, p.row, shared + program.word_count()), values);
  }
  const u64 inverse = invert_block<kThreads>(norms);
  Fp3 total{};
  if (p.row < p.rows) {
    total = divide_row(program.pairs, inverse, values);
    values.set(program.pairs - 1, LooseCubic::of(total));
  }
  const Fp3 sum = scan_block(total);
  if (threadIdx.x == kThreads - 1) p.job->block_sums[p.block] = sum;
}

/// Exclusive scan of a table's block sums, one block a table; *sum = everything.
__global__ void __launch_bounds__(kThreads) scan_sums_kernel(const LogupJob* jobs) {
  const LogupJob& job = jobs[blockIdx.x];
  const u32 count = blocks_of(job.log_rows, kThreads);
  __shared__ Fp3 carry;
  if (threadIdx.x == 0) carry = Fp3{};
  __syncthreads();
  for (u32 first = 0; first < count; first += kThreads * kSumsPerThread) {
    Fp3* sums = job.block_sums + first + threadIdx.x * kSumsPerThread;
    const auto exists = [&](u32 i) { return first + threadIdx.x * kSumsPerThread + i < count; };
    Fp3 own[kSumsPerThread];
    Fp3 total{};
#pragma unroll
    for (u32 i = 0; i < kSumsPerThread; ++i) {
      own[i] = exists(i) ? sums[i] : Fp3{};
      total += own[i];
    }
    const Fp3 inclusive = scan_block(total);
    Fp3 before = carry + inclusive - total;
    __syncthreads();
    if (threadIdx.x == kThreads - 1) carry += inclusive;
#pragma unroll
    for (u32 i = 0; i < kSumsPerThread; ++i) {
      if (exists(i)) sums[i] = before;
      before += own[i];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *job.sum = carry;
}

/// acc[i] = sum of totals before i, minus i * L / N.
__global__ void __launch_bounds__(kThreads) accumulate_kernel(const LogupJob* jobs, u32 job_count) {
  const Place p = place_of(jobs, job_count);
  const DevicePlanes planes{p.job->aux + 3 * (p.job->program.pairs - 1) * p.rows, p.rows};
  const Fp3 v = p.row < p.rows ? planes.get(p.row) : Fp3{};
  const Fp3 inclusive = scan_block(v);
  if (p.row >= p.rows) return;
  const Fp3 mean = *p.job->sum * p.job->inverse_rows;
  planes.set(p.row, p.job->block_sums[p.block] + inclusive - v - mean * Fp::from_u64(p.row));
}

}  // namespace

u32 logup_bytes(const LogupProgram& program) {
  return static_cast<u32>(sizeof(u64)) * program_and_tile_words(program);
}

void launch_logup(const LogupJobs& jobs, cudaStream_t stream) {
  if (jobs.count == 0) return;
  allow_shared(values_kernel, jobs.shared_bytes);
  values_kernel<<<jobs.blocks, kThreads, jobs.shared_bytes, stream>>>(jobs.jobs, jobs.count);
  scan_sums_kernel<<<jobs.count, kThreads, 0, stream>>>(jobs.jobs);
  accumulate_kernel<<<jobs.blocks, kThreads, 0, stream>>>(jobs.jobs, jobs.count);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
