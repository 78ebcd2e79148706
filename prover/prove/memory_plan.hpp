// Where every buffer of a CPU session lies in one arena, worked out from the layout before anything
// is allocated: bytes, and the stages between which a buffer is in use. Buffers whose times overlap
// do not share memory; all others may.
//
// Stages are numbered as prove() runs them: fill, all base commitments, logup, then for the LogUp
// and the quotient tree one stage a segment extended and one for the tree (the quotient itself
// before), open, deep, and two a FRI layer.
#pragma once

#include <vector>

#include "prover/verify/layout.hpp"

namespace epochd::prover {

struct PlannedBuffer {
  u64 bytes = 0;
  size_t stride = 0;  ///< elements from one column to the next; 0 if it holds no columns
  u32 first = 0;      ///< stages in which it is in use
  u32 last = 0;
  u64 offset = 0;  ///< in the arena
};

struct MemoryPlan {
  std::vector<PlannedBuffer> traces;  ///< by segment; a quotient's coefficients; none if fixed
  std::vector<PlannedBuffer> ldes;    ///< by segment; none if fixed
  std::vector<PlannedBuffer> trees;   ///< by tree; none where fixed
  PlannedBuffer points;               ///< of the tallest domain, for openings and DEEP
  std::vector<PlannedBuffer> words;   ///< the FRI word before each layer, and the last one
  std::vector<PlannedBuffer> layers;  ///< leaves by FRI layer
  std::vector<PlannedBuffer> layer_trees;
  u64 arena_bytes = 0;
  u64 scratch_bytes = 0;  ///< of transforms, beside the arena, at most

  u64 bytes() const { return arena_bytes + scratch_bytes; }
};

/// A tree is fixed if all its segments are; its columns and digests are the key's
/// (fixed_tree_bytes).
MemoryPlan plan_memory(const Layout& layout, u32 threads);

/// Bytes of a layout's fixed trees: traces, LDEs, digests.
u64 fixed_tree_bytes(const Layout& layout);

}  // namespace epochd::prover
