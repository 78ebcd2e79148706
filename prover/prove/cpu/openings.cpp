// Openings by the barycentric formula on the coset 7 * H, whose evaluations are the first N rows of
// every LDE:
//   f(z) = ((z/7)^N - 1) / N * sum_i f(x_i) x_i / (z - x_i),   x_i = 7 g^bitrev(i).
// And DEEP: the combination of all columns that the FRI word is made of.
#include <mutex>

#include "prover/core/assert.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::prover {
namespace {

constexpr size_t kGrain = 2048;

/// The point a column is opened at for the second time is the next one on its trace domain.
Fp3 point_of(Fp3 zeta, u32 point, u32 log_height) {
  return point == 0 ? zeta : zeta * Fp::two_adic_root(log_height);
}

}  // namespace

void CpuSession::make_points() {
  const u32 log_m = layout_->log_domain();
  Fp* x = reinterpret_cast<Fp*>(place(plan_.points));
  // x[0] = 7; doubling: x[i + 2^k] = x[i] * g^bitrev(2^k).
  x[0] = Fp::generator();
  const Fp g = Fp::two_adic_root(log_m);
  for (u32 k = 0; k < log_m; ++k) {
    const size_t half = size_t{1} << k;
    const Fp step = g.pow(size_t{1} << (log_m - 1 - k));
    backend_.pool().for_ranges(half, kGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) x[half + i] = x[i] * step;
    });
  }
  points_ = x;
}

void CpuSession::open(Fp3 zeta, std::span<Fp3> openings) {
  zeta_ = zeta;
  openings_.assign(openings.size(), fp3_zero());
  make_points();
  for (u32 h = 0; h < layout_->height_count; ++h) open_height(h);
  std::copy(openings_.begin(), openings_.end(), openings.begin());
}

void CpuSession::open_height(u32 height_index) {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  for (u32 point = 0; point < 2; ++point) {
    const Fp3 z = point_of(zeta_, point, log_height);
    std::vector<const Fp*> columns;
    std::vector<u32> targets;
    for (u32 s = 0; s < layout_->segment_count; ++s) {
      const Segment& segment = layout_->segments[s];
      if (segment.log_height != log_height) continue;
      const u32 first = point == 0 ? 0 : segment.first_double_column();
      for (u32 c = first; c < segment.width; ++c) {
        columns.push_back(lde(s).column(c));
        targets.push_back(segment.opening(c, point));
      }
    }
    if (columns.empty()) continue;
    std::mutex mutex;
    std::vector<Fp3> sums(columns.size());
    for_rows(n, [&](size_t begin, size_t end) {
      std::vector<Fp3> partial(columns.size());
      backend_.kernels().open_rows(columns.data(), static_cast<u32>(columns.size()), points_, z,
                                   begin, end, partial.data());
      const std::lock_guard lock(mutex);
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += partial[c];
    });
    const Fp inv7 = Fp::generator().inverse();
    const Fp3 scale = (pow(z * inv7, n) - Fp::one()) * Fp::from_u64(n).inverse();
    for (size_t c = 0; c < sums.size(); ++c) openings_[targets[c]] = sums[c] * scale;
  }
}

/// Adds a height's share to the FRI word: each of its rows stands for 2^shift rows of the word.
void CpuSession::deep_height(u32 height_index, const std::vector<Fp3>& delta_powers) {
  const u32 log_height = layout_->heights[height_index];
  std::vector<cpu::WeightedColumn> columns[cpu::kDeepPoints];
  cpu::DeepPoint points[cpu::kDeepPoints];
  for (u32 point = 0; point < cpu::kDeepPoints; ++point) {
    Fp3 at_z = fp3_zero();
    for (u32 s = 0; s < layout_->segment_count; ++s) {
      const Segment& segment = layout_->segments[s];
      if (segment.log_height != log_height) continue;
      const u32 first = point == 0 ? 0 : segment.first_double_column();
      for (u32 c = first; c < segment.width; ++c) {
        const u32 j = segment.opening(c, point);
        columns[point].push_back({lde(s).column(c), SplitFactor3(delta_powers[j])});
        at_z += delta_powers[j] * openings_[j];
      }
    }
    points[point] = {columns[point].data(), static_cast<u32>(columns[point].size()),
                     point_of(zeta_, point, log_height), at_z};
  }
  const u32 shift = layout_->heights[0] - log_height;
  const cpu::Planes word{word_.column(0), word_.stride};
  for_rows(word_.rows >> shift, [&](size_t begin, size_t end) {
    if (shift == 0) {
      backend_.kernels().deep_rows(points, points_, begin, end, {word.base + begin, word.stride});
      return;
    }
    Fp low[3 * kGrain];
    backend_.kernels().deep_rows(points, points_, begin, end, {low, kGrain});
    for (u32 c = 0; c < 3; ++c) {
      Fp* target = word_.column(c);
      for (size_t i = begin << shift; i < end << shift; ++i) {
        target[i] += low[c * kGrain + (i >> shift) - begin];
      }
    }
  });
}

void CpuSession::deep(Fp3 delta) {
  const std::vector<Fp3> delta_powers = powers(delta, layout_->opening_count);
  log_word_ = layout_->log_domain();
  word_ = place_columns(plan_.words[0], 3, size_t{1} << log_word_);
  for (u32 h = 0; h < layout_->height_count; ++h) deep_height(h, delta_powers);
}

}  // namespace epochd::prover
