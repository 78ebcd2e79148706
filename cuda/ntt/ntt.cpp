#include "cuda/ntt/ntt.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "cuda/ntt/fast.hpp"
#include "cuda/ntt/fast_halves.hpp"
#include "cuda/ntt/generic.hpp"
#include "cuda/ntt/powers.hpp"
#include "cuda/ntt/tall.hpp"
#include "prover/core/assert.hpp"

namespace epochd::cuda {
namespace {

void check_shape(u32 log_n, u32 log_blowup) {
  EPOCHD_ASSERT(log_n >= kNttLogRowsMin && log_n <= kNttLogRowsMax);
  EPOCHD_ASSERT(log_blowup >= 1 && log_blowup <= kNttLogBlowupMax);
}

}  // namespace

struct NttTables::Impl {
  DeviceBlock powers;
  u32 log_blowup = 0;
  // By log_n, or log_m for inverse.
  std::array<fast::HeightTables, kNttLogRowsMax + 1> lde;  ///< the inner LDE's where it is tall
  std::array<fast::HalfTables, kNttLogRowsMax + 1> forward;
  std::array<fast::HalfTables, kNttLogRowsMax + kNttLogBlowupMax + 1> inverse;

  void add(u32 log_n, cudaStream_t stream) {
    const auto is_fast = [](u32 log_rows) {
      return log_rows >= fast::kLogRowsMin && log_rows <= fast::kLogRowsMax;
    };
    const u32 log_m = log_n + log_blowup;
    if (is_fast(log_n) && lde[log_n].memory.bytes() == 0) {
      lde[log_n] = fast::make_tables(log_n, log_blowup, prover::Fp::generator(), stream);
      forward[log_n] = fast::make_forward_tables(log_n, log_blowup, stream);
    }
    if (log_n > fast::kLogRowsMax && lde[log_n].memory.bytes() == 0) {
      lde[log_n] = tall::make_tables(log_n, log_blowup, stream);
    }
    if (is_fast(log_m) && inverse[log_m].memory.bytes() == 0) {
      inverse[log_m] = fast::make_inverse_tables(log_m, stream);
    }
  }
};

NttTables::NttTables(std::span<const u32> log_heights, u32 log_blowup)
    : impl_(std::make_unique<Impl>()) {
  EPOCHD_ASSERT(log_blowup >= 1 && log_blowup <= kNttLogBlowupMax);
  generic::prepare_lde();
  generic::prepare_single();
  fast::prepare_columns();
  fast::prepare_rows();
  fast::prepare_half_columns();
  const std::vector<u64> powers = make_powers();
  impl_->powers = DeviceBlock(powers.size() * sizeof(u64));
  const Stream stream;
  EPOCHD_CUDA_CHECK(cudaMemcpyAsync(impl_->powers.data(), powers.data(), impl_->powers.bytes(),
                                    cudaMemcpyHostToDevice, stream.get()));
  impl_->log_blowup = log_blowup;
  for (u32 log_n = fast::kLogRowsMin; log_n <= kNttLogAlwaysMax; ++log_n) {
    impl_->add(log_n, stream.get());
  }
  for (const u32 log_n : log_heights) impl_->add(log_n, stream.get());
  stream.synchronize();
}
NttTables::~NttTables() = default;
NttTables::NttTables(NttTables&&) noexcept = default;
NttTables& NttTables::operator=(NttTables&&) noexcept = default;

const u64* NttTables::powers() const {
  return reinterpret_cast<const u64*>(impl_->powers.data());
}

const LdeTwiddles* NttTables::lde(u32 log_n, u32 pair) const {
  const LdeTwiddles& twiddles = impl_->lde[log_n].pairs[pair];
  return twiddles.row_inverse == nullptr ? nullptr : &twiddles;
}
const HalfTwiddles* NttTables::forward(u32 log_n, u32 log_blowup) const {
  const HalfTwiddles& twiddles = impl_->forward[log_n].twiddles;
  return twiddles.row == nullptr || log_blowup != impl_->log_blowup ? nullptr : &twiddles;
}
const HalfTwiddles* NttTables::inverse(u32 log_m) const {
  const HalfTwiddles& twiddles = impl_->inverse[log_m].twiddles;
  return twiddles.row == nullptr ? nullptr : &twiddles;
}

namespace {

void lde_fast(const NttTables& tables, const u64* in, u64* out, u32 log_n, fast::Pass pass) {
  const size_t n = size_t{1} << log_n;
  for (pass.pair = 0; pass.pair < 1u << (pass.log_blowup - 1); ++pass.pair) {
    const LdeTwiddles& twiddles = *tables.lde(log_n, pass.pair);
    if (log_n <= fast::kLogOnePassMax) {
      fast::whole(twiddles, in, pass, out);
      continue;
    }
    if (pass.is_tight) pass.w[1] = {out + 2 * pass.pair * n, n << pass.log_blowup};
    if (pass.pair == 0) fast::first(twiddles, in, pass);
    fast::middle(twiddles, pass);
    fast::last(twiddles, pass, out);
  }
}

void lde_generic(const NttTables& tables, const u64* in, u64* out, u32 log_n,
                 const fast::Pass& pass) {
  const u64* powers = tables.powers();
  const generic::Work work{pass.x.at, pass.x.stride, pass.w[0].at};
  generic::lde_first(powers, in, work, pass.columns, log_n, pass.stream);
  for (u32 pair = 0; pair < 1u << (pass.log_blowup - 1); ++pair) {
    generic::lde_middle(powers, work, pass.columns, log_n, pass.log_blowup, pair, pass.stream);
    generic::lde_last(powers, work, out, pass.columns, log_n, pass.log_blowup, pair, pass.stream);
  }
}

/// coset_lde, by at most `batch` columns at a time.
void lde_batches(const NttTables& tables, const LdeJob& job, u64* scratch, u32 batch,
                 u32 log_blowup, cudaStream_t stream) {
  const auto [in, out, columns, log_n] = job;
  check_shape(log_n, log_blowup);
  const bool is_fast = tables.lde(log_n, log_blowup - 1) != nullptr;
  if (columns != 0 && !is_fast && log_n <= generic::kLogSmallMax) {
    generic::lde_small(tables.powers(), in, out, columns, log_n, log_blowup, stream);
    return;
  }
  if (is_fast && log_n > fast::kLogRowsMax) {
    tall::lde(tables.powers(), tables.lde(log_n, 0), {in, out, columns, log_n}, scratch, log_blowup,
              stream);
    return;
  }
  const size_t n = size_t{1} << log_n;
  // Where the scratch does not hold all columns, half of it is in the output: fewer launches, whose
  // last blocks leave the device partly idle.
  const bool is_tight = is_fast && columns > batch;
  if (is_tight) batch *= 2;
  for (u32 first = 0; first < columns; first += batch) {
    const u32 count = std::min(batch, columns - first);
    u64* to = out + (first * n << log_blowup);
    // X lives where the last block of each column goes: that is written after X is read.
    const fast::Place x{to + ((n << log_blowup) - n), n << log_blowup};
    fast::Pass pass{{},       count, log_blowup, 0, x, {{scratch, 2 * n}, {scratch + n, 2 * n}},
                    is_tight, stream};
    if (is_tight) pass.w[0].stride = n;
    if (is_fast) pass.split = fast::split(log_n);
    if (is_fast) {
      lde_fast(tables, in + first * n, to, log_n, pass);
    } else {
      lde_generic(tables, in + first * n, to, log_n, pass);
    }
  }
}

}  // namespace

void coset_lde(const NttTables& tables, const u64* in, u64* out, u64* scratch, u32 columns,
               u32 log_n, u32 log_blowup, cudaStream_t stream) {
  const u32 batch = lde_batch_columns(columns, log_n, kScratchWordsMax);
  lde_batches(tables, {in, out, columns, log_n}, scratch, batch, log_blowup, stream);
}

static_assert(Lanes::kCount == kLaneCount && generic::kLogSmallMax == kNttLogSmallMax);

void coset_lde(const NttTables& tables, const Lanes& lanes, std::span<const LdeJob> jobs,
               u64* scratch, u32 log_blowup, cudaStream_t stream) {
  const LanePlan plan(jobs);
  lanes.fork(stream);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const u32 lane = plan.lane_of_job[i];
    const u32 batch = lde_batch_columns(jobs[i].columns, jobs[i].log_n, kLaneScratchWordsMax);
    lde_batches(tables, jobs[i], scratch + plan.scratch_at[lane], batch, log_blowup,
                lanes.stream(lane));
  }
  lanes.join(stream);
}

void lde_from_coefficients(const NttTables& tables, const u64* in, u64* out, u32 columns, u32 log_n,
                           u32 log_blowup, cudaStream_t stream) {
  check_shape(log_n, log_blowup);
  if (columns == 0) return;
  if (const HalfTwiddles* twiddles = tables.forward(log_n, log_blowup)) {
    fast::from_coefficients(*twiddles, in, out, columns, log_n, log_blowup, stream);
  } else {
    generic::from_coefficients(tables.powers(), in, out, columns, log_n, log_blowup, stream);
  }
}

void coset_interpolate(const NttTables& tables, u64* columns_in_out, u32 columns, u32 log_m,
                       cudaStream_t stream) {
  EPOCHD_ASSERT(log_m >= kNttLogRowsMin && log_m <= kNttLogRowsMax + 1);
  if (columns == 0) return;
  if (const HalfTwiddles* twiddles = tables.inverse(log_m)) {
    fast::interpolate(*twiddles, columns_in_out, columns, log_m, stream);
  } else {
    generic::interpolate(tables.powers(), columns_in_out, columns, log_m, stream);
  }
}

}  // namespace epochd::cuda
