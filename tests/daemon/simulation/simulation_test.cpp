// Thousands of schedules of queue and pipeline, each from a seed: what a daemon's clock, disk,
// device, operators and ends may do, in any order.
//
//   EPOCHD_SIMULATION_SEED        of the first schedule
//   EPOCHD_SIMULATION_SCHEDULES   how many
//   EPOCHD_SIMULATION_LOG         prints every step of a schedule that failed
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/daemon/queue_fixture.hpp"
#include "tests/daemon/simulation/world.hpp"

namespace epochd::simulation {
namespace {

constexpr u64 kFirstSeed = 1;
constexpr u64 kSchedules = 2000;
/// In so many tests, for machines with several cores.
constexpr u64 kShards = 8;
/// A fault that is built in is found by then.
constexpr u64 kMutationSeedsMax = 300;

u64 number_of(const char* name, u64 otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Simulation : public ::testing::Test {
 protected:
  ScheduleResult run(u64 seed, Mutation mutation = Mutation::kNone, bool wants_log = false) {
    return run_schedule(seed, directory_.path(), mutation, wants_log);
  }
  TemporaryDirectory directory_;
};

void add(ScheduleResult& sum, const ScheduleResult& result) {
  sum.steps += result.steps;
  sum.lives += result.lives;
  sum.deaths += result.deaths;
  sum.power_cuts += result.power_cuts;
  sum.faults += result.faults;
  sum.submitted += result.submitted;
  sum.done += result.done;
  sum.resumed += result.resumed;
  sum.checkpoints += result.checkpoints;
  sum.units_failed += result.units_failed;
  sum.proved_instead += result.proved_instead;
}

class Schedules : public Simulation, public ::testing::WithParamInterface<u64> {};

TEST_P(Schedules, KeepEveryPromise) {
  const u64 all = number_of("EPOCHD_SIMULATION_SCHEDULES", kSchedules);
  const u64 begin = all * GetParam() / kShards;
  const u64 count = all * (GetParam() + 1) / kShards - begin;
  const u64 first = number_of("EPOCHD_SIMULATION_SEED", kFirstSeed) + begin;
  const bool wants_log = std::getenv("EPOCHD_SIMULATION_LOG") != nullptr;
  ScheduleResult sum;
  for (u64 seed = first; seed < first + count && !HasFailure(); ++seed) {
    const ScheduleResult result = run(seed, Mutation::kNone, wants_log);
    for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
    if (wants_log || HasFailure()) std::cout << result.log << reproduction(seed) << "\n";
    add(sum, result);
  }
  std::cout << sum.steps << " steps, " << sum.lives << " lives, " << sum.deaths << " deaths, "
            << sum.power_cuts << " power cuts, " << sum.faults << " faults, " << sum.submitted
            << " jobs, " << sum.done << " done, " << sum.resumed << " epochs resumed, "
            << sum.checkpoints << " runs from a checkpoint, " << sum.units_failed
            << " attempts failed by device or CPU, " << sum.proved_instead
            << " proofs in the device's place\n";
  EXPECT_TRUE(sum.steps > 0 || count == 0);
}

INSTANTIATE_TEST_SUITE_P(Simulation, Schedules, ::testing::Range<u64>(0, kShards));

TEST_F(Simulation, ASeedIsOneSchedule) {
  const ScheduleResult once = run(7);
  run(8);
  const ScheduleResult again = run(7, Mutation::kNone, true);
  EXPECT_EQ(once.trace_hash, again.trace_hash);
  EXPECT_EQ(once.steps, again.steps);
  EXPECT_NE(run(8).trace_hash, once.trace_hash);
}

class BuiltInFaults : public Simulation, public ::testing::WithParamInterface<Mutation> {};

TEST_P(BuiltInFaults, AreFound) {
  for (u64 seed = kFirstSeed; seed < kFirstSeed + kMutationSeedsMax; ++seed) {
    const ScheduleResult result = run(seed, GetParam());
    if (result.violations.empty()) continue;
    std::cout << "seed " << seed << ": " << result.violations[0] << "\n";
    return;
  }
  ADD_FAILURE() << "not found in " << kMutationSeedsMax << " schedules";
}

INSTANTIATE_TEST_SUITE_P(Simulation, BuiltInFaults,
                         ::testing::Values(Mutation::kSkipDirectorySync, Mutation::kSkipFileSync,
                                           Mutation::kPublishBeforeBundleIsDurable,
                                           Mutation::kForgetCrashes, Mutation::kChargeFullDisk,
                                           Mutation::kIgnoreCancel, Mutation::kForgetEpochs,
                                           Mutation::kForgetEqualJobs, Mutation::kNameBeforeSync,
                                           Mutation::kKeepCheckpoints, Mutation::kAssumeEpochs,
                                           Mutation::kRetrySync, Mutation::kTrustProofs,
                                           Mutation::kFallBackAlways, Mutation::kForgetTurn));

}  // namespace
}  // namespace epochd::simulation
