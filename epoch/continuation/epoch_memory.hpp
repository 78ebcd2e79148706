// The memory that proving any epoch of a size takes at most, so that a configuration that does not
// fit its host is refused before it runs.
#pragma once

#include "epoch/continuation/proof_format.hpp"

namespace epochd {

/// Bytes of the CPU prover for the largest epoch the area cap lets through: session arena,
/// transform scratch and records. Not in it: the program's own fixed tables, which no parameter
/// bounds. Most programs need a quarter to a half of this: the cap counts a refresh and a boundary
/// row for every access.
u64 cpu_epoch_bytes_max(const RunParams& params, u32 threads);

}  // namespace epochd
