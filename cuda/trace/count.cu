// One thread counts every send of one row. A few values are very frequent (limb 0 above all), so
// lanes of a warp that hit the same counter are merged before the atomic: one add a warp and value.
// Bound: the L2's atomics.
#include "cuda/rt/error.hpp"
#include "cuda/trace/count.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;

constexpr u32 kThreads = 128;
constexpr u32 kNoCounter = ~u32{0};

__device__ Fp evaluate(const CountJob& job, const CountForm& form, size_t row) {
  Fp v = form.constant;
  for (u32 t = form.first; t < form.first + form.count; ++t) {
    const Fp x = job.columns.column(job.terms[t].column)[row];
    const Fp k = job.terms[t].coefficient;
    v += k == Fp::one() ? x : k * x;
  }
  return v;
}

/// The counter a tuple hits, or kNoCounter. 32 bits: the warp compares them in half the time.
__device__ u32 counter_of(const CountTarget& target, const u64* tuple, u32 arity) {
  u64 index = 0;
  for (u32 i = 0; i < arity; ++i) {
    if (tuple[i] >= (u64{1} << 32)) return kNoCounter;
    index += target.weights[i] * tuple[i];
  }
  if (index < target.row_base) return kNoCounter;
  index -= target.row_base;
  if ((index & ((u64{1} << target.row_shift) - 1)) != 0) return kNoCounter;
  index >>= target.row_shift;
  if (target.row_of != nullptr) {
    if (index >= target.row_of_size || target.row_of[index] == ~u32{0}) return kNoCounter;
    index = target.row_of[index];
  }
  const u64 column = target.selects_column != 0 ? tuple[0] : 0;
  if (index >= (u64{1} << target.log_height) || column >= target.counter_count) return kNoCounter;
  return static_cast<u32>((column << target.log_height) + index);
}

__global__ void __launch_bounds__(kThreads) count_kernel(const __grid_constant__ CountJob job) {
  const size_t row = size_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool in_table = row < job.rows;
  const u32 lane = threadIdx.x % 32;
  for (u32 a = 0; a < job.access_count; ++a) {
    const CountAccess& access = job.accesses[a];
    const CountTarget& target = job.targets[access.target];
    u32 counter = kNoCounter;
    if (in_table && evaluate(job, access.multiplicity, row) == Fp::one()) {
      u64 tuple[8];
      for (u32 k = 0; k < access.arity; ++k) {
        tuple[k] = evaluate(job, access.tuple[k], row).value();
      }
      counter = counter_of(target, tuple, access.arity);
    }
    const u32 same = __match_any_sync(0xffffffffu, counter);
    if (counter != kNoCounter && lane == static_cast<u32>(__ffs(static_cast<int>(same))) - 1) {
      atomicAdd(target.counters + counter, static_cast<unsigned long long>(__popc(same)));
    }
  }
}

}  // namespace

void launch_count(const CountJob& job, cudaStream_t stream) {
  if (job.rows == 0 || job.access_count == 0) return;
  const u32 blocks = static_cast<u32>((job.rows + kThreads - 1) / kThreads);
  count_kernel<<<blocks, kThreads, 0, stream>>>(job);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
