// LogUp columns of one table on the device, and the LogUp constraints' share of the quotient.
// Interactions are data: one kernel serves every chip.
#pragma once

#include <cuda_runtime_api.h>

#include "prover/air/logup_eval.hpp"

namespace epochd::cuda {

/// Words of scratch launch_logup needs for a table.
inline size_t logup_scratch_words(u32 pairs, u32 log_rows) {
  return (size_t{3 * pairs} << log_rows) + 3 * ((size_t{1} << log_rows) / 256 + 1) + 8;
}

/// Fills aux [3 * pairs][2^log_rows] from the trace; *sum (device) = L. All pointers in `table` are
/// device memory.
void launch_logup(const prover::LogupTable& table, const prover::TableColumns& trace, u32 log_rows,
                  prover::Fp* aux, prover::Fp* scratch, prover::Fp3* sum, cudaStream_t stream);

/// Adds the LogUp constraints on `rows` LDE rows to out (three planes). args.table is ignored for
/// `table`.
void launch_logup_quotient(const prover::LogupTable& table, const prover::LogupQuotientArgs& args,
                           size_t rows, prover::Fp* out, size_t out_stride, cudaStream_t stream);

}  // namespace epochd::cuda
