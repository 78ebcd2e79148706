// The columns of the boundary trace. It is committed once, in the epoch proof, and read by two
// AIRs: BoundaryAir there and BoundaryGlobalAir in the global proof.
#pragma once

#include "prover/core/types.hpp"

namespace epochd::chips {

struct BoundaryColumns {
  enum Col : u32 {
    kIsReal,
    kKey,
    kInitLo,
    kInitHi,
    kInitEpoch,
    kFiniLo,
    kFiniHi,
    kFiniTs,
    kGapHi,  ///< label - 1 - init_epoch = (a 16-bit limb) + 2^16 * gap_hi
    kWidth,
  };
};

}  // namespace epochd::chips
