#include "epoch/chips/kernels_impl.hpp"
#include "prover/field/packed_avx2.hpp"

namespace epochd::chips {

extern const FoldTable kFoldAvx2;
const FoldTable kFoldAvx2 = make_fold_table<prover::PackedAvx2>(AllAirs{});

}  // namespace epochd::chips
