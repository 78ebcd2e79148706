// Constraints of every chip over LDE rows: one template kernel a chip, each in a file of its own
// that CMake makes from constraints.cu.in; a chip without one does not link.
#pragma once

#include <cuda_runtime_api.h>

#include "epoch/machine.hpp"
#include "prover/air/packed_fold.hpp"

namespace epochd::cuda {

/// Adds the folded constraints of rows [0, rows) to out (three planes of out_stride).
using LaunchConstraints = void (*)(const prover::FoldArgs& args, size_t rows, prover::Fp* out,
                                   size_t out_stride, cudaStream_t stream);

template <class Air>
void launch_constraints(const prover::FoldArgs& args, size_t rows, prover::Fp* out,
                        size_t out_stride, cudaStream_t stream);

/// By ChipId; null for chips without an AIR.
LaunchConstraints constraints_of(ChipId chip);

/// out(i) *= i < 2^log_n ? inverse0 : inverse1, three planes of 2^(log_n + 1).
void launch_divide(prover::Fp* out, u32 log_n, prover::Fp inverse0, prover::Fp inverse1,
                   cudaStream_t stream);

}  // namespace epochd::cuda
