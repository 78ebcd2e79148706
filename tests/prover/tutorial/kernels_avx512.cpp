#include "prover/field/packed_avx512.hpp"
#include "tests/prover/tutorial/kernels_impl.hpp"

namespace epochd::prover::tutorial {

extern const FoldSet kFoldAvx512;
const FoldSet kFoldAvx512 = make_fold_set<PackedAvx512>();

}  // namespace epochd::prover::tutorial
