#include "epoch/chips/kernels_impl.hpp"
#include "prover/field/packed_avx512.hpp"

namespace epochd::chips {

extern const FoldTable kFoldAvx512;
const FoldTable kFoldAvx512 = make_fold_table<prover::PackedAvx512>(AllAirs{});

}  // namespace epochd::chips
