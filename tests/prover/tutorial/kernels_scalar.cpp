#include "prover/field/packed_scalar.hpp"
#include "tests/prover/tutorial/kernels_impl.hpp"

namespace epochd::prover::tutorial {

extern const FoldSet kFoldScalar;
const FoldSet kFoldScalar = make_fold_set<PackedScalar>();

}  // namespace epochd::prover::tutorial
