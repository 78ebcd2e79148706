#include "cuda/open/points.hpp"

#include <vector>

namespace epochd::cuda {

using prover::Fp;

DevicePoints PointTables::get(u32 log_n) {
  const u32 log_low = log_n < DevicePoints::kLogLow ? log_n : DevicePoints::kLogLow;
  const size_t low = size_t{1} << DevicePoints::kLogLow;
  const size_t high = size_t{1} << (log_n - log_low);
  DeviceBlock& block = blocks_[log_n];
  if (block.data() == nullptr) {
    const Fp root = inverse_ ? Fp::two_adic_root(log_n).inverse() : Fp::two_adic_root(log_n);
    std::vector<Fp> table(low + high, Fp::one());
    for (u32 j = 0; j < log_n; ++j) {
      const Fp step = root.pow(u64{1} << (log_n - 1 - j));
      Fp* part = j < log_low ? table.data() : table.data() + low;
      const size_t half = size_t{1} << (j < log_low ? j : j - log_low);
      for (size_t i = 0; i < half; ++i) part[half + i] = part[i] * step;
    }
    for (size_t i = low; i < table.size(); ++i) table[i] *= shift_;
    block = DeviceBlock(table.size() * sizeof(Fp));
    EPOCHD_CUDA_CHECK(
        cudaMemcpy(block.data(), table.data(), block.bytes(), cudaMemcpyHostToDevice));
  }
  const Fp* base = reinterpret_cast<const Fp*>(block.data());
  return {base, base + low};
}

}  // namespace epochd::cuda
