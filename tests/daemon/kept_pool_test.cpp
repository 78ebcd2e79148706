// The pool that a worker keeps from job to job: each job is proved as by a pool of its own.
#include "daemon/worker/kept_pool.hpp"

#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/pipeline/guest.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/continuation/cpu_prover.hpp"
#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd {
namespace {

/// What the provers of a test share.
struct Watch {
  int pools = 0;
  std::atomic<int> provers = 0;
  std::atomic<int> holding = 0;      ///< provers that hold a key
  std::atomic<int> holding_max = 0;  ///< while one took another
  bool refuses = false;
  bool throws = false;
  std::function<void()> act = [] {};  ///< in each proof
};

/// "Proofs" are the epoch's label and the address of the key.
class KeyedProver : public EpochProver {
 public:
  KeyedProver(Watch& watch, const ProvingKey& key) : watch_(watch), key_(&key) {
    ++watch_.provers;
    ++watch_.holding;
  }
  ~KeyedProver() override {
    --watch_.provers;
    if (key_ != nullptr) --watch_.holding;
  }
  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks&) override {
    watch_.act();
    ++proofs_;
    EpochProof proof;
    proof.record = {records.public_values.label, reinterpret_cast<u64>(key_)};
    return proof;
  }
  bool prove_global(const BoundaryStore&, const RunMemory::Ends&,
                    const std::function<void(std::span<const u64>)>&,
                    const std::function<bool()>&) override {
    return true;
  }
  ProverUsage usage() const override {
    ProverUsage usage;
    usage.bytes_h2d = 10 * proofs_;
    usage.peak_device_bytes = 5;
    usage.counters["proofs"] = proofs_;
    return usage;
  }
  void let_go() override {
    if (key_ != nullptr) --watch_.holding;
    key_ = nullptr;
  }
  bool rekey(const ProvingKey& key) override {
    if (watch_.throws) throw std::runtime_error("cudaErrorOfTheTest");
    if (watch_.refuses) return false;
    watch_.holding_max = std::max(watch_.holding_max.load(), watch_.holding.load());
    ++watch_.holding;
    key_ = &key;
    return true;
  }

 private:
  Watch& watch_;
  const ProvingKey* key_;
  u64 proofs_ = 0;
};

OpenRequest request_of(Bytes elf, u32 epoch_size_log2 = 10) {
  OpenRequest request;
  request.elf = std::move(elf);
  request.elf_name = "line.elf";
  request.params = {&preset_of(SecurityPreset::kTest), epoch_size_log2};
  request.threads = 2;
  return request;
}

std::vector<std::shared_ptr<const Capsule>> capsules_of(const OpenRequest& request) {
  const Guest guest(request.elf, request.elf_name);
  Scout run = guest.make_scout({}, request.params, {});
  Stitch stitch({});
  std::vector<std::shared_ptr<const Capsule>> capsules;
  while (!run.halted()) {
    const u32 cycles = 1u << request.params.epoch_size_log2;
    capsules.push_back(std::make_shared<Capsule>(stitch.seal(*run.run_epoch(cycles))));
  }
  return capsules;
}

/// The proofs' words, in the order of the capsules.
std::vector<std::vector<u64>> prove_all(ProverPool& pool, const OpenRequest& request) {
  std::vector<std::future<PoolAnswer>> answers;
  for (const auto& capsule : capsules_of(request)) {
    const auto promise = std::make_shared<std::promise<PoolAnswer>>();
    answers.push_back(promise->get_future());
    pool.submit(capsule, [promise](PoolAnswer answer) { promise->set_value(std::move(answer)); });
  }
  std::vector<std::vector<u64>> proofs;
  for (auto& answer : answers) {
    PoolAnswer given = answer.get();
    EXPECT_TRUE(given.epoch) << given.error;
    if (given.epoch) proofs.push_back(std::move(given.epoch->proof.record));
  }
  return proofs;
}

class KeptPoolTest : public ::testing::Test {
 protected:
  KeptPool::MakePool make_keyed() {
    return [this](const PoolJob& job, int) {
      ++watch_.pools;
      return std::make_unique<LocalPool>(job, LocalPool::Threads{2, 3}, [this, key = job.key] {
        return std::make_unique<KeyedProver>(watch_, *key);
      });
    };
  }

  Watch watch_;
  const OpenRequest first_ = request_of(testing::straight_line(3000));
  const OpenRequest second_ = request_of(testing::straight_line(2000));
};

TEST_F(KeptPoolTest, ProvesTwoGuestsInTurnAsPoolsOfTheirOwnDo) {
  const auto make = [this](const PoolJob& job, int) {
    ++watch_.pools;
    const auto prover = [job] {
      static const Parallel parallel(2);
      return make_cpu_prover(*job.key, job.params, best_isa(), parallel);
    };
    return std::make_unique<LocalPool>(job, LocalPool::Threads{2, 2}, prover);
  };
  KeptPool kept(make);
  const OpenRequest* const jobs[] = {&first_, &second_, &second_, &first_};
  std::vector<std::vector<std::vector<u64>>> proofs;
  for (const OpenRequest* job : jobs) proofs.push_back(prove_all(*kept.open(*job), *job));
  EXPECT_EQ(watch_.pools, 1) << "the provers took every program";
  EXPECT_EQ(proofs[0], prove_all(*KeptPool(make).open(first_), first_));
  EXPECT_EQ(proofs[1], prove_all(*KeptPool(make).open(second_), second_));
  EXPECT_EQ(proofs[2], proofs[1]);
  EXPECT_EQ(proofs[3], proofs[0]);
  EXPECT_EQ(proofs[0].size(), 3u);
  EXPECT_EQ(proofs[1].size(), 2u);
}

TEST_F(KeptPoolTest, AllProversLetGoOfAProgramBeforeOneTakesAnother) {
  KeptPool kept(make_keyed());
  const auto of_first = prove_all(*kept.open(first_), first_);
  const auto of_second = prove_all(*kept.open(second_), second_);
  EXPECT_NE(of_first[0][1], of_second[0][1]) << "another key";
  EXPECT_EQ(of_second[0][1], of_second[1][1]);
  EXPECT_EQ(watch_.holding_max, 2) << "of three: never the old and the new one";
  EXPECT_EQ(watch_.holding, 3);
}

TEST_F(KeptPoolTest, EachJobHasAUsageOfItsOwn) {
  KeptPool kept(make_keyed());
  prove_all(*kept.open(first_), first_);
  const auto pool = kept.open(second_);
  EXPECT_EQ(pool->usage().counters.at("proofs"), 0u);
  prove_all(*pool, second_);
  EXPECT_EQ(pool->usage().counters.at("proofs"), 2u);
  EXPECT_EQ(pool->usage().bytes_h2d, 20u);
  EXPECT_EQ(pool->usage().peak_device_bytes, 5u);
}

TEST_F(KeptPoolTest, MakesAnotherPoolForOtherParametersOrWhereAProverDoesNotTakeTheKey) {
  KeptPool kept(make_keyed());
  prove_all(*kept.open(first_), first_);
  const OpenRequest larger = request_of(first_.elf, 11);
  EXPECT_EQ(prove_all(*kept.open(larger), larger).size(), 2u);
  EXPECT_EQ(watch_.pools, 2);
  watch_.refuses = true;
  prove_all(*kept.open(request_of(second_.elf, 11)), request_of(second_.elf, 11));
  EXPECT_EQ(watch_.pools, 3);
  watch_.throws = true;
  prove_all(*kept.open(larger), larger);
  EXPECT_EQ(watch_.pools, 4);
  EXPECT_EQ(watch_.provers, 3) << "of the last pool";
  kept.release();
  EXPECT_EQ(watch_.provers, 0);
  prove_all(*kept.open(larger), larger);
  EXPECT_EQ(watch_.pools, 5);
}

TEST_F(KeptPoolTest, TheEndOfAJobWaitsForWhatIsBeingProvedAndDropsTheRest) {
  KeptPool kept(make_keyed());
  std::latch begun(1);
  std::atomic<bool> has_begun = false;
  std::atomic<bool> may_end = false;
  watch_.act = [&] {
    if (!has_begun.exchange(true)) begun.count_down();
    while (!may_end) std::this_thread::yield();
  };
  std::atomic<int> answers = 0;
  auto pool = kept.open(first_);
  constexpr int kRounds = 10;
  for (int i = 0; i < kRounds; ++i) {
    for (const auto& c : capsules_of(first_)) pool->submit(c, [&](PoolAnswer) { ++answers; });
  }
  begun.wait();
  std::thread ending([&] { pool.reset(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(answers, 0);
  may_end = true;
  ending.join();
  EXPECT_GE(answers, 1) << "what was being proved";
  EXPECT_LE(answers, 5) << "at most all provers', and what two threads replayed meanwhile";
  EXPECT_EQ(prove_all(*kept.open(second_), second_).size(), 2u);
  EXPECT_EQ(watch_.pools, 1);
}

}  // namespace
}  // namespace epochd
