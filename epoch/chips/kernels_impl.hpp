// Instantiates every chip's constraints for one pack. Included only by kernels_<isa>.cpp.
#pragma once

#include "epoch/chips/all_airs.hpp"
#include "prover/air/packed_fold.hpp"

namespace epochd::chips {

struct FoldTable {
  prover::FoldRows by_chip[kChipCount] = {};
};

template <class Pack, class... Entries>
constexpr FoldTable make_fold_table(AirList<Entries...>) {
  FoldTable t;
  ((t.by_chip[static_cast<u32>(Entries::kChip)] = &prover::fold_rows<typename Entries::Air, Pack>),
   ...);
  return t;
}

}  // namespace epochd::chips
