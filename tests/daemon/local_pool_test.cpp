// The pool of threads: every capsule gets its answer, whatever a prover does, and a fixed number of
// records goes round.
#include "daemon/pipeline/local_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <map>
#include <set>

#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/queue/io_error.hpp"
#include "epoch/capsule/stitch.hpp"
#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd {
namespace {

/// The heap, counted.
class CountingMemory : public std::pmr::memory_resource {
 public:
  explicit CountingMemory(std::atomic<int>& count) : count_(count) {}

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    ++count_;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, size_t bytes, size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  std::atomic<int>& count_;
};

/// What the provers of a test share.
struct Watch {
  std::function<void(u32 label)> act = [](u32) {};  ///< at the start of each proof
  std::atomic<int> allocations = 0;
  std::atomic<int> at_once = 0;
  std::atomic<int> at_once_max = 0;
  std::atomic<int> strangers = 0;  ///< calls from a thread that did not make the prover
};

/// "Proofs" are the epoch's label and the number of records.
class WatchedProver : public EpochProver {
 public:
  explicit WatchedProver(Watch& watch) : watch_(watch), memory_(watch.allocations) {}
  ~WatchedProver() override { note_thread(); }

  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks) override {
    note_thread();
    const int now = ++watch_.at_once;
    for (int most = watch_.at_once_max; most < now;) {
      if (watch_.at_once_max.compare_exchange_weak(most, now)) break;
    }
    const Stage stage(hooks.stages, "fill");
    EpochProof proof;
    proof.record = {1, records.public_values.label};
    ++proofs_;
    try {
      watch_.act(records.public_values.label);
    } catch (...) {
      --watch_.at_once;
      throw;
    }
    --watch_.at_once;
    return proof;
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends&,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    note_thread();
    if (cancelled()) return false;
    emit(std::vector<u64>{7, boundaries.epochs});
    return true;
  }
  ProverUsage usage() const override {
    ProverUsage usage;
    usage.backend = "fake";
    usage.bytes_h2d = 10 * proofs_;
    usage.peak_device_bytes = 5;
    usage.counters["proofs"] = proofs_;
    return usage;
  }
  std::pmr::memory_resource* record_memory() override { return &memory_; }

 private:
  void note_thread() {
    if (std::this_thread::get_id() != maker_) ++watch_.strangers;
  }

  Watch& watch_;
  CountingMemory memory_;
  std::thread::id maker_ = std::this_thread::get_id();
  u64 proofs_ = 0;
};

class LocalPoolTest : public ::testing::Test {
 protected:
  static constexpr u32 kEpochs = 20;

  LocalPoolTest() : guest_(testing::straight_line(kEpochs * 32), "line.elf") {
    RunParams params;
    params.preset = &preset_of(SecurityPreset::kTest);
    params.epoch_size_log2 = 5;
    Scout run = guest_.make_scout({}, params, {});
    Stitch stitch({});
    while (!run.halted()) {
      capsules_.push_back(std::make_shared<Capsule>(stitch.seal(*run.run_epoch(32))));
    }
    job_.code = &guest_.code();
  }

  std::unique_ptr<LocalPool> make(LocalPool::Threads threads) {
    return std::make_unique<LocalPool>(job_, threads,
                                       [this] { return std::make_unique<WatchedProver>(watch_); });
  }
  /// Submits all and waits for every answer, by label.
  std::map<u32, PoolAnswer> prove_all(LocalPool& pool) {
    std::map<u32, PoolAnswer> answers;
    std::mutex mutex;
    std::latch all(static_cast<std::ptrdiff_t>(capsules_.size()));
    for (const auto& capsule : capsules_) {
      pool.submit(capsule, [&, label = capsule->label](PoolAnswer answer) {
        {
          const std::lock_guard lock(mutex);
          EXPECT_TRUE(answers.emplace(label, std::move(answer)).second);
        }
        all.count_down();
      });
    }
    all.wait();
    return answers;
  }

  Guest guest_;
  PoolJob job_;
  std::vector<std::shared_ptr<const Capsule>> capsules_;
  Watch watch_;
};

TEST_F(LocalPoolTest, EveryCapsuleIsAnsweredWithItsProofAndBoundary) {
  for (const LocalPool::Threads threads : {LocalPool::Threads{1, 1}, {2, 1}, {1, 3}, {3, 2}}) {
    const auto pool = make(threads);
    EXPECT_EQ(pool->capacity(), threads.replay + threads.provers);
    auto answers = prove_all(*pool);
    ASSERT_EQ(answers.size(), kEpochs);
    for (const auto& capsule : capsules_) {
      const PoolAnswer& answer = answers[capsule->label];
      ASSERT_TRUE(answer.epoch) << answer.error;
      EXPECT_EQ(answer.epoch->proof.record, (std::vector<u64>{1, capsule->label}));
      ASSERT_EQ(answer.epoch->boundary.size(), capsule->keys.size());
      EXPECT_EQ(answer.epoch->boundary[0].key, capsule->keys[0].key);
    }
    const ProverUsage usage = pool->usage();
    EXPECT_EQ(usage.backend, "fake");
    EXPECT_EQ(usage.counters.at("proofs"), kEpochs);
    EXPECT_EQ(usage.bytes_h2d, 10 * kEpochs);
    EXPECT_EQ(usage.peak_device_bytes, 5u) << "of the device, not of each prover";
  }
  EXPECT_EQ(watch_.strangers, 0) << "a prover is made, used and destroyed by one thread";
}

TEST_F(LocalPoolTest, AsManyEpochsAreInFlightAsThereAreProvers) {
  std::latch three(3);
  watch_.act = [&](u32 label) {
    if (label <= 3) three.arrive_and_wait();  // a pool with fewer would wait for ever
  };
  const auto pool = make({1, 3});
  EXPECT_EQ(prove_all(*pool).size(), kEpochs);
  EXPECT_EQ(watch_.at_once_max, 3);
}

TEST_F(LocalPoolTest, RecordsGoRound) {
  constexpr int kRounds = 10;
  const auto pool = make({1, 1});
  for (int i = 0; i < kRounds; ++i) prove_all(*pool);
  EXPECT_GT(watch_.allocations, 0) << "in the prover's own memory";
  // Each of two sets of records grows a few times, and then no more.
  EXPECT_LT(watch_.allocations, 2 * 20) << "for " << kRounds * kEpochs << " epochs";
}

TEST_F(LocalPoolTest, StagesNestAndDoNotOverlapOtherwise) {
  const auto pool = make({2, 2});
  std::map<u32, std::vector<StageSpan>> by_lane;
  for (auto& [label, answer] : prove_all(*pool)) {
    const auto& stages = answer.epoch->stages;
    ASSERT_EQ(stages.size(), 3u);
    EXPECT_EQ(stages[0].name, "replay");
    EXPECT_EQ(stages[1].name, "prove");
    EXPECT_EQ(stages[2].name, "fill");
    EXPECT_LE(stages[0].end_ns, stages[1].begin_ns);
    EXPECT_LE(stages[1].begin_ns, stages[2].begin_ns);
    EXPECT_LE(stages[2].end_ns, stages[1].end_ns);
    EXPECT_LT(stages[1].lane, 2u);
    EXPECT_GE(stages[0].lane, 2u);
    EXPECT_LT(stages[0].lane, 4u);
    for (u32 i = 0; i < 2; ++i) by_lane[stages[i].lane].push_back(stages[i]);
  }
  for (auto& [lane, spans] : by_lane) {
    std::sort(spans.begin(), spans.end(),
              [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    for (size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].end_ns, spans[i].begin_ns);
  }
}

TEST_F(LocalPoolTest, AFailureIsAnAnswerAndTheNextCapsuleIsProved) {
  Capsule broken = *capsules_[4];
  broken.keys.pop_back();
  capsules_[4] = std::make_shared<Capsule>(broken);
  watch_.act = [](u32 label) {
    if (label == 2) throw std::runtime_error("cudaErrorOfTheTest");
    if (label == 3) throw std::bad_alloc();
  };
  const auto pool = make({1, 1});
  auto answers = prove_all(*pool);
  for (const auto& [label, answer] : answers) {
    EXPECT_EQ(answer.epoch.has_value(), label != 2 && label != 3 && label != 5) << label;
    EXPECT_EQ(answer.is_out_of_memory, label == 3) << label;
  }
  EXPECT_EQ(answers[2].error, "cudaErrorOfTheTest");
  EXPECT_EQ(answers[5].error.find("replay of epoch 5 disagrees with the run: "), 0u)
      << answers[5].error;
}

TEST_F(LocalPoolTest, RecordsGoToTheHeapWhenThePreferredMemoryIsUsedUp) {
  class NoMemory : public std::pmr::memory_resource {
    void* do_allocate(size_t, size_t) override { throw std::runtime_error("out of pinned memory"); }
    void do_deallocate(void*, size_t, size_t) override {}
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }
  };
  class Prover : public WatchedProver {
   public:
    using WatchedProver::WatchedProver;
    std::pmr::memory_resource* record_memory() override { return &none_; }

   private:
    NoMemory none_;
  };
  LocalPool pool(job_, {1, 1}, [this] { return std::make_unique<Prover>(watch_); });
  ::testing::internal::CaptureStderr();
  const auto answers = prove_all(pool);
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const auto& [label, answer] : answers) EXPECT_TRUE(answer.epoch) << answer.error;
  EXPECT_NE(said.find("no pinned memory for an epoch's records"), std::string::npos);
}

TEST_F(LocalPoolTest, APoolWhoseProversCannotBeMadeSaysWhy) {
  int made = 0;
  const auto second_fails = [&]() -> std::unique_ptr<EpochProver> {
    if (++made == 2) throw std::runtime_error("the arena does not fit");
    return std::make_unique<WatchedProver>(watch_);
  };
  try {
    LocalPool pool(job_, {2, 3}, second_fails);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the arena does not fit");
  }
  EXPECT_EQ(watch_.strangers, 0);
}

TEST_F(LocalPoolTest, ItsEndWaitsForWhatIsBeingProvedAndDropsTheRest) {
  std::latch begun(1);
  std::atomic<bool> may_end = false;
  watch_.act = [&](u32 label) {
    if (label != 1) return std::this_thread::sleep_for(std::chrono::milliseconds(20));
    begun.count_down();
    while (!may_end) std::this_thread::yield();
  };
  std::atomic<int> answers = 0;
  auto pool = make({1, 1});
  for (const auto& capsule : capsules_) {
    pool->submit(capsule, [&](PoolAnswer answer) {
      EXPECT_TRUE(answer.epoch);
      ++answers;
    });
  }
  begun.wait();
  std::thread ending([&] { pool.reset(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(answers, 0);
  may_end = true;
  ending.join();
  EXPECT_GE(answers, 1) << "what was being proved";
  EXPECT_LT(answers, static_cast<int>(kEpochs));
  EXPECT_EQ(watch_.strangers, 0);
}

TEST_F(LocalPoolTest, TheGlobalProofIsMadeByAProverWhileTheCallerWaits) {
  const auto pool = make({1, 2});
  prove_all(*pool);
  BoundaryStore store;
  store.epochs = 3;
  std::vector<u64> words;
  const auto emit = [&](std::span<const u64> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  EXPECT_TRUE(pool->prove_global(store, {}, emit, [] { return false; }));
  EXPECT_EQ(words, (std::vector<u64>{7, 3}));
  EXPECT_FALSE(pool->prove_global(store, {}, emit, [] { return true; }));
  const auto full_disk = [](std::span<const u64>) { throw IoError("write", "/q/b", ENOSPC); };
  EXPECT_THROW(pool->prove_global(store, {}, full_disk, [] { return false; }), IoError);
  EXPECT_EQ(prove_all(*pool).size(), kEpochs) << "it may prove epochs afterwards";
  EXPECT_EQ(watch_.strangers, 0);
}

}  // namespace
}  // namespace epochd
