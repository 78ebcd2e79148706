// Where a job is proved, and what becomes of a device that fails: with provers that fail to order.
#include <gtest/gtest.h>

#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/resilient_prover.hpp"
#include "daemon/queue/io_error.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

/// "Proofs" are the epoch's label; a wrong one is anything else. The global proof is 10, 11 .. 14,
/// in records of two words and one.
class ScriptedProver : public EpochProver {
 public:
  enum class Act { kGood, kThrow, kFlip, kNoMemory, kNoDisk };

  ScriptedProver(std::string backend, std::vector<Act> acts)
      : backend_(std::move(backend)), acts_(std::move(acts)) {}

  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks&) override {
    const Act act = next();
    fail(act);
    EpochProof proof;
    proof.record = {1, records.public_values.label ^ (act == Act::kFlip ? 1u << 30 : 0u)};
    return proof;
  }
  bool prove_global(const BoundaryStore&, const RunMemory::Ends&,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    const Act act = next();
    const std::vector<u64> words = {10, 11, 12, 13, 14};
    for (size_t at = 0; at < words.size(); at += 2) {
      if (cancelled && cancelled()) return false;
      if (at == 2) fail(act);
      emit(std::span(words).subspan(at, std::min<size_t>(2, words.size() - at)));
    }
    return true;
  }
  ProverUsage usage() const override {
    ProverUsage usage;
    usage.backend = backend_;
    usage.bytes_h2d = 7;
    usage.counters["lde"] = calls_;
    return usage;
  }
  std::pmr::memory_resource* record_memory() override { return &memory_; }

 private:
  Act next() { return calls_ < acts_.size() ? acts_[calls_++] : (++calls_, acts_.back()); }
  static void fail(Act act) {
    if (act == Act::kThrow) throw std::runtime_error("cudaErrorOfTheTest");
    if (act == Act::kNoMemory) throw std::bad_alloc();
    if (act == Act::kNoDisk) throw IoError("write", "/q/epoch", ENOSPC);
  }

  std::string backend_;
  std::vector<Act> acts_;  ///< one a call; the last for all that follow
  size_t calls_ = 0;
  std::pmr::monotonic_buffer_resource memory_;
};
using Act = ScriptedProver::Act;

class ResilientTest : public ::testing::Test {
 protected:
  void make(std::vector<Act> device, bool may_fall_back) {
    ResilientProver::Factory fallback;
    if (may_fall_back) {
      fallback = [this] {
        ++fallbacks_made_;
        return std::make_unique<ScriptedProver>("cpu", std::vector{Act::kGood});
      };
    }
    prover_.emplace([&] { return std::make_unique<ScriptedProver>("cuda", std::move(device)); },
                    fallback,
                    [this](const EpochProof& proof) {
                      ++verified_;
                      return proof.record == std::vector<u64>{1, label_};
                    });
  }
  std::vector<u64> prove(u32 label) {
    label_ = label;
    EpochRecords records;
    records.public_values.label = label;
    return prover_->prove_epoch(records, {}).record;
  }
  std::vector<u64> prove_global() {
    std::vector<u64> all;
    is_complete_ = prover_->prove_global(
        {}, {},
        [&](std::span<const u64> words) { all.insert(all.end(), words.begin(), words.end()); }, {});
    return all;
  }
  void expect_counts(u64 retries, u64 verify_failures, u64 fallbacks) {
    const ProverUsage usage = prover_->usage();
    EXPECT_EQ(usage.counters.at("epoch_retry"), retries);
    EXPECT_EQ(usage.counters.at("self_verify_failed"), verify_failures);
    EXPECT_EQ(usage.counters.at("fallback"), fallbacks);
    EXPECT_EQ(usage.fallback.empty(), fallbacks == 0) << usage.fallback;
    EXPECT_EQ(fallbacks_made_, fallbacks > 0 ? 1u : 0u);
  }

  std::optional<ResilientProver> prover_;
  u64 label_ = 0;
  u64 verified_ = 0;
  u64 fallbacks_made_ = 0;
  bool is_complete_ = false;
};

const std::vector<u64> kGlobalWords = {10, 11, 12, 13, 14};

TEST_F(ResilientTest, AGoodDeviceDoesEverything) {
  make({Act::kGood}, true);
  EXPECT_EQ(prove(1), (std::vector<u64>{1, 1}));
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  EXPECT_EQ(prove_global(), kGlobalWords);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(verified_, 2u) << "every epoch proof is verified";
  expect_counts(0, 0, 0);
  EXPECT_EQ(prover_->usage().backend, "cuda");
  EXPECT_EQ(prover_->usage().bytes_h2d, 7u);
  EXPECT_EQ(prover_->usage().counters.at("lde"), 3u);
  EXPECT_NE(prover_->record_memory(), std::pmr::get_default_resource());
}

TEST_F(ResilientTest, WhatThrowsOnceIsProvedAgain) {
  make({Act::kGood, Act::kThrow, Act::kGood}, true);
  prove(1);
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  EXPECT_EQ(prove(3), (std::vector<u64>{1, 3}));
  expect_counts(1, 0, 0);
}

TEST_F(ResilientTest, AFlippedWordIsCaughtAndProvedAgain) {
  make({Act::kFlip, Act::kGood}, false);
  EXPECT_EQ(prove(5), (std::vector<u64>{1, 5}));
  EXPECT_EQ(verified_, 2u);
  expect_counts(1, 1, 0);
}

TEST_F(ResilientTest, WhatFailsTwiceGoesToTheFallback) {
  make({Act::kThrow, Act::kFlip, Act::kGood}, true);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(prove(1), (std::vector<u64>{1, 1}));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cudaErrorOfTheTest"), std::string::npos) << said;
  EXPECT_NE(said.find("the CPU proves what the device could not"), std::string::npos) << said;
  expect_counts(1, 1, 1);
  EXPECT_EQ(prover_->usage().fallback, "its proof of epoch 1 does not verify");
  EXPECT_EQ(prover_->usage().backend, "cpu") << "the device made nothing";
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  expect_counts(1, 1, 1);
  EXPECT_EQ(prover_->usage().backend, "cuda") << "the device is tried again at the next epoch";
}

TEST_F(ResilientTest, ADeviceThatAlwaysFailsLeavesEveryProofToTheFallback) {
  make({Act::kThrow}, true);
  EXPECT_EQ(prove(1), (std::vector<u64>{1, 1}));
  EXPECT_EQ(prove(2), (std::vector<u64>{1, 2}));
  EXPECT_EQ(prove_global(), kGlobalWords) << "not one word twice";
  EXPECT_TRUE(is_complete_);
  expect_counts(3, 0, 3);
  EXPECT_EQ(prover_->usage().backend, "cpu");
}

TEST_F(ResilientTest, WithoutAFallbackItIsAnErrorOfTheDevice) {
  for (const Act act : {Act::kThrow, Act::kFlip}) {
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

TEST_F(ResilientTest, AGlobalProofThatStopsHalfwayGoesOnWhereItStopped) {
  make({Act::kThrow, Act::kGood}, false);
  EXPECT_EQ(prove_global(), kGlobalWords);
  expect_counts(1, 0, 0);
}

TEST_F(ResilientTest, ACancelledGlobalProofIsNoFailure) {
  make({Act::kGood}, true);
  EXPECT_FALSE(prover_->prove_global(
      {}, {}, [](std::span<const u64>) {}, [] { return true; }));
  expect_counts(0, 0, 0);
}

TEST_F(ResilientTest, WhatIsNotTheDevicesDoingPassesThrough) {
  make({Act::kNoMemory, Act::kNoDisk, Act::kGood}, true);
  EXPECT_THROW(prove(1), std::bad_alloc);
  EXPECT_THROW(prove(1), IoError);
  const auto full_disk = [](std::span<const u64>) { throw IoError("write", "/q/b", ENOSPC); };
  EXPECT_THROW(prover_->prove_global({}, {}, full_disk, {}), IoError);
  expect_counts(0, 0, 0);
}

TEST_F(ResilientTest, ADeviceThatCannotBeMade) {
  const auto no_device = []() -> std::unique_ptr<EpochProver> {
    throw std::runtime_error("the arena does not fit");
  };
  const auto cpu = [] { return std::make_unique<ScriptedProver>("cpu", std::vector{Act::kGood}); };
  const auto refuse = [](const EpochProof&) { return false; };
  ResilientProver prover(no_device, cpu, refuse);
  EXPECT_EQ(prover.record_memory(), std::pmr::get_default_resource());
  EpochRecords records;
  prover.prove_epoch(records, {});
  EXPECT_EQ(prover.usage().counters.at("fallback"), 1u);
  EXPECT_EQ(prover.usage().counters.at("epoch_retry"), 0u);
  EXPECT_EQ(prover.usage().backend, "cpu");
  EXPECT_EQ(prover.usage().fallback, "the arena does not fit");
  try {
    ResilientProver required(no_device, {}, refuse);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kGpu);
  }
}

Result<std::vector<DeviceInfo>, DeviceQueryError> no_driver() {
  return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kNoDriver, -1, "no driver is loaded"}};
}
Result<std::vector<DeviceInfo>, DeviceQueryError> one_device() {
  DeviceInfo device;
  device.device = 3;
  return std::vector{device};
}

TEST(BackendChoice, FollowsThePolicyAndTheDevices) {
  const auto choose = [](BackendPolicy policy, const DeviceQuery& query) {
    return choose_backend(policy, Residency::kDeviceOnly, query);
  };
  for (const BackendPolicy policy : {BackendPolicy::kCudaPreferred, BackendPolicy::kCudaRequired}) {
    const BackendChoice choice = choose(policy, one_device);
    EXPECT_TRUE(choice.is_cuda);
    EXPECT_EQ(choice.device, 3);
    EXPECT_EQ(choice.fallback, "");
  }
  const BackendChoice preferred = choose(BackendPolicy::kCudaPreferred, no_driver);
  EXPECT_FALSE(preferred.is_cuda);
  EXPECT_EQ(preferred.fallback, "no CUDA device can be used: no driver is loaded");
  try {
    choose(BackendPolicy::kCudaRequired, no_driver);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kGpu);
    EXPECT_NE(std::string(error.what()).find("no driver is loaded"), std::string::npos);
  }
  bool is_asked = false;
  const auto watched = [&] {
    is_asked = true;
    return one_device();
  };
  EXPECT_FALSE(choose(BackendPolicy::kCpu, watched).is_cuda);
  EXPECT_FALSE(is_asked) << "a context costs time and memory";
}

TEST(BackendChoice, RefusesAResidencyThatThereIsNot) {
  for (const BackendPolicy policy : {BackendPolicy::kCudaPreferred, BackendPolicy::kCudaRequired}) {
    try {
      choose_backend(policy, Residency::kHostMirror, one_device);
      FAIL();
    } catch (const JobError& error) {
      EXPECT_EQ(error.reason(), Reason::kInput);
    }
  }
  EXPECT_FALSE(choose_backend(BackendPolicy::kCpu, Residency::kHostMirror, one_device).is_cuda);
}

}  // namespace
}  // namespace epochd
