// LogUp on the device: the columns of all tables in five launches, and the LogUp constraints' share
// of every quotient in one. Interactions are data: the same kernels serve every chip.
#pragma once

#include <cuda_runtime_api.h>

#include "prover/air/logup_eval.hpp"
#include "prover/core/hd.hpp"

namespace epochd::cuda {

/// One table's columns. All pointers, also those inside `table`, are device memory.
struct LogupJob {
  prover::LogupTable table;
  prover::TableColumns trace;
  u32 log_rows;
  u32 pairs;
  u32 first_block;  ///< of the fraction launch: pairs * blocks_of(log_rows, kLogupRowsPerBlock)
  u32 first_divide_block;  ///< of the division launch: pairs * blocks_of(log_rows,
                           ///< kLogupDivideRows)
  u32 first_scan_block;    ///< of the scan launches: blocks_of(log_rows, kLogupScanRows)
  prover::Fp inverse_rows;
  prover::Fp* aux;          ///< out: [3 * pairs][2^log_rows]
  prover::Fp* numerators;   ///< scratch of the same shape
  prover::Fp3* block_sums;  ///< scratch, one a scan block
  prover::Fp3* sum;         ///< out: L
};

constexpr u32 kLogupRowsPerBlock = 128;
constexpr u32 kLogupDivideRows = 1024;
constexpr u32 kLogupScanRows = 256;
EPOCHD_HD constexpr u32 blocks_of(u32 log_rows, u32 rows_per_block) {
  return static_cast<u32>(((u64{1} << log_rows) + rows_per_block - 1) / rows_per_block);
}

/// Blocks of each launch, over all tables.
struct LogupGrid {
  u32 fraction = 0;
  u32 divide = 0;
  u32 scan = 0;
};

/// `jobs` (device) ascending in all their first blocks.
void launch_logup(const LogupJob* jobs, u32 job_count, const LogupGrid& grid, cudaStream_t stream);

/// The tables of one height.
struct LogupQuotientHeight {
  const prover::LogupQuotientArgs* jobs;  ///< tables in device memory too
  u32 job_count;
  u32 first_block;  ///< blocks of kLogupRowsPerBlock rows
  size_t rows;
  prover::Fp* out;  ///< three planes of `rows`; the constraints are added
};
void launch_logup_quotient(const LogupQuotientHeight* heights, u32 height_count, u32 total_blocks,
                           cudaStream_t stream);

}  // namespace epochd::cuda
