#include "prover/field/packed_avx2.hpp"
#include "prover/prove/cpu/kernels_impl.hpp"

namespace epochd::prover::cpu {

extern const Kernels kKernelsAvx2;
const Kernels kKernelsAvx2 = KernelsImpl<PackedAvx2>::kTable;

}  // namespace epochd::prover::cpu
