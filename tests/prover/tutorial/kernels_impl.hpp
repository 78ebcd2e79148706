// Included only by kernels_<isa>.cpp: one table of functions per pack.
#pragma once

#include "prover/air/packed_fold.hpp"
#include "tests/prover/tutorial/airs.hpp"

namespace epochd::prover::tutorial {

struct FoldSet {
  FoldRows alu, nibbles, sum;
};

template <class Pack>
constexpr FoldSet make_fold_set() {
  return {&fold_rows<AluAir, Pack>, &fold_rows<NibblesAir, Pack>, &fold_rows<SumAir, Pack>};
}

}  // namespace epochd::prover::tutorial
