// The epochs of a run through all stages at once: order, bounds, and every way to end early.
#include "daemon/pipeline/epoch_pipeline.hpp"

#include <gtest/gtest.h>

#include <set>

#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/queue/reason.hpp"
#include "tests/daemon/scripted_pool.hpp"

namespace epochd {
namespace {

/// What a scripted pool's epoch is stored as.
Bytes payload_of(u32 label) {
  EpochProof proof;
  proof.record = {1, label};
  std::vector<BoundaryRecord> rows(1);
  rows[0].fini_ts = label;
  return encode_payload(proof, rows);
}

struct Stop : std::exception {};

/// Keeps what is saved, and stops the job when asked to.
class MemoryExchange : public EpochExchange {
 public:
  std::optional<Bytes> load(u64 label) override {
    if (load_fails_at == label) throw IoError("read", "/q/epoch", EIO);
    const auto found = stored.find(label);
    return found == stored.end() ? std::nullopt : std::optional(found->second);
  }
  ResumeStore* resume_store() override { return nullptr; }
  void resumed(u64) override { ADD_FAILURE() << "there is nothing to go on from"; }
  void save(u64 label, std::span<const u8> bytes, bool was_stored) override {
    EXPECT_EQ(std::this_thread::get_id(), owner_);
    if (save_fails_at == label) throw IoError("write", "/q/epoch", ENOSPC);
    EXPECT_EQ(Bytes(bytes.begin(), bytes.end()), payload_of(static_cast<u32>(label)));
    saved.push_back(label);
    if (was_stored) were_stored.insert(label);
    if (on_save) on_save(label);
  }
  void surveyed(const RunFacts& facts) override {
    EXPECT_EQ(std::this_thread::get_id(), owner_);
    EXPECT_FALSE(run.has_value());
    run = facts;
  }
  void check() override {
    EXPECT_EQ(std::this_thread::get_id(), owner_);
    if (should_stop && should_stop()) throw Stop();
  }
  void advanced() override {}

  std::map<u64, Bytes> stored;
  std::vector<u64> saved;
  std::set<u64> were_stored;
  std::optional<RunFacts> run;
  u64 load_fails_at = 0;
  u64 save_fails_at = 0;
  std::function<void(u64)> on_save;
  std::function<bool()> should_stop;

 private:
  std::thread::id owner_ = std::this_thread::get_id();
};

class EpochPipelineTest : public ::testing::Test {
 protected:
  static constexpr u32 kVerifiers = 2;
  static constexpr u32 kDepth = 2;

  EpochPipelineTest() { cpu_.backend = "cpu"; }

  u64 limit() const { return device_.capacity + kVerifiers + kDepth; }

  /// A run of so many epochs; `fault_at`: the epoch that faults, 0 for none.
  EpochRun run_of(u32 epochs, u32 fault_at = 0) {
    EpochRun run;
    run.survey = [this, epochs, fault_at](const JobProver::Checkpoint& checkpoint) {
      checkpoint();
      if (survey_waits) survey_waits(checkpoint);
      if (fault_at > 0) throw JobError(Reason::kGuestFault, "guest fault: at 0x1000");
      return RunFacts{u64{epochs} * 100, epochs, 0, {42}};
    };
    run.next = [this, epochs, fault_at]() -> std::optional<Capsule> {
      const u32 label = ++sealed_;
      if (label == fault_at) return std::nullopt;
      return *capsule_of(label, label == epochs);
    };
    return run;
  }

  RunFacts prove(const EpochRun& run, bool may_fall_back = true) {
    ProvingPlaces places{scripted(device_), {}, true};
    if (may_fall_back) places.fallback = scripted(cpu_);
    const auto make_verify = [] { return CheckedPool::Verify(is_scripted_proof); };
    pool_.emplace(job_, std::move(places), make_verify, kVerifiers, log_,
                  turn_ == nullptr ? CheckedPool::Start::kOpen : CheckedPool::Start::kClosed);
    EpochPipeline pipeline(*pool_, exchange_, log_, kDepth, turn_);
    try {
      const RunFacts facts = pipeline.run(run, [this](u32 label, auto rows) {
        EXPECT_EQ(rows[0].fini_ts, label);
        absorbed_.push_back(label);
      });
      outstanding_max_ = pipeline.outstanding_max();
      return facts;
    } catch (...) {
      outstanding_max_ = pipeline.outstanding_max();
      throw;
    }
  }
  static std::vector<u64> up_to(u64 count) {
    std::vector<u64> labels(count);
    for (u64 i = 0; i < count; ++i) labels[i] = i + 1;
    return labels;
  }
  void expect_all(u64 count) {
    EXPECT_EQ(exchange_.saved, up_to(count));
    EXPECT_EQ(absorbed_, up_to(count));
    ASSERT_TRUE(exchange_.run);
    EXPECT_EQ(exchange_.run->epochs, count);
    EXPECT_LE(outstanding_max_, limit());
  }
  void expect_reason(const EpochRun& run, Reason reason, bool may_fall_back = true) {
    try {
      prove(run, may_fall_back);
      FAIL();
    } catch (const JobError& error) {
      EXPECT_EQ(error.reason(), reason) << error.what();
    }
    EXPECT_LE(outstanding_max_, limit());
  }

  Script device_;
  Script cpu_;
  PoolJob job_;
  StageLog log_;
  MemoryExchange exchange_;
  std::function<void(const JobProver::Checkpoint&)> survey_waits;
  std::atomic<u32> sealed_ = 0;
  ProvingTurn* turn_ = nullptr;
  std::optional<CheckedPool> pool_;
  std::vector<u64> absorbed_;
  u64 outstanding_max_ = 0;
};

TEST_F(EpochPipelineTest, SavesInOrderWhateverTheOrderOfTheAnswers) {
  for (const u64 seed : {0u, 1u, 2u, 3u, 4u, 5u}) {
    device_.order_seed = seed;
    exchange_.saved.clear();
    exchange_.run.reset();
    absorbed_.clear();
    sealed_ = 0;
    const RunFacts facts = prove(run_of(200));
    EXPECT_EQ(facts.cycles, 20'000u);
    expect_all(200);
  }
  EXPECT_EQ(log_.seconds().count("verify"), 1u);
  EXPECT_EQ(log_.seconds().count("survey"), 1u);
  EXPECT_EQ(log_.seconds().count("save"), 1u);
}

TEST_F(EpochPipelineTest, OneEpochIsARunToo) {
  prove(run_of(1));
  expect_all(1);
}

TEST_F(EpochPipelineTest, OutstandingEpochsAreBoundedHoweverLongTheRun) {
  device_.is_stuck = true;
  // Nothing comes back: the scout has to stop by itself, and may go on only when something does.
  std::thread releasing([&] {
    while (sealed_ < limit()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(sealed_, limit());
    device_.release();
  });
  prove(run_of(1000));
  releasing.join();
  expect_all(1000);
  EXPECT_EQ(outstanding_max_, limit());
}

TEST_F(EpochPipelineTest, WhatFailsOrDoesNotVerifyOnceIsProvedAgain) {
  std::set<u32> seen;
  device_.act = [&](u32 label) {
    const bool is_first = seen.insert(label).second;
    if (is_first && label % 5 == 0) return Act::kFail;
    return is_first && label % 7 == 0 ? Act::kFlip : Act::kGood;
  };
  prove(run_of(50), false);
  expect_all(50);
  EXPECT_EQ(pool_->usage().counters.at("epoch_retry"), 16u) << "10 of 5, 7 of 7, 1 of both";
  EXPECT_EQ(pool_->usage().counters.at("self_verify_failed"), 6u);
}

TEST_F(EpochPipelineTest, WhatAlwaysFailsOrNeverVerifiesGoesToTheFallback) {
  device_.act = [&](u32 label) {
    return label == 3 ? Act::kFail : label == 4 ? Act::kFlip : Act::kGood;
  };
  prove(run_of(20));
  expect_all(20);
  EXPECT_EQ(cpu_.submitted, 2u);
  EXPECT_EQ(pool_->usage().counters.at("fallback"), 2u);
}

TEST_F(EpochPipelineTest, WithoutAFallbackAFailedEpochEndsTheJob) {
  for (const Act act : {Act::kFail, Act::kFlip}) {
    exchange_.saved.clear();
    exchange_.run.reset();
    sealed_ = 0;
    device_.act = [&](u32 label) { return label == 9 ? act : Act::kGood; };
    expect_reason(run_of(40), Reason::kGpu, false);
    EXPECT_LE(exchange_.saved.size(), 8u);
  }
}

TEST_F(EpochPipelineTest, StoredEpochsAreTakenOverAndOthersProved) {
  for (const u32 label : {1u, 2u, 5u, 6u, 19u}) exchange_.stored[label] = payload_of(label);
  exchange_.stored[7] = payload_of(8);  // not this epoch's
  exchange_.stored[8] = {1, 2, 3};
  prove(run_of(20));
  expect_all(20);
  EXPECT_EQ(exchange_.were_stored, (std::set<u64>{1, 2, 5, 6, 19}));
  EXPECT_EQ(device_.submitted, 15u);
}

TEST_F(EpochPipelineTest, ARunThatIsAllStoredProvesNothing) {
  for (u32 label = 1; label <= 30; ++label) exchange_.stored[label] = payload_of(label);
  prove(run_of(30));
  expect_all(30);
  EXPECT_EQ(device_.submitted, 0u);
}

TEST_F(EpochPipelineTest, AFaultIsToldAtOnceHoweverLongAnEpochTakes) {
  device_.is_stuck = true;
  survey_waits = [&](const auto&) { device_.wait_for_begun(1); };
  std::thread releasing([&] {
    device_.wait_for_begun(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    device_.release();  // what is being proved is waited for
  });
  expect_reason(run_of(1000, 500), Reason::kGuestFault);
  releasing.join();
  EXPECT_LT(exchange_.saved.size(), 500u);
}

TEST_F(EpochPipelineTest, AFaultAfterSomeEpochsKeepsThoseUntilItIsKnown) {
  std::atomic<u64> saved = 0;
  exchange_.on_save = [&](u64 label) { saved = label; };
  survey_waits = [&](const auto& checkpoint) {
    while (saved < 12) {
      checkpoint();
      std::this_thread::yield();
    }
  };
  expect_reason(run_of(1000, 13), Reason::kGuestFault);
  EXPECT_EQ(exchange_.saved, up_to(12));
  EXPECT_FALSE(exchange_.run);
}

TEST_F(EpochPipelineTest, TheSurveyMayEndAfterTheLastEpoch) {
  std::atomic<u64> saved = 0;
  exchange_.on_save = [&](u64 label) {
    EXPECT_FALSE(exchange_.run) << "the number of epochs is not known yet";
    saved = label;
  };
  survey_waits = [&](const auto&) {
    while (saved < 10) std::this_thread::yield();
  };
  prove(run_of(10));
  expect_all(10);
}

TEST_F(EpochPipelineTest, RunsThatDifferAreOurOwnError) {
  EpochRun run = run_of(10);
  run.survey = run_of(11).survey;
  expect_reason(run, Reason::kInternal);
  sealed_ = 0;
  exchange_.run.reset();
  run = run_of(10, 5);  // faults the second time only
  run.survey = run_of(10).survey;
  expect_reason(run, Reason::kInternal);
}

TEST_F(EpochPipelineTest, IsStoppedWhileTheProgramRuns) {
  survey_waits = [](const auto& checkpoint) {
    for (;;) {
      checkpoint();
      std::this_thread::yield();
    }
  };
  exchange_.should_stop = [&] { return exchange_.saved.size() == 5; };
  EXPECT_THROW(prove(run_of(5)), Stop);
  EXPECT_FALSE(exchange_.run);
}

TEST_F(EpochPipelineTest, WhenStoppedItSavesWhatWasBeingProved) {
  device_.is_stuck = true;
  device_.order_seed = 3;
  exchange_.should_stop = [&] {
    const std::lock_guard lock(device_.mutex);
    return device_.begun == 1;
  };
  std::thread releasing([&] {
    device_.wait_for_begun(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    device_.release();
  });
  EXPECT_THROW(prove(run_of(1000)), Stop);
  releasing.join();
  EXPECT_GE(exchange_.saved.size(), 1u);
  EXPECT_LE(exchange_.saved.size(), limit());
  EXPECT_TRUE(std::is_sorted(exchange_.saved.begin(), exchange_.saved.end()));
}

TEST_F(EpochPipelineTest, IsStoppedAtAnyPoint) {
  for (int stop_at = 0; stop_at < 60; ++stop_at) {
    exchange_.saved.clear();
    exchange_.run.reset();
    absorbed_.clear();
    sealed_ = 0;
    int checks = 0;
    exchange_.should_stop = [&] { return checks++ == stop_at; };
    try {
      prove(run_of(30));
    } catch (const Stop&) {
    }
    EXPECT_TRUE(std::is_sorted(exchange_.saved.begin(), exchange_.saved.end())) << stop_at;
    EXPECT_LE(exchange_.saved.size(), 30u);
  }
}

TEST_F(EpochPipelineTest, WhatTheStoreThrowsComesOut) {
  exchange_.save_fails_at = 7;
  EXPECT_THROW(prove(run_of(40)), IoError);
  EXPECT_EQ(exchange_.saved, up_to(6)) << "nothing is saved past a full disk";
  exchange_.save_fails_at = 0;
  exchange_.load_fails_at = 4;
  exchange_.saved.clear();
  exchange_.run.reset();
  sealed_ = 0;
  EXPECT_THROW(prove(run_of(40)), IoError);
}

TEST_F(EpochPipelineTest, HostMemoryIsNotTheDevicesFault) {
  device_.act = [](u32 label) { return label == 5 ? Act::kNoMemory : Act::kGood; };
  EXPECT_THROW(prove(run_of(40)), std::bad_alloc);
  EXPECT_EQ(cpu_.opened, 0u);
}

/// A turn that comes and is wanted back as the test says.
class ScriptedTurn : public ProvingTurn {
 public:
  bool try_take() override {
    ++asked;
    has_it = has_it || may_take();
    return has_it;
  }
  bool is_wanted() const override { return is_wanted_now(); }
  bool is_waiting() const override { return asked > 0 && !has_it; }
  void give_back() override {
    has_it = false;
    ++given_back;
  }
  void on_turn(std::function<void()>) override {}

  std::function<bool()> may_take = [] { return true; };
  std::function<bool()> is_wanted_now = [] { return false; };
  bool has_it = false;
  u64 asked = 0;
  u64 given_back = 0;
};

TEST_F(EpochPipelineTest, WaitsForItsTurnAndProvesNothingBefore) {
  ScriptedTurn turn;
  turn_ = &turn;
  turn.may_take = [&] {
    EXPECT_EQ(device_.opened, 0u);
    return turn.asked == 10;
  };
  prove(run_of(30));
  expect_all(30);
  EXPECT_EQ(device_.opened, 1u);
  EXPECT_TRUE(turn.has_it) << "for the global proof";
}

TEST_F(EpochPipelineTest, GivesItsTurnBackAndLosesNothing) {
  ScriptedTurn turn;
  turn_ = &turn;
  u64 wanted_at = 5;
  turn.is_wanted_now = [&] { return exchange_.saved.size() >= wanted_at; };
  turn.may_take = [&] {
    wanted_at = exchange_.saved.size() + 5;
    return true;
  };
  for (const u64 seed : {0u, 3u}) {
    device_.order_seed = seed;
    exchange_.saved.clear();
    exchange_.run.reset();
    absorbed_.clear();
    sealed_ = 0;
    device_.begun = 0;
    wanted_at = 5;
    prove(run_of(100));
    expect_all(100);
    EXPECT_EQ(device_.begun, 100u) << "no epoch twice";
  }
  EXPECT_GE(turn.given_back, 10u);
  EXPECT_GE(device_.opened, turn.given_back);
  EXPECT_EQ(pool_->usage().counters.at("epoch_retry"), 0u);
}

TEST_F(EpochPipelineTest, IsStoppedWhileItWaitsForItsTurn) {
  ScriptedTurn turn;
  turn_ = &turn;
  turn.may_take = [] { return false; };
  exchange_.should_stop = [&] { return turn.asked > 5; };
  EXPECT_THROW(prove(run_of(1000)), Stop);
  EXPECT_EQ(device_.opened, 0u);
  EXPECT_TRUE(exchange_.saved.empty());
}

TEST_F(EpochPipelineTest, WhatIsStoredNeedsNoTurn) {
  for (u32 label = 1; label <= 30; ++label) exchange_.stored[label] = payload_of(label);
  ScriptedTurn turn;
  turn_ = &turn;
  turn.may_take = [] { return false; };
  prove(run_of(30));
  EXPECT_EQ(exchange_.saved, up_to(30));
  EXPECT_EQ(turn.asked, 0u);
}

}  // namespace
}  // namespace epochd
