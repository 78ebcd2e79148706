#include "cuda/open/points.hpp"

#include <algorithm>

#include "prover/core/assert.hpp"

namespace epochd::cuda {

using prover::Fp;

namespace {

void append_table(u32 log_n, Fp shift, bool inverse, std::vector<Fp>& out) {
  const u32 log_low = std::min(log_n, kPointsLogLow);
  const size_t low = size_t{1} << kPointsLogLow;
  const Fp root = inverse ? Fp::two_adic_root(log_n).inverse() : Fp::two_adic_root(log_n);
  const size_t first = out.size();
  out.resize(first + point_table_words(log_n), Fp::one());
  Fp* table = out.data() + first;
  for (u32 j = 0; j < log_n; ++j) {
    const Fp step = root.pow(u64{1} << (log_n - 1 - j));
    Fp* part = j < log_low ? table : table + low;
    const size_t half = size_t{1} << (j < log_low ? j : j - log_low);
    for (size_t i = 0; i < half; ++i) part[half + i] = part[i] * step;
  }
  for (size_t i = low; i < point_table_words(log_n); ++i) table[i] *= shift;
}

}  // namespace

PointTables::PointTables(Fp shift, bool inverse, u32 log_n_max)
    : block_(point_table_bytes(log_n_max)) {
  std::vector<Fp> words;
  for (u32 log_n = 0; log_n <= log_n_max; ++log_n) {
    first_.push_back(words.size());
    append_table(log_n, shift, inverse, words);
  }
  EPOCHD_CUDA_CHECK(
      cudaMemcpy(block_.data(), words.data(), block_.bytes(), cudaMemcpyHostToDevice));
}

DevicePoints PointTables::get(u32 log_n) const {
  EPOCHD_ASSERT(log_n < first_.size());
  const Fp* base = reinterpret_cast<const Fp*>(block_.data()) + first_[log_n];
  return {base, base + (size_t{1} << kPointsLogLow)};
}

}  // namespace epochd::cuda
