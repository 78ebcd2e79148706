// What becomes of a device that fails, or proves wrongly: with pools that do so to order.
#include "daemon/pipeline/checked_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/queue/reason.hpp"
#include "tests/daemon/scripted_pool.hpp"

namespace epochd {
namespace {

class CheckedPoolTest : public ::testing::Test {
 protected:
  CheckedPoolTest() { cpu_.backend = "cpu"; }

  void make(std::vector<Act> device, bool may_fall_back, bool is_device = true) {
    pool_.reset();
    verified_ = 0;
    device_.act = in_turn(std::move(device));
    ProvingPlaces places{scripted(device_), {}, is_device};
    if (may_fall_back) places.fallback = scripted(cpu_);
    open(std::move(places));
  }
  void open(ProvingPlaces places) {
    const auto make_verify = [this]() -> CheckedPool::Verify {
      return [this](const Capsule& capsule, const EpochProof& proof,
                    std::span<const BoundaryRecord> boundary) {
        ++verified_;
        return is_scripted_proof(capsule, proof, boundary);
      };
    };
    pool_.emplace(job_, std::move(places), make_verify, 2, log_);
  }
  /// `at_work` is stuck, and comes free a while after the pool is asked to close.
  void close_while_proving(Script& at_work) {
    std::thread releasing([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      at_work.release();
    });
    pool_->close();
    releasing.join();
  }
  CheckedEpoch get(u32 label, std::optional<Bytes> stored = std::nullopt) {
    std::promise<CheckedAnswer> promise;
    pool_->submit(capsule_of(label), std::move(stored),
                  [&](CheckedAnswer answer) { promise.set_value(std::move(answer)); });
    CheckedAnswer answer = promise.get_future().get();
    EXPECT_NE(answer.epoch.has_value(), answer.error != nullptr);
    if (answer.error) std::rethrow_exception(answer.error);
    return *std::move(answer.epoch);
  }
  std::vector<u64> prove(u32 label) {
    const CheckedEpoch epoch = get(label);
    EXPECT_FALSE(epoch.was_stored);
    return decode_payload(epoch.payload).value().proof.record;
  }
  std::vector<u64> prove_global(CheckedPool::Trust trust = CheckedPool::Trust::kPrimary) {
    std::vector<u64> all;
    is_complete_ = pool_->prove_global(
        store(), {},
        [&](std::span<const u64> words) { all.insert(all.end(), words.begin(), words.end()); }, {},
        trust);
    return all;
  }
  static Bytes encode_payload_of(u32 label) {
    EpochProof proof;
    proof.record = {1, label};
    return encode_payload(proof, std::vector<BoundaryRecord>(1));
  }
  static BoundaryStore store() {
    BoundaryStore store;
    store.rows = [](u32) { return std::vector<BoundaryRecord>(); };
    return store;
  }
  void expect_counts(u64 retries, u64 verify_failures, u64 fallbacks) {
    const ProverUsage usage = pool_->usage();
    EXPECT_EQ(usage.counters.at("epoch_retry"), retries);
    EXPECT_EQ(usage.counters.at("self_verify_failed"), verify_failures);
    EXPECT_EQ(usage.counters.at("fallback"), fallbacks);
    EXPECT_EQ(usage.fallback.empty(), fallbacks == 0) << usage.fallback;
    EXPECT_EQ(cpu_.opened, fallbacks > 0 ? 1u : 0u);
  }

  Script device_;
  Script cpu_;
  PoolJob job_;
  StageLog log_;
  std::atomic<u64> verified_ = 0;
  std::optional<CheckedPool> pool_;
  bool is_complete_ = false;
};

TEST_F(CheckedPoolTest, AGoodDeviceDoesEverything) {
  make({Act::kGood}, true);
  EXPECT_EQ(prove(1), (std::vector<u64>{1, 1}));
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  EXPECT_EQ(prove_global(), kGlobalWords);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(verified_, 2u) << "every epoch proof is verified";
  expect_counts(0, 0, 0);
  EXPECT_EQ(pool_->usage().backend, "cuda");
  EXPECT_EQ(pool_->usage().bytes_h2d, 7u);
  EXPECT_EQ(pool_->usage().counters.at("lde"), 3u);
  EXPECT_EQ(pool_->capacity(), 5u) << "the pool's three, and the two being verified";
}

TEST_F(CheckedPoolTest, WhatFailsOnceIsProvedAgain) {
  make({Act::kGood, Act::kFail, Act::kGood}, true);
  prove(1);
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  EXPECT_EQ(prove(3), (std::vector<u64>{1, 3}));
  expect_counts(1, 0, 0);
}

TEST_F(CheckedPoolTest, AFlippedWordIsCaughtAndProvedAgain) {
  make({Act::kFlip, Act::kGood}, false);
  EXPECT_EQ(prove(5), (std::vector<u64>{1, 5}));
  EXPECT_EQ(verified_, 2u);
  expect_counts(1, 1, 0);
}

TEST_F(CheckedPoolTest, WhatFailsTwiceGoesToTheFallback) {
  make({Act::kFail, Act::kFlip, Act::kGood}, true);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(prove(1), (std::vector<u64>{1, 1}));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cudaErrorOfTheTest"), std::string::npos) << said;
  EXPECT_NE(said.find("the CPU proves what the device could not"), std::string::npos) << said;
  expect_counts(1, 1, 1);
  EXPECT_EQ(verified_, 2u) << "the fallback's proof too";
  EXPECT_EQ(pool_->usage().fallback, "its proof of epoch 1 does not verify");
  EXPECT_EQ(pool_->usage().backend, "cpu") << "the device made nothing";
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  expect_counts(1, 1, 1);
  EXPECT_EQ(pool_->usage().backend, "cuda") << "the device is tried again at the next epoch";
}

TEST_F(CheckedPoolTest, ADeviceThatAlwaysFailsLeavesEveryProofToTheFallback) {
  make({Act::kFail}, true);
  EXPECT_EQ(prove(1), (std::vector<u64>{1, 1}));
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  EXPECT_EQ(prove_global(), kGlobalWords) << "not one word twice";
  EXPECT_TRUE(is_complete_);
  expect_counts(3, 0, 3);
  EXPECT_EQ(pool_->usage().backend, "cpu");
}

TEST_F(CheckedPoolTest, WithoutAFallbackItIsAnErrorOfTheDevice) {
  for (const Act act : {Act::kFail, Act::kFlip}) {
    make({act}, false);
    try {
      prove(9);
      FAIL();
    } catch (const JobError& error) {
      EXPECT_EQ(error.reason(), Reason::kGpu);
      EXPECT_EQ(std::string(error.what()).find("the device failed twice at epoch 9: "), 0u)
          << error.what();
    }
    expect_counts(1, act == Act::kFlip ? 2 : 0, 0);
  }
}

TEST_F(CheckedPoolTest, WhereOnlyTheCpuProvesItIsOurOwnError) {
  make({Act::kFlip}, false, false);
  try {
    prove(9);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kInternal);
    EXPECT_STREQ(error.what(),
                 "the CPU failed twice at epoch 9: its proof of epoch 9 does not verify");
  }
  EXPECT_FALSE(pool_->usage().counters.contains("fallback"));
}

TEST_F(CheckedPoolTest, AFallbackThatFailsIsTheEnd) {
  cpu_.act = in_turn({Act::kFlip});
  make({Act::kFail}, true);
  try {
    prove(4);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kInternal);
    EXPECT_STREQ(error.what(),
                 "the CPU failed in the device's place at epoch 4: its proof of epoch 4 does not "
                 "verify");
  }
}

TEST_F(CheckedPoolTest, AGlobalProofThatStopsHalfwayGoesOnWhereItStopped) {
  make({Act::kFail, Act::kGood}, false);
  EXPECT_EQ(prove_global(), kGlobalWords);
  expect_counts(1, 0, 0);
}

TEST_F(CheckedPoolTest, AGlobalProofThatWasRefusedIsMadeWhereItIsAskedFor) {
  make({Act::kGood}, true);
  EXPECT_EQ(prove_global(), kGlobalWords);
  pool_->count_refused_global();
  EXPECT_EQ(prove_global(CheckedPool::Trust::kPrimary), kGlobalWords);
  expect_counts(0, 1, 0);
  pool_->count_refused_global();
  EXPECT_EQ(prove_global(CheckedPool::Trust::kFallback), kGlobalWords);
  expect_counts(0, 2, 1);
  EXPECT_EQ(pool_->usage().fallback, "its global proof does not verify");
  make({Act::kGood}, false);
  EXPECT_EQ(prove_global(CheckedPool::Trust::kFallback), kGlobalWords) << "there is only the one";
}

TEST_F(CheckedPoolTest, ACancelledGlobalProofIsNoFailure) {
  make({Act::kGood}, true);
  EXPECT_FALSE(pool_->prove_global(
      {}, {}, [](std::span<const u64>) {}, [] { return true; }));
  expect_counts(0, 0, 0);
}

TEST_F(CheckedPoolTest, WhatIsNotTheDevicesDoingPassesThrough) {
  make({Act::kNoMemory, Act::kNoMemory, Act::kGood}, true);
  EXPECT_THROW(prove(1), std::bad_alloc);
  EXPECT_THROW(prove_global(), std::bad_alloc);
  const auto full_disk = [](std::span<const u64>) { throw IoError("write", "/q/b", ENOSPC); };
  EXPECT_THROW(pool_->prove_global(store(), {}, full_disk, {}), IoError);
  BoundaryStore unreadable;
  unreadable.rows = [](u32) -> std::vector<BoundaryRecord> {
    throw JobError(Reason::kIo, "cannot be read back");
  };
  EXPECT_THROW(pool_->prove_global(unreadable, {}, [](std::span<const u64>) {}, {}), JobError);
  const auto stop = []() -> bool { throw std::logic_error("stop"); };
  EXPECT_THROW(pool_->prove_global(
                   {}, {}, [](std::span<const u64>) {}, stop),
               std::logic_error);
  expect_counts(0, 0, 0);
}

TEST_F(CheckedPoolTest, ADeviceThatCannotBeOpened) {
  const PoolFactory none = [](const PoolJob&) -> std::unique_ptr<ProverPool> {
    throw std::runtime_error("the arena does not fit");
  };
  ::testing::internal::CaptureStderr();
  open({none, scripted(cpu_), true});
  EXPECT_EQ(prove(1), (std::vector<u64>{1, 1}));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no CUDA device proves this job"), std::string::npos) << said;
  expect_counts(0, 0, 1);
  EXPECT_EQ(pool_->usage().backend, "cpu");
  EXPECT_EQ(pool_->usage().fallback, "the arena does not fit");
  try {
    open({none, {}, true});
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kGpu);
  }
}

TEST_F(CheckedPoolTest, StoredEpochsAreVerifiedAndOnlyGoodOnesTakenOver) {
  make({Act::kGood}, true);
  const Bytes stored = get(3).payload;
  verified_ = 0;
  const CheckedEpoch taken = get(3, stored);
  EXPECT_TRUE(taken.was_stored);
  EXPECT_EQ(taken.payload, stored);
  ASSERT_EQ(taken.boundary.size(), 1u);
  EXPECT_EQ(taken.boundary[0].fini_ts, 3u);
  EXPECT_EQ(verified_, 1u);
  EXPECT_EQ(device_.submitted, 1u);
  for (const Bytes& bad : {Bytes{}, Bytes{1, 2, 3}, get(4).payload}) {
    ::testing::internal::CaptureStderr();
    const CheckedEpoch proved = get(3, bad);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_FALSE(proved.was_stored);
    EXPECT_EQ(proved.payload, stored);
    EXPECT_NE(said.find("stored epoch does not belong to this run"), std::string::npos) << said;
  }
  expect_counts(0, 0, 0);
}

TEST_F(CheckedPoolTest, ItsEndAnswersWhatIsBeingProvedAndDropsTheRest) {
  device_.is_stuck = true;
  make({Act::kGood}, true);
  std::atomic<u32> answered = 0;
  for (u32 label = 1; label <= 5; ++label) {
    pool_->submit(capsule_of(label), std::nullopt, [&](CheckedAnswer answer) {
      EXPECT_TRUE(answer.epoch);
      ++answered;
    });
  }
  device_.wait_for_begun(1);
  std::thread ending([&] { pool_->end(); });
  device_.release();
  ending.join();
  const u32 kept = answered;
  EXPECT_GE(kept, 1u);
  pool_->submit(capsule_of(6), std::nullopt, [&](CheckedAnswer) { ++answered; });
  EXPECT_EQ(pool_->usage().backend, "cuda") << "as it was";
  pool_.reset();
  EXPECT_EQ(answered, kept);
}

TEST_F(CheckedPoolTest, WhatIsNotBegunWaitsForTheNextOpening) {
  make({Act::kGood}, true);
  device_.is_stuck = true;
  std::atomic<u32> answered = 0;
  for (u32 label = 1; label <= 5; ++label) {
    pool_->submit(capsule_of(label), std::nullopt, [&, label](CheckedAnswer answer) {
      ASSERT_TRUE(answer.epoch);
      EXPECT_EQ(decode_payload(answer.epoch->payload)->proof.record[1], label);
      ++answered;
    });
  }
  device_.wait_for_begun(1);
  close_while_proving(device_);
  EXPECT_FALSE(pool_->is_open());
  EXPECT_TRUE(pool_->is_wanting());
  const auto wait_for = [&](u32 count) {
    while (answered < count) std::this_thread::yield();
  };
  wait_for(1);  // what was being proved is answered
  EXPECT_EQ(get(9, encode_payload_of(9)).was_stored, true) << "that needs no pool";
  pool_->open();
  wait_for(5);
  EXPECT_FALSE(pool_->is_wanting());
  EXPECT_EQ(device_.opened, 2u);
  expect_counts(0, 0, 0);
  EXPECT_EQ(pool_->usage().bytes_h2d, 14u) << "of both openings";
}

TEST_F(CheckedPoolTest, WhatTheFallbackDidNotBeginIsNotCountedAsItsProof) {
  cpu_.is_stuck = true;
  bool is_device_there = false;
  const PoolFactory device = [&](const PoolJob& job) {
    if (!is_device_there) throw std::runtime_error("the arena does not fit");
    return scripted(device_)(job);
  };
  open({device, scripted(cpu_), true});
  std::atomic<u32> answered = 0;
  for (u32 label = 1; label <= 5; ++label) {
    pool_->submit(capsule_of(label), std::nullopt, [&](CheckedAnswer) { ++answered; });
  }
  cpu_.wait_for_begun(1);
  close_while_proving(cpu_);
  is_device_there = true;
  pool_->open();
  while (answered < 5) std::this_thread::yield();
  EXPECT_EQ(pool_->usage().counters.at("fallback"), 5 - device_.begun);
  EXPECT_GE(device_.begun, 3u);
}

TEST_F(CheckedPoolTest, ClosingTakesNoAttemptAway) {
  // The first attempt fails; its second waits in the closed pool, and is still the second.
  make({Act::kFail, Act::kFail, Act::kGood}, false);
  device_.is_stuck = true;
  std::promise<CheckedAnswer> promise;
  pool_->submit(capsule_of(1), std::nullopt,
                [&](CheckedAnswer answer) { promise.set_value(std::move(answer)); });
  device_.wait_for_begun(1);
  close_while_proving(device_);
  while (!pool_->is_wanting()) std::this_thread::yield();
  pool_->open();
  const CheckedAnswer answer = promise.get_future().get();
  EXPECT_TRUE(answer.error) << "twice is enough";
  EXPECT_EQ(pool_->usage().counters.at("epoch_retry"), 1u);
}

}  // namespace
}  // namespace epochd
