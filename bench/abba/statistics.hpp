// What a paired benchmark says about one number a block: the log ratio of side A to side B. Nothing
// here knows where the numbers come from.
#pragma once

#include <cstdint>
#include <span>

namespace epochd::abba {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Everything estimated from the blocks, in log ratio.
struct Estimate {
  int blocks = 0;
  double mean = 0;
  double deviation = 0;           ///< between blocks, n - 1 in the denominator
  Interval t;                     ///< Student's interval of the mean
  Interval bootstrap;             ///< percentiles of means of resampled blocks
  double wilcoxon_p = 1;          ///< two-sided, exact
  double minimum_detectable = 0;  ///< true mean that would be found with power 0.8
};

double mean_of(std::span<const double> values);
double deviation_of(std::span<const double> values);

/// Pre: at least two values.
Interval t_interval(std::span<const double> values, double confidence);

/// Wilcoxon's signed-rank test of symmetry about 0, two-sided and exact: the distribution of the
/// statistic over all 2^n choices of signs for the observed absolute values. Ties share their mean
/// rank; zeros are ranked and then count for neither side (Pratt, JASA 54, 1959).
double wilcoxon_signed_rank_p(std::span<const double> values);

/// The smallest p that wilcoxon_signed_rank_p can give for n values other than 0: 2^(1 - n).
double wilcoxon_smallest_p(int n);

/// Percentile interval of the mean over resamples of whole blocks.
Interval bootstrap_interval(std::span<const double> values, double confidence, uint64_t seed,
                            int resamples = 10'000);

/// The true mean that a two-sided test at this confidence would find with the given power:
/// (t_(1 - alpha / 2) + t_power) s / sqrt(n). Pre: at least two blocks.
double minimum_detectable(double deviation, int blocks, double confidence, double power = 0.8);

/// Pre: at least two values.
Estimate estimate_blocks(std::span<const double> log_ratios, double confidence, uint64_t seed);

}  // namespace epochd::abba
