#include "prover/prove/cpu/kernels.hpp"

namespace epochd::prover::cpu {

extern const Kernels kKernelsScalar;
extern const Kernels kKernelsAvx2;
extern const Kernels kKernelsAvx512;

const Kernels& kernels(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return kKernelsAvx512;
    case Isa::kAvx2:
      return kKernelsAvx2;
    case Isa::kScalar:
      break;
  }
  return kKernelsScalar;
}

}  // namespace epochd::prover::cpu
