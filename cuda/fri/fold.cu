// Thread per folded entry. Bound: memory (the word is read once).
#include "cuda/fri/fold.hpp"
#include "cuda/rt/error.hpp"
#include "cuda/rt/planes.cuh"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;

constexpr u32 kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    fold_kernel(const __grid_constant__ prover::FriFold fold, DevicePoints inverses, u32 k,
                const Fp* word, u32 log_word, Fp* next) {
  const size_t leaves = size_t{1} << (log_word - k);
  const size_t rows = size_t{1} << log_word;
  const size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (q >= leaves) return;
  Fp3 values[prover::kFoldMax];
  for (u32 v = 0; v < (1u << k); ++v) {
    const size_t i = (q << k) + v;
    values[v] = {word[i], word[i + rows], word[i + 2 * rows]};
  }
  DevicePlanes{next, leaves}.set(q, fold.apply_at(inverses.at(q << k), values));
}

}  // namespace

void launch_fri_fold(const prover::FriFold& fold, DevicePoints inverses, u32 k, const Fp* word,
                     u32 log_word, Fp* next, cudaStream_t stream) {
  const size_t leaves = size_t{1} << (log_word - k);
  fold_kernel<<<static_cast<u32>((leaves + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      fold, inverses, k, word, log_word, next);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
