// Epochs and sub-proofs verified beside each other: the answer is that of one after the other, down
// to which of several faults is named.
#include <algorithm>
#include <cstring>
#include <random>

#include "tests/epoch/continuation/bundle_map.hpp"
#include "tests/epoch/continuation/straight_run.hpp"

namespace epochd::testing {
namespace {

/// Runs the tasks in an order of its own, each with a scratch full of what another one left.
struct Shuffled {
  u64 seed = 0;
  u32 most = 0;  ///< tasks in one call
  u32 calls = 0;

  VerifyTasks tasks(u32 at_once) {
    return {[](void* self, u32 count, VerifyTasks::Task task, void* state) {
              static_cast<Shuffled*>(self)->run(count, task, state);
            },
            this, at_once};
  }
  void run(u32 count, VerifyTasks::Task task, void* state) {
    most = std::max(most, count);
    ++calls;
    std::vector<u32> order(count);
    for (u32 i = 0; i < count; ++i) order[i] = i;
    std::mt19937_64 rng(seed + calls);
    std::shuffle(order.begin(), order.end(), rng);
    const auto scratch = std::make_unique<RunScratch>();
    for (const u32 i : order) {
      std::memset(static_cast<void*>(scratch.get()), static_cast<int>(rng()), sizeof(RunScratch));
      task(state, i, *scratch);
    }
  }
};

/// 300 cycles.
StraightRun& ten_epochs() {
  static StraightRun run(300);
  return run;
}

RunResult verify_together(const std::vector<u64>& bundle, Shuffled& runner, u32 at_once) {
  const auto scratch = std::make_unique<RunScratch>();
  return verify_run(ten_epochs().guest.key.vk, bundle.data(), bundle.size(),
                    {.allow_test_preset = true, .tasks = runner.tasks(at_once)}, *scratch);
}

void expect_same_answer(const std::vector<u64>& bundle, u64 seed) {
  const RunResult one = verify(ten_epochs().guest, bundle);
  for (const u32 at_once : {2u, 3u, 7u, kPartsAtOnceMax, 1000u}) {
    SCOPED_TRACE(::testing::Message() << at_once << " at once, seed " << seed);
    Shuffled runner{seed};
    const RunResult r = verify_together(bundle, runner, at_once);
    EXPECT_EQ(text(r), text(one));
    EXPECT_EQ(r.cycles, one.cycles);
    EXPECT_EQ(r.exit_code, one.exit_code);
    EXPECT_EQ(r.output_count, one.output_count);
    EXPECT_EQ(r.epochs, one.epochs);
  }
}

TEST(VerifyTogether, AcceptsWhatOneByOneAccepts) {
  ASSERT_EQ(ten_epochs().epochs.size(), 10u);
  ASSERT_TRUE(verify(ten_epochs().guest, ten_epochs().bundle).ok());
  expect_same_answer(ten_epochs().bundle, 1);
}

TEST(VerifyTogether, TakesAsManyAsAskedFor) {
  for (const u32 at_once : {1u, 4u, kPartsAtOnceMax}) {
    Shuffled runner;
    EXPECT_TRUE(verify_together(ten_epochs().bundle, runner, at_once).ok());
    EXPECT_EQ(runner.most, at_once == 1 ? 0 : std::min(at_once, 10u));
  }
}

TEST(VerifyTogether, NamesTheSameFault) {
  const u64 seed = 20261201;
  std::mt19937_64 rng(seed);
  const std::vector<size_t> ends = BundleMap(ten_epochs().bundle).boundaries();
  for (int i = 0; i < 200; ++i) {
    std::vector<u64> bundle = ten_epochs().bundle;
    // Several faults: the first one counts. Counts and statements are few of all words.
    for (u64 n = 1 + rng() % 3; n > 0; --n) {
      const size_t word = rng() % 2 == 0 ? rng() % bundle.size() : ends[rng() % ends.size()];
      bundle[word % bundle.size()] ^= 1ull << (rng() % 64);
    }
    expect_same_answer(bundle, seed + static_cast<u64>(i));
  }
}

TEST(VerifyTogether, NamesTheSameFaultOfABundleThatIsCut) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 100; ++i) {
    std::vector<u64> bundle = ten_epochs().bundle;
    bundle.resize(rng() % bundle.size());
    bundle.shrink_to_fit();
    expect_same_answer(bundle, static_cast<u64>(i));
  }
}

TEST(VerifyTogether, EpochsExchangedDoNotContinueEachOther) {
  const std::vector<u64>& whole = ten_epochs().bundle;
  const BundleMap map(whole);
  const auto at = [&](size_t word) { return whole.begin() + static_cast<std::ptrdiff_t>(word); };
  std::vector<u64> bundle(at(0), at(map.epochs[4].count_word));
  for (const size_t epoch : {5u, 4u}) {
    bundle.insert(bundle.end(), at(map.epochs[epoch].count_word), at(map.epochs[epoch].end));
  }
  bundle.insert(bundle.end(), at(map.epochs[5].end), whole.end());
  ASSERT_EQ(bundle.size(), whole.size());
  EXPECT_FALSE(verify(ten_epochs().guest, bundle).ok());
  expect_same_answer(bundle, 3);
}

}  // namespace
}  // namespace epochd::testing
