#include "prover/field/packed_avx512.hpp"
#include "prover/prove/cpu/kernels_impl.hpp"

namespace epochd::prover::cpu {

extern const Kernels kKernelsAvx512;
const Kernels kKernelsAvx512 = KernelsImpl<PackedAvx512>::kTable;

}  // namespace epochd::prover::cpu
