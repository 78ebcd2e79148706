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

}  // namespace

std::vector<Fp> CpuSession::points(u32 log_m) const {
  std::vector<Fp> x(size_t{1} << log_m);
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
  return x;
}

Matrix CpuSession::inverse_distances(const std::vector<Fp>& x, Fp3 z) const {
  Matrix d(3, x.size());
  const cpu::Planes planes{d.data.data(), d.rows};
  for_rows(x.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) planes.set(i, z - x[i]);
    backend_.kernels().invert(planes, begin, end);
  });
  return d;
}

void CpuSession::open(Fp3 zeta, std::span<Fp3> openings) {
  zeta_ = zeta;
  openings_.assign(openings.size(), fp3_zero());
  for (u32 h = 0; h < layout_->height_count; ++h) open_height(h);
  std::copy(openings_.begin(), openings_.end(), openings.begin());
}

void CpuSession::open_height(u32 height_index) {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  const std::vector<Fp> x = points(log_height);
  for (u32 point = 0; point < 2; ++point) {
    const Fp3 z = point == 0 ? zeta_ : zeta_ * Fp::two_adic_root(log_height);
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
    Matrix weights = inverse_distances(x, z);
    const cpu::Planes planes{weights.data.data(), weights.rows};
    std::mutex mutex;
    std::vector<Fp3> sums(columns.size());
    for_rows(n, [&](size_t begin, size_t end) {
      backend_.kernels().multiply_base(planes, x.data(), begin, end);
      std::vector<Fp3> partial(columns.size());
      backend_.kernels().dot(columns.data(), static_cast<u32>(columns.size()), planes, begin, end,
                             partial.data());
      const std::lock_guard lock(mutex);
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += partial[c];
    });
    const Fp inv7 = Fp::generator().inverse();
    const Fp3 scale = (pow(z * inv7, n) - Fp::one()) * Fp::from_u64(n).inverse();
    for (size_t c = 0; c < sums.size(); ++c) openings_[targets[c]] = sums[c] * scale;
  }
}

Matrix CpuSession::deep_height(u32 height_index, const std::vector<Fp3>& delta_powers) {
  const u32 log_height = layout_->heights[height_index];
  const u32 log_rows = log_height + layout_->shape.preset->log_blowup;
  const size_t rows = size_t{1} << log_rows;
  const std::vector<Fp> x = points(log_rows);
  Matrix result(3, rows);
  result.fill_zero();
  for (u32 point = 0; point < 2; ++point) {
    std::vector<cpu::WeightedColumn> columns;
    Fp3 at_z = fp3_zero();
    for (u32 s = 0; s < layout_->segment_count; ++s) {
      const Segment& segment = layout_->segments[s];
      if (segment.log_height != log_height) continue;
      const u32 first = point == 0 ? 0 : segment.first_double_column();
      for (u32 c = first; c < segment.width; ++c) {
        const u32 j = segment.opening(c, point);
        columns.push_back({lde(s).column(c), delta_powers[j]});
        at_z += delta_powers[j] * openings_[j];
      }
    }
    if (columns.empty()) continue;
    const Fp3 z = point == 0 ? zeta_ : zeta_ * Fp::two_adic_root(log_height);
    Matrix numerators(3, rows);
    Matrix inverses = inverse_distances(x, z);  // 1 / (z - x)
    const cpu::Planes num{numerators.data.data(), rows};
    const cpu::Planes inv{inverses.data.data(), rows};
    const cpu::Planes out{result.data.data(), rows};
    for_rows(rows, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) num.set(i, -at_z);
      backend_.kernels().combine(columns.data(), static_cast<u32>(columns.size()), begin, end, num);
      backend_.kernels().multiply(num, inv, begin, end);
      for (size_t i = begin; i < end; ++i) out.set(i, out.get(i) - num.get(i));
    });
  }
  return result;
}

void CpuSession::deep(Fp3 delta) {
  const std::vector<Fp3> delta_powers = powers(delta, layout_->opening_count);
  log_word_ = layout_->log_domain();
  word_ = deep_height(0, delta_powers);
  for (u32 h = 1; h < layout_->height_count; ++h) {
    const Matrix low = deep_height(h, delta_powers);
    const u32 shift = layout_->heights[0] - layout_->heights[h];
    for_rows(word_.rows, [&](size_t begin, size_t end) {
      for (u32 c = 0; c < 3; ++c) {
        for (size_t i = begin; i < end; ++i) word_.column(c)[i] += low.column(c)[i >> shift];
      }
    });
  }
}

}  // namespace epochd::prover
