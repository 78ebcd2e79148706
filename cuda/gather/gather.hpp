// Copies opened rows and digests out of matrices and trees in device memory, in the order a proof
// holds them: everything that a proof opens by one launch.
#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include "cuda/merkle/row_source.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::cuda {

enum class GatherKind : u32 { kRows, kFriLeaves, kDigests };

/// One kind of thing out of one place. Device pointers; indices are the plan's.
struct GatherJob {
  GatherKind kind;
  u32 first_block;
  u32 first_index, index_count;
  u32 first_segment, segment_count;  ///< of rows
  u32 width;                         ///< words of a row, leaf or digest
  u32 unused;
  const u64* base;   ///< FRI's planes, or the tree
  u64 plane_stride;  ///< of FRI's planes
  u64 first_word;    ///< in the output
};

/// What to copy. add_...() append to the output; their indices are of rows, leaves or digests.
class GatherPlan {
 public:
  /// Row i is source.width words, column by column.
  void add_rows(const RowSource& source, std::span<const u32> rows);
  /// Leaf i of a FRI layer is 3 * 2^log_fold words in the order they are hashed (see
  /// build_fri_tree).
  void add_fri_leaves(const u64* planes, u64 plane_stride, u32 log_fold,
                      std::span<const u32> leaves);
  /// As append_sibling_positions() makes them.
  void add_digests(const prover::Digest* tree, std::span<const u64> positions);

  /// Words that are written.
  size_t words() const { return words_; }
  bool empty() const { return jobs_.empty(); }
  /// The plan as the kernel reads it, to be copied to the device.
  std::vector<u64> packed() const;

 private:
  friend void launch_gather(const GatherPlan& plan, const u64* packed, u64* out,
                            cudaStream_t stream);
  void add(GatherJob job, u32 blocks);

  std::vector<GatherJob> jobs_;
  std::vector<RowSegment> segments_;
  std::vector<u64> indices_;
  size_t words_ = 0;
  u32 blocks_ = 0;
};

/// Launches on `stream`. Shapes: packed and out [plan.words()] in device memory.
/// Errors: cuda::Error if the launch is refused.
void launch_gather(const GatherPlan& plan, const u64* packed, u64* out, cudaStream_t stream);

}  // namespace epochd::cuda
