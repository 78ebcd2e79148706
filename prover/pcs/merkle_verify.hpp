// The verifier's side of merkle.hpp: the root from opened rows and sibling digests. Freestanding,
// allocation-free: the caller lends the arrays that are worked on.
#pragma once

#include "prover/hash/digest.hpp"

namespace epochd::prover {

/// What is still unread of a proof's words.
struct WordCursor {
  const u64* next;
  const u64* end;
};

/// The opened rows of a height that joins below the leaves: one H_leaf digest for each distinct
/// (index >> (log_leaves - log_rows)), ascending.
struct MerkleJoin {
  u32 log_rows;
  const Digest* rows;
};

/// Recomputes the root from the digests of the leaves `indices`. Both arrays (count entries) are
/// overwritten. False, with `siblings` and `root` unspecified, if the words run out.
/// Pre: count >= 1; indices sorted, unique, < 2^log_leaves; joins by log_rows strictly descending,
/// all < log_leaves.
[[nodiscard]] bool merkle_root(u32 log_leaves, u32* indices, Digest* nodes, size_t count,
                               const MerkleJoin* joins, size_t join_count, WordCursor& siblings,
                               Digest& root);

}  // namespace epochd::prover
