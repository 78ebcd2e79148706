#include "epoch/chips/kernels.hpp"

#include <array>

#include "epoch/chips/kernels_impl.hpp"

namespace epochd::chips {

extern const FoldTable kFoldScalar;
extern const FoldTable kFoldAvx2;
extern const FoldTable kFoldAvx512;

const prover::AirKernels& air_kernels(ChipId chip) {
  static const std::array<prover::AirKernels, kChipCount> kernels = [] {
    std::array<prover::AirKernels, kChipCount> k;
    for (u32 i = 0; i < kChipCount; ++i) {
      k[i].fold = {kFoldScalar.by_chip[i], kFoldAvx2.by_chip[i], kFoldAvx512.by_chip[i]};
    }
    return k;
  }();
  return kernels[static_cast<u32>(chip)];
}

}  // namespace epochd::chips
