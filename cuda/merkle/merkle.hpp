// Row hashing, the mixed-height Merkle tree and grinding on the device; the same digests as
// prover/pcs/merkle.hpp and prover/prove/cpu/fri.cpp.
//
// A tree is one array of digests: level 0 (the leaves) first, level l at tree_level_offset, the
// root last. Every call only launches kernels on `stream`; none allocates or waits. Errors:
// cuda::Error if a launch is refused.
#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include "cuda/merkle/row_source.hpp"
#include "prover/core/hd.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::cuda {

inline constexpr u32 kTreeLogLeavesMax = 28;
inline constexpr u32 kTreeHeightsMax = 32;
/// Segments of all heights of one tree together.
inline constexpr u32 kTreeSegmentsMax = 512;

/// Digests of a whole tree.
EPOCHD_HD constexpr u64 tree_digests(u32 log_leaves) {
  return (u64{2} << log_leaves) - 1;
}
/// Where level l starts. Pre: level <= log_leaves. The root is at level log_leaves.
EPOCHD_HD constexpr u64 tree_level_offset(u32 log_leaves, u32 level) {
  return (u64{2} << log_leaves) - (u64{2} << (log_leaves - level));
}
constexpr u64 tree_root_offset(u32 log_leaves) {
  return tree_digests(log_leaves) - 1;
}

/// The rows of one height of a tree.
struct TreeHeight {
  u32 log_rows = 0;
  RowSource rows;
};

/// out[i] = H_leaf(row i), i < rows.
void hash_rows(const RowSource& source, u64 rows, prover::Digest* out, cudaStream_t stream);

/// MerkleTree::build. Shapes: levels [tree_digests(heights[0].log_rows)].
/// Pre: heights strictly descending, none without columns, within the limits above.
void build_tree(std::span<const TreeHeight> heights, prover::Digest* levels, cudaStream_t stream);

/// The tree of a FRI layer: leaf j is the hash of the 2^log_fold consecutive K values from
/// j * 2^log_fold, words ordered (value, component); component c of value i is
/// planes[c * plane_stride + i]. Shapes: levels [tree_digests(log_word - log_fold)].
/// Pre: log_fold <= 4, log_fold <= log_word.
void build_fri_tree(const u64* planes, u64 plane_stride, u32 log_word, u32 log_fold,
                    prover::Digest* levels, cudaStream_t stream);

/// Leaves of build_fri_tree alone.
void hash_fri_leaves(const u64* planes, u64 plane_stride, u32 log_word, u32 log_fold,
                     prover::Digest* out, cudaStream_t stream);

/// *nonce (device memory) = the smallest nonce with the first word of H_grind(state | nonce)
/// < 2^(64 - bits); 0 if bits = 0. Pre: bits <= 40.
void grind(const prover::Digest& state, u32 bits, u64* nonce, cudaStream_t stream);

/// Appends where in the tree's array the digests are that MerkleTree::append_siblings() appends, in
/// its order. Host code. Pre: indices sorted, unique, < 2^log_leaves, not empty.
void append_sibling_positions(u32 log_leaves, std::span<const u32> indices,
                              std::vector<u64>& positions);

}  // namespace epochd::cuda
