// A block's program and tile in shared memory. Device code only.
#pragma once

#include "cuda/logup/logup.hpp"
#include "cuda/logup/row.hpp"
#include "cuda/rt/error.hpp"
#include "prover/core/assert.hpp"

namespace epochd::cuda {

/// Copies a word from global to shared memory while the thread goes on.
__device__ __forceinline__ void copy_async(u64* shared, const u64* global) {
  const u32 at = static_cast<u32>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0],[%1],8;" ::"r"(at), "l"(global) : "memory");
}

/// The program at the front of shared memory, for the whole block, with the addresses of columns in
/// their numbers' place: waits for all of it, before (others may still read what was there) and
/// after.
__device__ __forceinline__ LogupProgram load_program(const LogupProgram& program,
                                                     const prover::TableColumns& columns,
                                                     u64* shared) {
  LogupProgram local = program;
  const prover::TableColumns set = columns;
  local.words = shared;
  __syncthreads();
  for (u32 i = threadIdx.x; i < local.first_column(); i += kLogupRows) {
    shared[i] = program.words[i];
  }
  for (u32 s = threadIdx.x; s < local.slot_count; s += kLogupRows) {
    const prover::Fp* column = set.column(static_cast<u32>(program.columns()[s]));
    shared[local.first_column() + s] = reinterpret_cast<u64>(column);
  }
  __syncthreads();
  return local;
}

/// This thread's row of every slot, behind the program. A thread reads only what it copied itself.
__device__ __forceinline__ LogupTile load_tile(const LogupProgram& local, size_t row, u64* shared) {
  u64* values = shared + threadIdx.x;
  u64* to = values;
  const u64* columns = local.columns();
#pragma unroll 4
  for (u32 s = 0; s < local.slot_count; ++s, to += kLogupRows) {
    copy_async(to, reinterpret_cast<const u64*>(columns[s]) + row);
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  return {values, kLogupRows};
}

/// Blocks an SM should hold: 20 warps.
constexpr u32 kLogupBlocksPerSm = 5;
/// Lets a kernel have that much, and always the same: what is allowed holds for the process, and
/// other threads launch the kernel with sizes of their own. Called before every launch, which costs
/// less than remembering what was allowed on which device.
template <class Kernel>
void allow_shared(Kernel* kernel, u32 bytes) {
  EPOCHD_ASSERT(bytes <= kLogupSharedBytesMax);
  EPOCHD_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(kLogupSharedBytesMax)));
}

}  // namespace epochd::cuda
