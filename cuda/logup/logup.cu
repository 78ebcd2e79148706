// Pairs of interactions -> fractions (thread per row and pair) -> batch inversion -> row totals ->
// a scan for the accumulator. Bound: integer multiplication (about 13 k instructions a row of a
// 16-interaction chip).
#include "cuda/logup/logup.hpp"
#include "cuda/rt/batch_invert.cuh"
#include "prover/field/packed_scalar.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;
using prover::LogupTable;
using prover::PackedScalar;
using prover::TableColumns;
using Eval = prover::LogupEval<PackedScalar>;

constexpr u32 kThreads = 128;
constexpr u32 kScanRows = 256;

__device__ Fp3 unpack(const prover::Cubic<PackedScalar>& e) {
  return {e.c0.v, e.c1.v, e.c2.v};
}

/// numerator -> scratch, denominator -> aux, of pair blockIdx.y.
__global__ void __launch_bounds__(kThreads)
    fraction_kernel(const __grid_constant__ LogupTable table,
                    const __grid_constant__ TableColumns columns, size_t rows, Fp* aux,
                    Fp* scratch) {
  const size_t row = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  const Eval::Fraction f = Eval::pair_fraction(table, blockIdx.y, columns, row);
  const size_t plane = size_t{3 * blockIdx.y} * rows;
  DevicePlanes{scratch + plane, rows}.set(row, unpack(f.numerator));
  DevicePlanes{aux + plane, rows}.set(row, unpack(f.denominator));
}

/// value = numerator / denominator, in place of the denominator. Element i is row i % rows of pair
/// i / rows.
struct DivideOp {
  Fp* aux;
  const Fp* scratch;
  size_t rows;
  u32 log_rows;

  __device__ size_t at(size_t i) const { return (i >> log_rows) * 3 * rows + (i & (rows - 1)); }
  __device__ Fp3 denominator(size_t i) const { return DevicePlanes{aux, rows}.get(at(i)); }
  __device__ void finish(size_t i, const Fp3& inverse) const {
    const Fp3 n{scratch[at(i)], scratch[at(i) + rows], scratch[at(i) + 2 * rows]};
    DevicePlanes{aux, rows}.set(at(i), n * inverse);
  }
};

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

/// Row totals of all pairs into the accumulator column, and each block's sum.
__global__ void __launch_bounds__(kScanRows)
    total_kernel(Fp* aux, u32 pairs, size_t rows, Fp3* block_sums) {
  const size_t row = size_t{blockIdx.x} * kScanRows + threadIdx.x;
  Fp3 total{};
  if (row < rows) {
    for (u32 j = 0; j < pairs; ++j) total += DevicePlanes{aux + 3 * j * rows, rows}.get(row);
    DevicePlanes{aux + 3 * (pairs - 1) * rows, rows}.set(row, total);
  }
  const Fp3 sum = scan_block(total);
  if (threadIdx.x == kScanRows - 1) block_sums[blockIdx.x] = sum;
}

/// Exclusive scan of the block sums, by one block; *sum = everything.
__global__ void __launch_bounds__(kScanRows)
    scan_sums_kernel(Fp3* block_sums, u32 blocks, Fp3* sum) {
  __shared__ Fp3 carry;
  if (threadIdx.x == 0) carry = Fp3{};
  __syncthreads();
  for (u32 first = 0; first < blocks; first += kScanRows) {
    const u32 i = first + threadIdx.x;
    const Fp3 v = i < blocks ? block_sums[i] : Fp3{};
    const Fp3 inclusive = scan_block(v);
    const Fp3 before = carry;
    __syncthreads();
    if (i < blocks) block_sums[i] = before + inclusive - v;
    if (threadIdx.x == kScanRows - 1) carry = before + inclusive;
    __syncthreads();
  }
  if (threadIdx.x == 0) *sum = carry;
}

/// acc[i] = sum of totals before i, minus i * L / N.
__global__ void __launch_bounds__(kScanRows)
    accumulate_kernel(Fp* acc, size_t rows, const Fp3* block_sums, const Fp3* sum,
                      Fp inverse_rows) {
  const size_t row = size_t{blockIdx.x} * kScanRows + threadIdx.x;
  const DevicePlanes planes{acc, rows};
  const Fp3 v = row < rows ? planes.get(row) : Fp3{};
  const Fp3 inclusive = scan_block(v);
  if (row >= rows) return;
  const Fp3 mean = *sum * inverse_rows;
  planes.set(row, block_sums[blockIdx.x] + inclusive - v - mean * Fp::from_u64(row));
}

__global__ void __launch_bounds__(kThreads)
    logup_quotient_kernel(const __grid_constant__ LogupTable table,
                          const __grid_constant__ prover::LogupQuotientArgs args, size_t rows,
                          Fp* out, size_t out_stride) {
  const size_t row = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  prover::LogupQuotientArgs q = args;
  q.table = &table;
  const DevicePlanes planes{out, out_stride};
  planes.set(row, planes.get(row) + unpack(Eval::constraints(q, row)));
}

}  // namespace

void launch_logup(const LogupTable& table, const TableColumns& trace, u32 log_rows, Fp* aux,
                  Fp* scratch, Fp3* sum, cudaStream_t stream) {
  const size_t rows = size_t{1} << log_rows;
  const u32 pairs = table.pair_count();
  const u32 blocks = static_cast<u32>((rows + kThreads - 1) / kThreads);
  fraction_kernel<<<dim3(blocks, pairs), kThreads, 0, stream>>>(table, trace, rows, aux, scratch);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
  for (u32 j = 0; j < pairs; ++j) {
    const size_t plane = size_t{3 * j} * rows;
    batch_invert(DivideOp{aux + plane, scratch + plane, rows, log_rows}, rows, stream);
  }
  Fp3* block_sums = reinterpret_cast<Fp3*>(scratch);
  const u32 scan_blocks = static_cast<u32>((rows + kScanRows - 1) / kScanRows);
  total_kernel<<<scan_blocks, kScanRows, 0, stream>>>(aux, pairs, rows, block_sums);
  scan_sums_kernel<<<1, kScanRows, 0, stream>>>(block_sums, scan_blocks, sum);
  accumulate_kernel<<<scan_blocks, kScanRows, 0, stream>>>(
      aux + 3 * (pairs - 1) * rows, rows, block_sums, sum, Fp::from_u64(rows).inverse());
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void launch_logup_quotient(const LogupTable& table, const prover::LogupQuotientArgs& args,
                           size_t rows, Fp* out, size_t out_stride, cudaStream_t stream) {
  const u32 blocks = static_cast<u32>((rows + kThreads - 1) / kThreads);
  logup_quotient_kernel<<<blocks, kThreads, 0, stream>>>(table, args, rows, out, out_stride);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
