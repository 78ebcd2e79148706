// All rows a tree needs hashed, as one launch's parameter.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/merkle/merkle.hpp"

namespace epochd::cuda {

/// The rows of one height.
struct RowJob {
  prover::Digest* out;
  u64 rows;
  u32 first_segment;
  u32 width;
  u32 chunks;
  u32 groups;  ///< of 32 rows, in one block
  u32 first_block;
  u32 blocks;
};

struct RowBatch {
  RowSegment segments[kTreeSegmentsMax];
  RowJob jobs[kTreeHeightsMax];
  prover::Blake3Key key;
  u32 segment_count = 0;
  u32 job_count = 0;
  u32 block_count = 0;

  void add(const RowSource& source, u64 rows, prover::Digest* out);
  void launch(cudaStream_t stream) const;
};
static_assert(sizeof(RowBatch) < 32764, "a kernel's parameters have a limit");

/// Levels 1 and up over the leaves in `levels`. Where bit l of joins is set, level l holds digests
/// of the rows that join there, and they are replaced by the joined nodes.
void build_levels(prover::Digest* levels, u32 log_leaves, u32 joins, cudaStream_t stream);

}  // namespace epochd::cuda
