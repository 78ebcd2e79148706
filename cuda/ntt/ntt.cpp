#include "cuda/ntt/ntt.hpp"

#include <algorithm>

#include "cuda/ntt/generic.hpp"
#include "cuda/ntt/powers.hpp"
#include "prover/core/assert.hpp"

namespace epochd::cuda {
namespace {

/// What coset_lde's batches of columns may take at most.
constexpr size_t kScratchWordsMax = size_t{1} << 27;

u32 batch_columns(u32 columns, u32 log_n) {
  const size_t fit = kScratchWordsMax >> (log_n + 1);
  return static_cast<u32>(std::min<size_t>(columns, std::max<size_t>(fit, 1)));
}

void check_shape(u32 log_n, u32 log_blowup) {
  EPOCHD_ASSERT(log_n >= kNttLogRowsMin && log_n <= kNttLogRowsMax);
  EPOCHD_ASSERT(log_blowup >= 1 && log_blowup <= kNttLogBlowupMax);
}

}  // namespace

struct NttTables::Impl {
  DeviceBlock powers;
};

NttTables::NttTables(std::span<const u32>, u32) : impl_(std::make_unique<Impl>()) {
  generic::prepare_lde();
  generic::prepare_single();
  const std::vector<u64> powers = make_powers();
  impl_->powers = DeviceBlock(powers.size() * sizeof(u64));
  const Stream stream;
  EPOCHD_CUDA_CHECK(cudaMemcpyAsync(impl_->powers.data(), powers.data(), impl_->powers.bytes(),
                                    cudaMemcpyHostToDevice, stream.get()));
  stream.synchronize();
}
NttTables::~NttTables() = default;
NttTables::NttTables(NttTables&&) noexcept = default;
NttTables& NttTables::operator=(NttTables&&) noexcept = default;

const u64* NttTables::powers() const {
  return reinterpret_cast<const u64*>(impl_->powers.data());
}

size_t lde_scratch_words(u32 columns, u32 log_n, u32) {
  if (log_n <= generic::kLogSmallMax) return 0;
  return size_t{batch_columns(columns, log_n)} << (log_n + 1);
}

void coset_lde(const NttTables& tables, const u64* in, u64* out, u64* scratch, u32 columns,
               u32 log_n, u32 log_blowup, cudaStream_t stream) {
  check_shape(log_n, log_blowup);
  if (columns == 0) return;
  const u64* powers = tables.powers();
  if (log_n <= generic::kLogSmallMax) {
    generic::lde_small(powers, in, out, columns, log_n, log_blowup, stream);
    return;
  }
  const size_t n = size_t{1} << log_n;
  const u32 pairs = 1u << (log_blowup - 1);
  const u32 batch = batch_columns(columns, log_n);
  for (u32 first = 0; first < columns; first += batch) {
    const u32 count = std::min(batch, columns - first);
    u64* to = out + (first * n << log_blowup);
    // X lives where the last block of each column goes, which is written only when X is read up.
    const generic::Work work{to + ((n << log_blowup) - n), n << log_blowup, scratch};
    generic::lde_first(powers, in + first * n, work, count, log_n, stream);
    for (u32 pair = 0; pair < pairs; ++pair) {
      generic::lde_middle(powers, work, count, log_n, log_blowup, pair, stream);
      generic::lde_last(powers, work, to, count, log_n, log_blowup, pair, stream);
    }
  }
}

void lde_from_coefficients(const NttTables& tables, const u64* in, u64* out, u32 columns, u32 log_n,
                           u32 log_blowup, cudaStream_t stream) {
  check_shape(log_n, log_blowup);
  if (columns == 0) return;
  generic::from_coefficients(tables.powers(), in, out, columns, log_n, log_blowup, stream);
}

void coset_interpolate(const NttTables& tables, u64* columns_in_out, u32 columns, u32 log_m,
                       cudaStream_t stream) {
  EPOCHD_ASSERT(log_m >= kNttLogRowsMin && log_m <= kNttLogRowsMax + 1);
  if (columns == 0) return;
  generic::interpolate(tables.powers(), columns_in_out, columns, log_m, stream);
}

}  // namespace epochd::cuda
