// The constraint kernel: thread per LDE row, `eval` over a one-row pack. Grid-stride-free: rows are
// a power of two.
#pragma once

#include "cuda/quotient/quotient.hpp"
#include "cuda/rt/error.hpp"
#include "cuda/rt/planes.cuh"
#include "prover/field/packed_scalar.hpp"

namespace epochd::cuda {

constexpr u32 kConstraintThreads = 128;

template <class Air>
__global__ void __launch_bounds__(kConstraintThreads)
    constraints_kernel(const __grid_constant__ prover::FoldArgs args, size_t rows, prover::Fp* out,
                       size_t out_stride) {
  const size_t row = size_t{blockIdx.x} * kConstraintThreads + threadIdx.x;
  if (row >= rows) return;
  prover::PackedFold<prover::PackedScalar> c(args, row);
  Air::eval(c);
  const DevicePlanes planes{out, out_stride};
  planes.set(row, planes.get(row) + prover::Fp3{c.sum.c0.v, c.sum.c1.v, c.sum.c2.v});
}

template <class Air>
void launch_constraints(const prover::FoldArgs& args, size_t rows, prover::Fp* out,
                        size_t out_stride, cudaStream_t stream) {
  if constexpr (Air::kConstraints == 0) return;
  const u32 blocks = static_cast<u32>((rows + kConstraintThreads - 1) / kConstraintThreads);
  constraints_kernel<Air><<<blocks, kConstraintThreads, 0, stream>>>(args, rows, out, out_stride);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
