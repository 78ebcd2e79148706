// Constraint kernels of every chip, for the CPU prover.
#pragma once

#include "epoch/machine.hpp"
#include "prover/prove/table_source.hpp"

namespace epochd::chips {

/// Pre: the chip has an AIR.
const prover::AirKernels& air_kernels(ChipId chip);

}  // namespace epochd::chips
