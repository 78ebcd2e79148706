// LogUp on the device: the columns of all tables in three launches, and the LogUp constraints'
// share of every quotient in one. Interactions are data: the same kernels serve every chip.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/logup/program.hpp"
#include "prover/core/hd.hpp"

namespace epochd::cuda {

constexpr u32 kLogupScanRows = kLogupRows;
EPOCHD_HD constexpr u32 blocks_of(u32 log_rows, u32 rows_per_block) {
  return static_cast<u32>(((u64{1} << log_rows) + rows_per_block - 1) / rows_per_block);
}

/// One table's columns. All pointers, also that inside `program`, are device memory.
struct LogupJob {
  LogupProgram program;
  prover::TableColumns trace;
  u32 log_rows;
  u32 first_block;  ///< of blocks_of(log_rows, kLogupRows)
  prover::Fp inverse_rows;
  prover::Fp* aux;          ///< out: [3 * pairs][2^log_rows]
  u64* scratch;             ///< [2 * pairs][2^log_rows]
  prover::Fp3* block_sums;  ///< scratch, one a block
  prover::Fp3* sum;         ///< out: L
};

/// Jobs in device memory, first blocks ascending from 0.
struct LogupJobs {
  const LogupJob* jobs;
  u32 count;
  u32 blocks;
  u32 shared_bytes;  ///< the most that logup_bytes() says of a table
};
void launch_logup(const LogupJobs& jobs, cudaStream_t stream);
u32 logup_bytes(const LogupProgram& program);

/// The LogUp constraints of one table on its LDE. Device pointers.
struct LogupQuotientJob {
  LogupProgram program;
  prover::TableColumns columns;  ///< on the LDE
  const prover::Fp* aux;         ///< aux K columns, [3 * pairs] of `aux_stride`
  size_t aux_stride;
  u32 log_half;                     ///< rows [k * 2^log_half, ...) are cosets of H, bit-reversed
  prover::Fp3 sum_over_height;      ///< L / N
  const prover::Fp3* alpha_powers;  ///< [pairs]
};

/// The tables of one height.
struct LogupQuotientHeight {
  u32 first_job;
  u32 job_count;
  u32 first_block;  ///< of blocks of kLogupRows rows
  size_t rows;
  prover::Fp* out;  ///< three planes of `rows`: the folded constraints, zeros without a job
};
/// Arrays in device memory.
struct LogupQuotient {
  const LogupQuotientHeight* heights;
  u32 height_count;
  const LogupQuotientJob* jobs;
  u32 blocks;        ///< of all heights
  u32 shared_bytes;  ///< the most that logup_quotient_bytes() says of a table
};
void launch_logup_quotient(const LogupQuotient& quotient, cudaStream_t stream);
u32 logup_quotient_bytes(const LogupProgram& program);

}  // namespace epochd::cuda
