#include "prover/field/packed_scalar.hpp"
#include "prover/prove/cpu/kernels_impl.hpp"

namespace epochd::prover::cpu {

extern const Kernels kKernelsScalar;
const Kernels kKernelsScalar = KernelsImpl<PackedScalar>::kTable;

}  // namespace epochd::prover::cpu
