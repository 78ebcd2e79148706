#include "epoch/chips/kernels_impl.hpp"
#include "prover/field/packed_scalar.hpp"

namespace epochd::chips {

extern const FoldTable kFoldScalar;
const FoldTable kFoldScalar = make_fold_table<prover::PackedScalar>(AllAirs{});

}  // namespace epochd::chips
