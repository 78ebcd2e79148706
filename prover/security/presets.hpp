// The parameter sets a verifier accepts. Nothing outside this list is ever accepted; every field is
// part of the statement. Query counts are for unique decoding (docs/soundness.md); no capacity
// conjecture anywhere.
#pragma once

#include "prover/core/types.hpp"

namespace epochd::prover {

struct Preset {
  u32 id;
  const char* name;
  u32 target_bits;  ///< 0: claims nothing
  u32 log_blowup;
  u32 query_count;
  u32 grinding_bits;
  u32 log_fold;          ///< FRI folds by 2^log_fold
  u32 log_final;         ///< FRI stops at degree < 2^log_final
  u32 instance_limit;    ///< instances of one chip in an epoch
  u32 group_size;        ///< boundaries of one global sub-proof
  u32 log_anchor_chunk;  ///< rows of one anchor chunk of the global proof
  u32 area_per_cycle;    ///< an epoch's table area is capped at this times 2^EPOCH_SIZE_LOG2
};

constexpr u32 kHashIdBlake3 = 1;

inline constexpr Preset kPresets[] = {
    {1, "proven100", 100, 1, 193, 20, 3, 6, 2, 8, 20, 192},
    {2, "proven128", 128, 2, 160, 20, 3, 6, 2, 8, 20, 192},
    {3, "proven128-fast", 128, 1, 261, 20, 3, 6, 2, 8, 20, 192},
    {100, "test", 0, 1, 8, 0, 3, 6, 2, 2, 6, 192},
};
constexpr u32 kQueriesMax = 261;

constexpr const Preset* find_preset(u32 id) {
  for (const Preset& p : kPresets) {
    if (p.id == id) return &p;
  }
  return nullptr;
}

}  // namespace epochd::prover
