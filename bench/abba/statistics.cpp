#include "bench/abba/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "bench/abba/student_t.hpp"

namespace epochd::abba {
namespace {

/// Twice the rank of each absolute value among all, ties sharing their mean: whole numbers.
std::vector<int> doubled_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto magnitude = [&](size_t i) { return std::fabs(values[i]); };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return magnitude(a) < magnitude(b); });
  std::vector<int> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t last = first;
    while (last < order.size() && magnitude(order[last]) == magnitude(order[first])) ++last;
    for (size_t i = first; i < last; ++i) ranks[order[i]] = static_cast<int>(first + 1 + last);
    first = last;
  }
  return ranks;
}

/// A number in [0, count) without bias, the same with every standard library.
size_t draw(std::mt19937_64& random, size_t count) {
  const uint64_t limit = UINT64_MAX - UINT64_MAX % count;
  uint64_t value = random();
  while (value >= limit) value = random();
  return value % count;
}

double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Interval t_interval(std::span<const double> values, double confidence) {
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  const double half =
      student_t_quantile((1 + confidence) / 2, n - 1) * deviation_of(values) / std::sqrt(n);
  return {mean - half, mean + half};
}

double wilcoxon_signed_rank_p(std::span<const double> values) {
  const std::vector<int> ranks = doubled_ranks(values);
  int observed = 0;
  int total = 0;
  std::vector<double> probability = {1};  // of each value of the doubled statistic
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    total += ranks[i];
    if (values[i] > 0) observed += ranks[i];
    const size_t before = probability.size();
    probability.resize(before + static_cast<size_t>(ranks[i]));
    for (size_t w = probability.size(); w-- > 0;) {
      const double without = w < before ? probability[w] : 0;
      const auto rank = static_cast<size_t>(ranks[i]);
      probability[w] = (without + (w >= rank ? probability[w - rank] : 0)) / 2;
    }
  }
  const int distance = std::abs(2 * observed - total);
  double p = 0;
  for (size_t w = 0; w < probability.size(); ++w) {
    if (std::abs(2 * static_cast<int>(w) - total) >= distance) p += probability[w];
  }
  return std::min(p, 1.0);
}

double wilcoxon_smallest_p(int n) {
  return std::ldexp(1.0, 1 - n);
}

Interval bootstrap_interval(std::span<const double> values, double confidence, uint64_t seed,
                            int resamples) {
  std::mt19937_64 random(seed);
  std::vector<double> means(static_cast<size_t>(resamples));
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[draw(random, values.size())];
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return {percentile(means, (1 - confidence) / 2), percentile(means, (1 + confidence) / 2)};
}

double minimum_detectable(double deviation, int blocks, double confidence, double power) {
  const double degrees = blocks - 1;
  const double quantiles =
      student_t_quantile((1 + confidence) / 2, degrees) + student_t_quantile(power, degrees);
  return quantiles * deviation / std::sqrt(static_cast<double>(blocks));
}

Estimate estimate_blocks(std::span<const double> log_ratios, double confidence, uint64_t seed) {
  Estimate out;
  out.blocks = static_cast<int>(log_ratios.size());
  out.mean = mean_of(log_ratios);
  out.deviation = deviation_of(log_ratios);
  out.t = t_interval(log_ratios, confidence);
  out.bootstrap = bootstrap_interval(log_ratios, confidence, seed);
  out.wilcoxon_p = wilcoxon_signed_rank_p(log_ratios);
  out.minimum_detectable = minimum_detectable(out.deviation, out.blocks, confidence);
  return out;
}

}  // namespace epochd::abba
