// The CPU prover evaluates constraints on packs of rows, once per instruction set. Each
// kernels_<isa>.cpp instantiates fold_rows for every AIR; this header is all the rest sees.
#pragma once

#include "prover/prove/table_source.hpp"

namespace epochd::prover::tutorial {

struct Kernels {
  AirKernels alu, nibbles, sum;
};
const Kernels& kernels();

}  // namespace epochd::prover::tutorial
