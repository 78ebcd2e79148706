#include "prover/pcs/merkle.hpp"

#include <algorithm>

#include "prover/core/assert.hpp"
#include "prover/hash/domains.hpp"
#include "prover/hash/rows.hpp"

namespace epochd::prover {

namespace {

/// Nodes hashed together: a multiple of every vector width, small enough for the stack.
constexpr size_t kGrain = 256;

void hash_height(Isa isa, const HeightColumns& height, size_t begin, size_t end, Digest* out) {
  hash_rows(isa, domains::kLeaf, height.columns.data(), static_cast<u32>(height.columns.size()),
            begin, end - begin, out);
}

void check(std::span<const HeightColumns> heights) {
  EPOCHD_ASSERT(!heights.empty());
  for (size_t h = 0; h < heights.size(); ++h) {
    EPOCHD_ASSERT(!heights[h].columns.empty());
    EPOCHD_ASSERT(h == 0 || heights[h].log_rows < heights[h - 1].log_rows);
  }
}

/// Fills `out` with the parents of `children`, joined by the rows of `joining` if it is not null.
void hash_level(Isa isa, std::span<const Digest> children, const HeightColumns* joining,
                std::span<Digest> out, const Parallel& parallel) {
  parallel.for_ranges(out.size(), kGrain, [&](size_t begin, size_t end) {
    const Digest* left = children.data() + 2 * begin;
    Digest* nodes = out.data() + begin;
    hash_pairs(isa, domains::kNode, left, left + 1, 2, end - begin, nodes);
    if (joining == nullptr) return;
    Digest rows[kGrain];
    hash_height(isa, *joining, begin, end, rows);
    hash_pairs(isa, domains::kInject, nodes, rows, 1, end - begin, nodes);
  });
}

}  // namespace

MerkleTree MerkleTree::build(Isa isa, std::span<const HeightColumns> heights,
                             const Parallel& parallel, Digest* memory) {
  check(heights);
  MerkleTree tree;
  const u32 log_leaves = heights[0].log_rows;
  if (memory == nullptr) {
    tree.own_ = AlignedBuffer<Digest>(digest_count(log_leaves));
    memory = tree.own_.data();
  }
  for (u32 l = 0; l <= log_leaves; ++l) {
    const size_t nodes = size_t{1} << (log_leaves - l);
    tree.levels_.emplace_back(memory, nodes);
    memory += nodes;
  }
  const std::span<Digest> leaves = tree.levels_[0];
  parallel.for_ranges(leaves.size(), kGrain, [&](size_t begin, size_t end) {
    hash_height(isa, heights[0], begin, end, leaves.data() + begin);
  });
  size_t next = 1;
  for (u32 l = 1; l <= log_leaves; ++l) {
    const bool joins = next < heights.size() && heights[next].log_rows == log_leaves - l;
    hash_level(isa, tree.levels_[l - 1], joins ? &heights[next] : nullptr, tree.levels_[l],
               parallel);
    if (joins) ++next;
  }
  return tree;
}

void MerkleTree::append_siblings(std::span<const u32> indices, std::vector<u64>& words) const {
  std::vector<u32> open(indices.begin(), indices.end());
  for (u32 l = 0; l < log_leaves(); ++l) {
    size_t parents = 0;
    for (size_t i = 0; i < open.size(); ++i) {
      const u32 index = open[i];
      if (i + 1 < open.size() && open[i + 1] == (index ^ 1)) {
        ++i;
      } else {
        const Digest& sibling = levels_[l][index ^ 1];
        words.insert(words.end(), std::begin(sibling.words), std::end(sibling.words));
      }
      open[parents++] = index >> 1;
    }
    open.resize(parents);
  }
}

}  // namespace epochd::prover
