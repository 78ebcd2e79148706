#include "prover/field/packed_avx2.hpp"
#include "tests/prover/tutorial/kernels_impl.hpp"

namespace epochd::prover::tutorial {

extern const FoldSet kFoldAvx2;
const FoldSet kFoldAvx2 = make_fold_set<PackedAvx2>();

}  // namespace epochd::prover::tutorial
