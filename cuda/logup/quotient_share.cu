// The LogUp constraints on the LDE, folded: a row a thread, all tables of a height after each
// other. Bound: integer multiplication.
#include "cuda/logup/tile.cuh"
#include "cuda/rt/block_map.cuh"
#include "cuda/rt/error.hpp"
#include "cuda/rt/planes.cuh"
#include "prover/air/logup_eval.hpp"
#include "prover/field/packed_scalar.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;
using prover::PackedScalar;

/// A power of alpha, ready to be multiplied with, in shared memory.
constexpr u32 kFactorWords = sizeof(LooseFactor) / sizeof(u64);

__device__ __forceinline__ LooseCubic load(const Fp* p, size_t stride) {
  return {p[0].value(), p[stride].value(), p[2 * stride].value()};
}

/// acc at the next point of the trace domain + L / N - the values of the row, acc among them.
__device__ __forceinline__ LooseCubic accumulator_step(const LogupQuotientJob& job, size_t row,
                                                       const LooseSum* row_values) {
  const Fp* column = job.aux + 3 * (job.program.pairs - 1) * job.aux_stride;
  const auto next =
      prover::LogupEval<PackedScalar>::load_next(column, job.aux_stride, row, job.log_half);
  const auto step = [](Fp next_value, Fp mean, const LooseSum& values) {
    LooseSum sum;
    sum.add(next_value.value());
    sum.add(mean.value());
    sum.add(loose::negate(values.value()));
    return sum.value();
  };
  return {step(next.c0.v, job.sum_over_height.c0, row_values[0]),
          step(next.c1.v, job.sum_over_height.c1, row_values[1]),
          step(next.c2.v, job.sum_over_height.c2, row_values[2])};
}

__device__ __forceinline__ void add_constraints(const LogupQuotientJob& job,
                                                const LogupProgram& program, LogupTile tile,
                                                const LooseFactor* alphas, size_t row,
                                                LazyCubicSum& total) {
  LogupRow interactions(program, tile);
  const size_t stride = job.aux_stride;
  const Fp* aux = job.aux + row;
  LooseCubic u = load(aux, stride);
  LooseSum values[3];
#pragma unroll 1
  for (u32 left = program.pairs; left > 0; --left) {
    // The next one is on its way while this one is worked on.
    LooseCubic next{};
    values[0].add(u.c0);
    values[1].add(u.c1);
    values[2].add(u.c2);
    if (left > 1) {
      aux += 3 * stride;
      next = load(aux, stride);
    } else {
      u = accumulator_step(job, row, values);
    }
    total.add(interactions.constraint(u), *alphas++);
    u = next;
  }
}

__global__ void __launch_bounds__(kLogupRows, kLogupBlocksPerSm)
    quotient_kernel(const __grid_constant__ LogupQuotient q) {
  extern __shared__ __align__(16) u64 shared[];
  const LogupQuotientHeight h = q.heights[find_job(
      q.heights, q.height_count, [](const LogupQuotientHeight& x) { return x.first_block; })];
  const size_t row = size_t{blockIdx.x - h.first_block} * kLogupRows + threadIdx.x;
  LazyCubicSum total;
  for (u32 j = 0; j < h.job_count; ++j) {
    const LogupQuotientJob& job = q.jobs[h.first_job + j];
    const LogupProgram program = load_program(job.program, job.columns, shared);
    LooseFactor* alphas = reinterpret_cast<LooseFactor*>(shared + program.word_count());
    for (u32 i = threadIdx.x; i < program.pairs; i += kLogupRows) {
      alphas[i] = LooseFactor::of(LooseCubic::of(job.alpha_powers[i]));
    }
    __syncthreads();
    if (row >= h.rows) continue;
    u64* values = shared + program.word_count() + kFactorWords * program.pairs;
    const LogupTile tile = load_tile(program, row, values);
    add_constraints(job, program, tile, alphas, row, total);
  }
  if (row >= h.rows) return;
  const DevicePlanes planes{h.out, h.rows};
  planes.set(row, total.value().canonical());
}

}  // namespace

u32 logup_quotient_bytes(const LogupProgram& program) {
  return static_cast<u32>(sizeof(u64)) *
         (program_and_tile_words(program) + kFactorWords * program.pairs);
}

void launch_logup_quotient(const LogupQuotient& quotient, cudaStream_t stream) {
  if (quotient.height_count == 0) return;
  allow_shared(quotient_kernel, quotient.shared_bytes);
  quotient_kernel<<<quotient.blocks, kLogupRows, quotient.shared_bytes, stream>>>(quotient);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
