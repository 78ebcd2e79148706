// Benchmarks that never ran: runs drawn with known effect, noise and drift, judged like real ones.
// Seeds are fixed, so the counts are too.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/abba/schedule.hpp"
#include "bench/abba/verdict.hpp"

namespace epochd::abba {
namespace {

struct World {
  double effect = 0;  ///< log of A's time over B's
  double noise = 0.01;
  /// Log of the machine's slowness at a moment of the session, 0 ... 1.
  std::function<double(double)> drift = [](double) { return 0.0; };
};

std::vector<double> simulate(const World& world, int blocks, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, world.noise);
  std::vector<double> ratios;
  int moment = 0;
  for (const Order order : make_schedule(blocks, seed)) {
    double sum = 0;
    for (const Side side : sides_of(order)) {
      const double drift = world.drift(moment++ / (4.0 * blocks));
      const double log_time = drift + noise(random) + (side == Side::kA ? world.effect : 0);
      sum += side == Side::kA ? log_time : -log_time;
    }
    ratios.push_back(sum / 2);
  }
  return ratios;
}

double share(int trials, const std::function<bool(uint64_t seed)>& holds) {
  int count = 0;
  for (int i = 0; i < trials; ++i) count += holds(1000 + static_cast<uint64_t>(i));
  return static_cast<double>(count) / trials;
}

Verdict verdict(const World& world, int blocks, uint64_t seed, const Criteria& criteria = {}) {
  return verdict_of(estimate_blocks(simulate(world, blocks, seed), criteria.confidence, seed),
                    criteria);
}

bool covers(const Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

// 4000 trials: a standard error of 0.35 % on 95 %.
TEST(AbbaSimulation, TheIntervalCoversTheTruthAsOftenAsItSays) {
  for (const int blocks : {3, 5, 10, 20}) {
    const World world = {.effect = 0.013, .noise = 0.02};
    const double covered = share(4000, [&](uint64_t seed) {
      return covers(t_interval(simulate(world, blocks, seed), 0.95), world.effect);
    });
    EXPECT_NEAR(covered, 0.95, 0.012) << blocks;
  }
}

// Percentiles of a resampled mean are known to be narrow for few blocks; hence they do not decide.
TEST(AbbaSimulation, TheBootstrapCoversNearlyAsOften) {
  const World world = {.effect = 0.013, .noise = 0.02};
  const double covered = share(600, [&](uint64_t seed) {
    return covers(bootstrap_interval(simulate(world, 20, seed), 0.95, seed, 2000), world.effect);
  });
  EXPECT_GT(covered, 0.90);
  EXPECT_LT(covered, 0.97);
}

/// How often the interval leaves 0 out though nothing differs.
double false_positives(const World& world, int blocks) {
  return share(4000, [&](uint64_t seed) {
    return !covers(t_interval(simulate(world, blocks, seed), 0.95), 0);
  });
}

TEST(AbbaSimulation, LinearDriftGivesNoFalsePositives) {
  for (const double slope : {0.02, -0.1, 0.5}) {
    const World world = {.drift = [slope](double t) { return slope * t; }};
    EXPECT_LT(false_positives(world, 10), 0.06) << slope;
  }
}

TEST(AbbaSimulation, QuadraticDriftGivesNoFalsePositives) {
  for (const double bend : {0.05, -0.2, 1.0}) {
    const World world = {.drift = [bend](double t) { return bend * t * t; }};
    EXPECT_LT(false_positives(world, 10), 0.06) << bend;
  }
  // A machine that warms up and levels off.
  const World warming = {.drift = [](double t) { return 0.1 * (1 - std::exp(-6 * t)); }};
  EXPECT_LT(false_positives(warming, 10), 0.06);
}

// What the blocks are for: the same drift fools runs in the order AAAA... BBBB...
TEST(AbbaSimulation, DriftWouldFoolUnpairedRuns) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<double> differences;
  for (int i = 0; i < 20; ++i) {
    differences.push_back(noise(random) - (noise(random) + 0.1 * 20 / 40));
  }
  EXPECT_FALSE(covers(t_interval(differences, 0.95), 0));
}

TEST(AbbaSimulation, EqualSidesAreEquivalentOrInconclusive) {
  for (const double noise : {0.002, 0.01, 0.03, 0.1}) {
    const World world = {.noise = noise};
    const double quiet = share(200, [&](uint64_t seed) {
      const Verdict v = verdict(world, 10, seed);
      return v == Verdict::kEquivalent || v == Verdict::kInconclusive;
    });
    EXPECT_GE(quiet, 0.95) << noise;
    RecordProperty("at_noise_" + std::to_string(noise), std::to_string(quiet));
  }
}

TEST(AbbaSimulation, EqualSidesAreProvedEquivalentWhereNoiseAllows) {
  EXPECT_GE(share(200,
                  [](uint64_t seed) {
                    return verdict({.noise = 0.01}, 10, seed) == Verdict::kEquivalent;
                  }),
            0.5);
  EXPECT_GE(share(200,
                  [](uint64_t seed) {
                    return verdict({.noise = 0.005}, 10, seed) == Verdict::kEquivalent;
                  }),
            0.99);
}

TEST(AbbaSimulation, FindsTwoPercentAtOnePercentNoiseWithTenBlocks) {
  const double two = std::log(1.02);
  const auto found = [](const World& world, Verdict expected) {
    return share(200, [&](uint64_t seed) { return verdict(world, 10, seed) == expected; });
  };
  const double better = found({.effect = -two}, Verdict::kImprovement);
  const double worse = found({.effect = two}, Verdict::kRegression);
  const World drifting = {.effect = -two, .drift = [](double t) { return 0.1 * t + 0.1 * t * t; }};
  const double under_drift = found(drifting, Verdict::kImprovement);
  EXPECT_GE(better, 0.95);
  EXPECT_GE(worse, 0.95);
  EXPECT_GE(under_drift, 0.95);
  RecordProperty("improvements", std::to_string(better));
  RecordProperty("regressions", std::to_string(worse));
  RecordProperty("improvements_under_drift", std::to_string(under_drift));
}

// An effect as large as the minimum detectable one is found about as often as its power says.
TEST(AbbaSimulation, MinimumDetectableEffectHasItsPower) {
  const double effect = minimum_detectable(0.01, 12, 0.95);
  const double found = share(4000, [&](uint64_t seed) {
    return !covers(t_interval(simulate({.effect = effect}, 12, seed), 0.95), 0);
  });
  EXPECT_NEAR(found, 0.8, 0.05);
}

TEST(AbbaSimulation, ASpeedIsBetterWhenHigher) {
  const Criteria speed = {.higher_is_better = true};
  EXPECT_EQ(verdict({.effect = 0.1}, 10, 1, speed), Verdict::kImprovement);
  EXPECT_EQ(verdict({.effect = -0.1}, 10, 1, speed), Verdict::kRegression);
  EXPECT_EQ(verdict({.effect = 0.1}, 10, 1), Verdict::kRegression);
}

}  // namespace
}  // namespace epochd::abba
