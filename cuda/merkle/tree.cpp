#include "cuda/merkle/row_batch.hpp"
#include "prover/hash/domains.hpp"

namespace epochd::cuda {

void build_tree(std::span<const TreeHeight> heights, prover::Digest* levels, cudaStream_t stream) {
  EPOCHD_ASSERT(!heights.empty() && heights.size() <= kTreeHeightsMax);
  const u32 log_leaves = heights[0].log_rows;
  RowBatch batch;
  batch.key = prover::domains::kLeaf;
  u32 joins = 0;
  // Short heights first: they are few blocks that take long, best started while others fill the
  // device.
  for (size_t h = heights.size(); h-- > 0;) {
    EPOCHD_ASSERT(h == 0 || heights[h].log_rows < heights[h - 1].log_rows);
    const u32 level = log_leaves - heights[h].log_rows;
    batch.add(heights[h].rows, u64{1} << heights[h].log_rows,
              levels + tree_level_offset(log_leaves, level));
    if (level > 0) joins |= 1u << level;
  }
  batch.launch(stream);
  build_levels(levels, log_leaves, joins, stream);
}

void build_fri_tree(const u64* planes, u64 plane_stride, u32 log_word, u32 log_fold,
                    prover::Digest* levels, cudaStream_t stream) {
  hash_fri_leaves(planes, plane_stride, log_word, log_fold, levels, stream);
  build_levels(levels, log_word - log_fold, 0, stream);
}

void append_sibling_positions(u32 log_leaves, std::span<const u32> indices,
                              std::vector<u64>& positions) {
  std::vector<u32> open(indices.begin(), indices.end());
  for (u32 level = 0; level < log_leaves; ++level) {
    size_t parents = 0;
    for (size_t i = 0; i < open.size(); ++i) {
      const u32 index = open[i];
      if (i + 1 < open.size() && open[i + 1] == (index ^ 1)) {
        ++i;
      } else {
        positions.push_back(tree_level_offset(log_leaves, level) + (index ^ 1));
      }
      open[parents++] = index >> 1;
    }
    open.resize(parents);
  }
}

}  // namespace epochd::cuda
