// The mixed-height Merkle tree of protocol.md section 2. Rows of the tallest height are the leaves;
// where 2^r nodes are left and a height of 2^r rows joins, node i is
//   H_inject(H_node(left, right), H_leaf(row i of that height)).
#pragma once

#include <span>
#include <vector>

#include "prover/core/aligned_buffer.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"
#include "prover/field/fp.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::prover {

/// The matrices of one height, side by side: row i is entry i of each column, in this order.
struct HeightColumns {
  u32 log_rows;
  std::vector<const Fp*> columns;
};

class MerkleTree {
 public:
  MerkleTree() = default;
  /// Digests of all levels of a tree over 2^log_leaves leaves, padding included.
  static size_t digest_count(u32 log_leaves) { return size_t{2} << log_leaves; }
  /// Pre: at least one height, heights strictly descending, each with at least one column.
  /// `memory`: digest_count(log2 of the tallest) digests that outlive the tree, 64-byte aligned;
  /// null: the tree has its own.
  static MerkleTree build(Isa isa, std::span<const HeightColumns> heights, const Parallel& parallel,
                          Digest* memory = nullptr);

  const Digest& root() const { return levels_.back()[0]; }
  u32 log_leaves() const { return static_cast<u32>(levels_.size()) - 1; }
  /// Level 0 is the leaves, the last one the root alone; injections are done.
  std::span<const Digest> level(u32 l) const { return levels_[l]; }

  /// Appends the digests that merkle_root() cannot derive when the leaves `indices` are opened:
  /// level by level from the leaves up, index ascending. Pre: sorted, unique, in range, not empty.
  void append_siblings(std::span<const u32> indices, std::vector<u64>& words) const;

 private:
  AlignedBuffer<Digest> own_;
  std::vector<std::span<Digest>> levels_;
};

}  // namespace epochd::prover
