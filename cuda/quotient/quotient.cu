#include "cuda/quotient/quotient.hpp"

#include <array>

#include "cuda/rt/error.hpp"
#include "epoch/chips/all_airs.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 128;

template <class... Entries>
constexpr std::array<LaunchConstraints, kChipCount> make_table(chips::AirList<Entries...>) {
  std::array<LaunchConstraints, kChipCount> table{};
  ((table[static_cast<u32>(Entries::kChip)] = &launch_constraints<typename Entries::Air>), ...);
  return table;
}

__global__ void __launch_bounds__(kThreads)
    divide_kernel(prover::Fp* out, u32 log_n, prover::Fp inverse0, prover::Fp inverse1) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  const size_t rows = size_t{2} << log_n;
  if (i >= rows) return;
  out[blockIdx.y * rows + i] *= (i >> log_n) == 0 ? inverse0 : inverse1;
}

}  // namespace

LaunchConstraints constraints_of(ChipId chip) {
  static constexpr auto kTable = make_table(chips::AllAirs{});
  return kTable[static_cast<u32>(chip)];
}

void launch_divide(prover::Fp* out, u32 log_n, prover::Fp inverse0, prover::Fp inverse1,
                   cudaStream_t stream) {
  const u32 blocks = static_cast<u32>(((size_t{2} << log_n) + kThreads - 1) / kThreads);
  divide_kernel<<<dim3(blocks, 3), kThreads, 0, stream>>>(out, log_n, inverse0, inverse1);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
