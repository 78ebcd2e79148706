// Lookup multiplicities on the device: the same counts as the CPU session's, from the same linear
// forms.
#pragma once

#include <cuda_runtime_api.h>

#include "prover/air/table_columns.hpp"

namespace epochd::cuda {

/// constant + sum of coefficient * column over terms [first, first + count).
struct CountForm {
  u32 first;
  u32 count;
  prover::Fp constant;
};
struct CountTerm {
  u32 column;
  prover::Fp coefficient;
};

/// Where a tuple is counted; see prover::LookupSpec, whose fields these are.
struct CountTarget {
  unsigned long long* counters;  ///< [counter_count << log_height]
  const u32* row_of;             ///< null: none
  u64 row_of_size;
  u64 weights[8];
  u64 row_base;
  u32 row_shift;
  u32 log_height;
  u32 counter_count;
  u32 selects_column;
};

/// One send on a lookup bus.
struct CountAccess {
  CountForm multiplicity;
  CountForm tuple[8];
  u32 arity;
  u32 target;
};

/// One table's sends. All pointers but none of the contents are device memory.
struct CountJob {
  prover::TableColumns columns;
  size_t rows;
  const CountAccess* accesses;
  u32 access_count;
  const CountTerm* terms;
  const CountTarget* targets;
};

void launch_count(const CountJob& job, cudaStream_t stream);

}  // namespace epochd::cuda
