// Which instruction set the CPU kernels use: the best one the machine has, unless EPOCHD_ISA says
// otherwise. Every kernel gives the same bytes on each of them.
#pragma once

#include "prover/core/types.hpp"

namespace epochd {

enum class Isa : u8 { kScalar, kAvx2, kAvx512 };

const char* isa_name(Isa isa);
bool isa_supported(Isa isa);
/// The value of EPOCHD_ISA (scalar, avx2 or avx512) if set, else the widest set this CPU has.
/// Errors: std::runtime_error if EPOCHD_ISA names an unknown or unsupported set.
Isa best_isa();

}  // namespace epochd
