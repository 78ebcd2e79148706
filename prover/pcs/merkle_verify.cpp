#include "prover/pcs/merkle_verify.hpp"

#include "prover/hash/blake3.hpp"
#include "prover/hash/domains.hpp"

namespace epochd::prover {

namespace {

bool take(WordCursor& cursor, Digest& digest) {
  if (cursor.end - cursor.next < 4) return false;
  __builtin_memcpy(digest.words, cursor.next, sizeof digest.words);
  cursor.next += 4;
  return true;
}

/// One level up, in place. Returns the number of parents, or 0 if the siblings run out.
size_t hash_level(u32* indices, Digest* nodes, size_t count, WordCursor& siblings) {
  size_t parents = 0;
  for (size_t i = 0; i < count; ++i) {
    const u32 index = indices[i];
    const Digest node = nodes[i];
    Digest sibling;
    // Only a left child can have its sibling opened behind it, as indices ascend.
    if (i + 1 < count && indices[i + 1] == (index ^ 1)) {
      sibling = nodes[++i];
    } else if (!take(siblings, sibling)) {
      return 0;
    }
    const bool is_left = (index & 1) == 0;
    nodes[parents] =
        blake3_pair(domains::kNode, is_left ? node : sibling, is_left ? sibling : node);
    indices[parents++] = index >> 1;
  }
  return parents;
}

}  // namespace

bool merkle_root(u32 log_leaves, u32* indices, Digest* nodes, size_t count, const MerkleJoin* joins,
                 size_t join_count, WordCursor& siblings, Digest& root) {
  size_t next = 0;
  for (u32 log_nodes = log_leaves; log_nodes-- > 0;) {
    count = hash_level(indices, nodes, count, siblings);
    if (count == 0) return false;
    if (next == join_count || joins[next].log_rows != log_nodes) continue;
    for (size_t i = 0; i < count; ++i) {
      nodes[i] = blake3_pair(domains::kInject, nodes[i], joins[next].rows[i]);
    }
    ++next;
  }
  root = nodes[0];
  return true;
}

}  // namespace epochd::prover
