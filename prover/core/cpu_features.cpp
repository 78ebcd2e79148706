#include "prover/core/cpu_features.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace epochd {

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kScalar:
      break;
  }
  return "scalar";
}

bool isa_supported(Isa isa) {
#if defined(__x86_64__)
  // The same sets that epochd_simd_sources compiles for.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
  return isa == Isa::kScalar || (isa == Isa::kAvx2 && avx2) || (isa == Isa::kAvx512 && avx512);
#else
  return isa == Isa::kScalar;
#endif
}

Isa best_isa() {
  const char* wanted = std::getenv("EPOCHD_ISA");
  for (const Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kScalar}) {
    if (wanted == nullptr || *wanted == '\0') {
      if (isa_supported(isa)) return isa;
    } else if (std::string(wanted) == isa_name(isa)) {
      if (isa_supported(isa)) return isa;
      throw std::runtime_error(std::string("EPOCHD_ISA=") + wanted +
                               " needs instructions this CPU lacks; unset it to use the best "
                               "set available, or choose scalar, avx2 or avx512");
    }
  }
  throw std::runtime_error(std::string("EPOCHD_ISA=") + wanted +
                           " is not an instruction set; use scalar, avx2 or avx512, or unset it");
}

}  // namespace epochd
