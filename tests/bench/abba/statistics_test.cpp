// The statistics against published tables, against sums over all sign patterns, and at their ends.
#include "bench/abba/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bench/abba/student_t.hpp"

namespace epochd::abba {
namespace {

// I_x(a, b) where it has a closed form: powers, and the arcsine law.
TEST(StudentT, IncompleteBetaMatchesClosedForms) {
  for (const double x : {0.0, 0.001, 0.1, 0.3, 0.5, 0.77, 0.999, 1.0}) {
    EXPECT_NEAR(incomplete_beta(1, 1, x), x, 1e-14);
    EXPECT_NEAR(incomplete_beta(3, 1, x), x * x * x, 1e-14);
    EXPECT_NEAR(incomplete_beta(1, 4, x), 1 - std::pow(1 - x, 4), 1e-14);
    EXPECT_NEAR(incomplete_beta(2, 2, x), x * x * (3 - 2 * x), 1e-14);
    EXPECT_NEAR(incomplete_beta(0.5, 0.5, x), 2 / M_PI * std::asin(std::sqrt(x)), 1e-13);
    EXPECT_NEAR(incomplete_beta(7.5, 2.5, x), 1 - incomplete_beta(2.5, 7.5, 1 - x), 1e-14);
  }
}

// The t table of every textbook, and of NIST's e-Handbook, section 1.3.6.7.2.
TEST(StudentT, QuantilesMatchThePublishedTable) {
  struct Row {
    double degrees, p90, p95, p975, p99, p995;
  };
  constexpr Row kTable[] = {
      {1, 3.078, 6.314, 12.706, 31.821, 63.657}, {2, 1.886, 2.920, 4.303, 6.965, 9.925},
      {3, 1.638, 2.353, 3.182, 4.541, 5.841},    {4, 1.533, 2.132, 2.776, 3.747, 4.604},
      {5, 1.476, 2.015, 2.571, 3.365, 4.032},    {9, 1.383, 1.833, 2.262, 2.821, 3.250},
      {10, 1.372, 1.812, 2.228, 2.764, 3.169},   {19, 1.328, 1.729, 2.093, 2.539, 2.861},
      {30, 1.310, 1.697, 2.042, 2.457, 2.750},   {100, 1.290, 1.660, 1.984, 2.364, 2.626}};
  for (const Row& row : kTable) {
    EXPECT_NEAR(student_t_quantile(0.90, row.degrees), row.p90, 5.01e-4);
    EXPECT_NEAR(student_t_quantile(0.95, row.degrees), row.p95, 5.01e-4);
    EXPECT_NEAR(student_t_quantile(0.975, row.degrees), row.p975, 5.01e-4);
    EXPECT_NEAR(student_t_quantile(0.99, row.degrees), row.p99, 5.01e-4);
    EXPECT_NEAR(student_t_quantile(0.995, row.degrees), row.p995, 5.01e-4);
  }
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), 1.959964, 1e-5) << "the normal's";
}

TEST(StudentT, QuantileUndoesTheDistribution) {
  for (const double degrees : {1.0, 2.0, 7.0, 40.0}) {
    for (const double t : {-5.0, -1.0, -0.1, 0.0, 0.3, 2.0, 5.0}) {
      EXPECT_NEAR(student_t_quantile(student_t_cdf(t, degrees), degrees), t, 1e-8 * (1 + t * t));
    }
  }
  EXPECT_NEAR(student_t_cdf(1, 1), 0.75, 1e-14) << "Cauchy's";
}

TEST(Statistics, TIntervalMatchesAWorkedExample) {
  // Mean 3, deviation sqrt(2.5), n = 5: 3 -+ 2.7764 sqrt(0.5).
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const Interval interval = t_interval(values, 0.95);
  EXPECT_NEAR(interval.low, 3 - 1.963243, 1e-5);
  EXPECT_NEAR(interval.high, 3 + 1.963243, 1e-5);
}

/// n values whose negative ones have the ranks that sum up to `rank_sum`.
std::vector<double> with_negative_rank_sum(int n, int rank_sum) {
  std::vector<double> values;
  for (int rank = n; rank > 0; --rank) {
    const bool negative = rank <= rank_sum;
    if (negative) rank_sum -= rank;
    values.push_back(negative ? -rank : rank);
  }
  return values;
}

// Critical values of T at two-sided 0.05 and 0.01 (Wilcoxon and Wilcox, 1964, as reprinted
// everywhere): the largest rank sum that is significant.
TEST(Statistics, WilcoxonMatchesThePublishedCriticalValues) {
  struct Row {
    int n, at_05, at_01;
  };
  constexpr Row kTable[] = {{6, 0, -1},   {7, 2, -1},   {8, 3, 0},    {9, 5, 1},    {10, 8, 3},
                            {11, 10, 5},  {12, 13, 7},  {13, 17, 9},  {14, 21, 12}, {15, 25, 15},
                            {16, 29, 19}, {17, 34, 23}, {18, 40, 27}, {19, 46, 32}, {20, 52, 37}};
  for (const Row& row : kTable) {
    const auto p = [&](int t) { return wilcoxon_signed_rank_p(with_negative_rank_sum(row.n, t)); };
    EXPECT_LE(p(row.at_05), 0.05) << row.n;
    EXPECT_GT(p(row.at_05 + 1), 0.05) << row.n;
    if (row.at_01 >= 0) {
      EXPECT_LE(p(row.at_01), 0.01) << row.n;
    }
    EXPECT_GT(p(row.at_01 + 1), 0.01) << row.n;
  }
}

/// The definition: every pattern of signs, the statistic of each.
double wilcoxon_by_all_signs(const std::vector<double>& values) {
  const size_t n = values.size();
  std::vector<double> ranks(n);
  for (size_t i = 0; i < n; ++i) {
    double below = 0, equal = 0;
    for (const double other : values) {
      below += std::fabs(other) < std::fabs(values[i]);
      equal += std::fabs(other) == std::fabs(values[i]);
    }
    ranks[i] = below + (equal + 1) / 2;
  }
  const auto statistic = [&](const auto& sign) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      if (values[i] != 0) sum += sign(i) * ranks[i];
    }
    return std::fabs(sum);
  };
  const double observed = statistic([&](size_t i) { return values[i] > 0 ? 1 : -1; });
  int extreme = 0;
  for (uint32_t pattern = 0; pattern < 1u << n; ++pattern) {
    extreme += statistic([&](size_t i) { return (pattern >> i & 1) != 0 ? 1 : -1; }) >= observed;
  }
  return extreme / std::ldexp(1, static_cast<int>(n));
}

TEST(Statistics, WilcoxonCountsTiesAndZerosExactly) {
  const std::vector<std::vector<double>> cases = {
      {1},
      {0},
      {0, 0, 0},
      {1, 1, 1, 1, 1, 1},
      {1, -1, 2, -2, 3},
      {0, 0, 1, 2, -3, 3, 3},
      {-0.5, 0.25, 0.25, 0.25, -0.25, 1, 0, 2, 2},
      {5, 4, 3, 2, 1, -1, 0, 0, 0, 6, 6},
      {1.5, 2.5, -0.5, 3.5, 4.5, -1.5, 2.5, 0, 1, 1, -1, 9}};
  for (const auto& values : cases) {
    EXPECT_NEAR(wilcoxon_signed_rank_p(values), wilcoxon_by_all_signs(values), 1e-12);
  }
  EXPECT_EQ(wilcoxon_signed_rank_p(std::vector<double>(10, 1.0)), wilcoxon_smallest_p(10));
  EXPECT_EQ(wilcoxon_signed_rank_p(std::vector<double>(10, 0.0)), 1);
}

TEST(Statistics, WilcoxonTakesManyBlocks) {
  std::vector<double> values(400);
  for (size_t i = 0; i < values.size(); ++i) values[i] = (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + i);
  EXPECT_GT(wilcoxon_signed_rank_p(values), 0.9);
  for (double& value : values) value = std::fabs(value);
  EXPECT_LT(wilcoxon_signed_rank_p(values), 1e-60);
}

TEST(Statistics, BootstrapHoldsItsSeedAndItsPercentiles) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Interval first = bootstrap_interval(values, 0.95, 7);
  const Interval again = bootstrap_interval(values, 0.95, 7);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  // The resampled mean has deviation sqrt(8.25 / 10) and is nearly normal.
  EXPECT_NEAR(first.low, 5.5 - 1.96 * 0.9083, 0.12);
  EXPECT_NEAR(first.high, 5.5 + 1.96 * 0.9083, 0.12);
  const Interval point = bootstrap_interval(std::vector<double>(4, 2.5), 0.95, 1);
  EXPECT_EQ(point.low, 2.5);
  EXPECT_EQ(point.high, 2.5);
}

TEST(Statistics, MinimumDetectableEffectMatchesAHandCalculation) {
  // (t_0.975,9 + t_0.8,9) / sqrt(10) = (2.262157 + 0.883404) / 3.162278.
  EXPECT_NEAR(minimum_detectable(1, 10, 0.95), 0.994715, 1e-5);
  EXPECT_NEAR(minimum_detectable(0.02, 10, 0.95), 0.02 * 0.994715, 1e-7);
}

}  // namespace
}  // namespace epochd::abba
