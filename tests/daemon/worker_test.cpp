// Worker processes: what a pool of them answers when they work, fail, die, hang or talk nonsense.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <future>
#include <thread>

#include "daemon/worker/device_workers.hpp"
#include "daemon/worker/spread_pool.hpp"
#include "prover/security/presets.hpp"
#include "tests/daemon/fake_worker.hpp"

namespace epochd {
namespace {

using namespace std::chrono_literals;

WorkerProcess launch_scripted() {
  return WorkerProcess::start({EPOCHD_FAKE_WORKER});
}

PoolJob job_named(const std::string& name) {
  static const Bytes elf = {1, 2, 3};
  PoolJob job;
  job.elf = elf;
  job.elf_name = name;
  job.params = {&prover::kPresets[0], 10};
  return job;
}

std::shared_ptr<const Capsule> capsule(u32 label) {
  Capsule c;
  c.label = label;
  c.pc = 0x10000;
  c.cycles = 1;
  return std::make_shared<const Capsule>(c);
}

std::future<PoolAnswer> submit(ProverPool& pool, u32 label) {
  const auto promise = std::make_shared<std::promise<PoolAnswer>>();
  pool.submit(capsule(label),
              [promise](PoolAnswer answer) { promise->set_value(std::move(answer)); });
  return promise->get_future();
}

PoolAnswer prove(ProverPool& pool, u32 label) {
  std::future<PoolAnswer> answer = submit(pool, label);
  if (answer.wait_for(30s) != std::future_status::ready) {
    ADD_FAILURE() << "no answer for label " << label;
    return {};
  }
  return answer.get();
}

void expect_proved(const PoolAnswer& answer, u32 label) {
  ASSERT_TRUE(answer.epoch.has_value()) << answer.error;
  EXPECT_EQ(answer.epoch->proof.record, (std::vector<u64>{1, label}));
  ASSERT_EQ(answer.epoch->boundary.size(), 1u);
  EXPECT_EQ(answer.epoch->boundary[0].key, label);
  ASSERT_EQ(answer.epoch->stages.size(), 1u);
  EXPECT_EQ(answer.epoch->stages[0].name, "prove");
  EXPECT_EQ(answer.epoch->stages[0].end_ns, 20);
}

class WorkerTest : public testing::Test {
 protected:
  WorkerHandle worker_{launch_scripted};
};

TEST_F(WorkerTest, AnswersEveryCapsuleWithItsOwnEpoch) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  EXPECT_EQ(pool.capacity(), 3u);
  std::vector<std::future<PoolAnswer>> answers;
  for (u32 label = 1; label <= 50; ++label) answers.push_back(submit(pool, label));
  for (u32 label = 1; label <= 50; ++label) expect_proved(answers[label - 1].get(), label);
  const ProverUsage usage = pool.usage();
  EXPECT_EQ(usage.backend, "cuda");
  EXPECT_EQ(usage.counters.at("proofs"), 50u);
  EXPECT_EQ(usage.counters.at("worker_restart"), 0u);
  EXPECT_EQ(usage.peak_device_bytes, 7u);
}

TEST_F(WorkerTest, StaysFromJobToJob) {
  for (u32 label = 1; label <= 3; ++label) {
    WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
    expect_proved(prove(pool, label), label);
  }
  EXPECT_EQ(worker_.starts(), 1u);
}

TEST_F(WorkerTest, GivesUpWhatItKeptWhenNoJobComes) {
  const auto releases = [&] {
    WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
    std::this_thread::sleep_for(2 * kIdle);  // not while a job is open
    expect_proved(prove(pool, 7), 7);
    return pool.usage().counters.at("releases");
  };
  releases();
  const u64 before = releases();
  std::this_thread::sleep_for(2 * kIdle);
  EXPECT_EQ(releases(), before + 1);
}

TEST_F(WorkerTest, AFailureIsAnAnswerAndTheWorkerStays) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  const PoolAnswer answer = prove(pool, kErrorLabel);
  EXPECT_FALSE(answer.epoch.has_value());
  EXPECT_EQ(answer.error, "scripted failure");
  expect_proved(prove(pool, 7), 7);
  EXPECT_EQ(worker_.starts(), 1u);
}

TEST_F(WorkerTest, ALostDeviceEndsItsProcessAndANewOneCarriesOn) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  EXPECT_EQ(prove(pool, kLostLabel).error, "scripted loss of the context");
  expect_proved(prove(pool, 7), 7);
  EXPECT_EQ(worker_.starts(), 2u);
  EXPECT_EQ(pool.usage().counters.at("worker_restart"), 1u);
  EXPECT_EQ(pool.usage().counters.at("proofs"), 1u);  // the first worker's went with it
}

TEST_F(WorkerTest, ALostDeviceFailsOnlyWhatItWasLostAt) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  std::vector<std::future<PoolAnswer>> answers;
  for (const u32 label : {1u, 2u, kLostLabel, 3u, 4u, 5u}) answers.push_back(submit(pool, label));
  EXPECT_EQ(answers[2].get().error, "scripted loss of the context");
  answers.erase(answers.begin() + 2);
  for (u32 label = 1; label <= 5; ++label) expect_proved(answers[label - 1].get(), label);
}

TEST_F(WorkerTest, DeathIsTheAnswerOfWhatWasBeingProved) {
  WorkerPool pool(worker_, job_named("good.elf"), 3, 0);
  const PoolAnswer answer = prove(pool, kAbortLabel);
  EXPECT_FALSE(answer.epoch.has_value());
  EXPECT_NE(answer.error.find("worker of CUDA device 3 was killed by signal 6"), std::string::npos)
      << answer.error;
  expect_proved(prove(pool, 7), 7);
}

TEST_F(WorkerTest, WhatMayBeInnocentOfADeathIsGivenToTheNextWorker) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0, {60000ms, 300ms});
  std::future<PoolAnswer> slow = submit(pool, kSlowLabel);
  submit(pool, kHangLabel);
  std::this_thread::sleep_for(50ms);
  worker_.kill();
  ASSERT_EQ(slow.wait_for(30s), std::future_status::ready);
  expect_proved(slow.get(), kSlowLabel);
  EXPECT_EQ(pool.usage().counters.at("worker_restart"), 1u);
}

TEST_F(WorkerTest, WhatDiesWithASecondWorkerIsNotInnocent) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  std::future<PoolAnswer> slow = submit(pool, kSlowLabel);
  std::future<PoolAnswer> deadly = submit(pool, kAbortLabel);
  EXPECT_FALSE(deadly.get().epoch.has_value());
  EXPECT_FALSE(slow.get().epoch.has_value()) << "it was there both times";
  expect_proved(prove(pool, 7), 7);
  EXPECT_EQ(worker_.starts(), 3u);
}

TEST_F(WorkerTest, NonsenseEndsTheWorkerThatTalksIt) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  const PoolAnswer answer = prove(pool, kGarbageLabel);
  EXPECT_NE(answer.error.find("not a message"), std::string::npos) << answer.error;
  expect_proved(prove(pool, 7), 7);
}

TEST_F(WorkerTest, IsGivenUpAfterThreeDeathsInARow) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  for (u32 i = 0; i < 3; ++i) EXPECT_FALSE(prove(pool, kAbortLabel).epoch.has_value());
  const PoolAnswer answer = prove(pool, 7);
  EXPECT_NE(answer.error.find("died 3 times in a row"), std::string::npos) << answer.error;
  EXPECT_EQ(worker_.starts(), 3u);
}

TEST_F(WorkerTest, AnotherJobGivesItAnotherChance) {
  {
    WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
    for (u32 i = 0; i < 3; ++i) EXPECT_FALSE(prove(pool, kAbortLabel).epoch.has_value());
  }
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  expect_proved(prove(pool, 7), 7);
}

TEST_F(WorkerTest, ARefusedJobIsAnErrorWithTheReason) {
  try {
    WorkerPool pool(worker_, job_named("refused.elf"), 0, 0);
    FAIL() << "opened";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "scripted refusal");
  }
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  expect_proved(prove(pool, 7), 7);
}

TEST_F(WorkerTest, OneThatHangsIsKilledAndReplaced) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0, {300ms, 1000ms});
  const PoolAnswer answer = prove(pool, kHangLabel);
  EXPECT_NE(answer.error.find("said nothing for 300 ms"), std::string::npos) << answer.error;
  expect_proved(prove(pool, 7), 7);
}

TEST_F(WorkerTest, OneThatHangsDoesNotKeepAJobFromEnding) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0, {60000ms, 300ms});
  submit(pool, kHangLabel);
}

TEST_F(WorkerTest, OneThatStopsIsKilledAndReplaced) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0, {300ms, 1000ms});
  EXPECT_FALSE(prove(pool, kStopLabel).epoch.has_value());
  expect_proved(prove(pool, 7), 7);
}

TEST_F(WorkerTest, AProofWithWrongLengthsIsAnAnswerAndTheEndOfItsWorker) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  const PoolAnswer answer = prove(pool, kBadProofLabel);
  EXPECT_NE(answer.error.find("wrong lengths"), std::string::npos) << answer.error;
  expect_proved(prove(pool, 7), 7);
  EXPECT_EQ(worker_.starts(), 2u);
}

TEST_F(WorkerTest, ADeviceLostBetweenJobsGivesANewWorker) {
  {
    WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
    expect_proved(prove(pool, kQuietLossLabel), kQuietLossLabel);
  }
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  expect_proved(prove(pool, 7), 7);
  EXPECT_EQ(worker_.starts(), 2u);
}

TEST_F(WorkerTest, WhatIsBeingProvedAtTheEndIsStillAnswered) {
  std::future<PoolAnswer> answer;
  {
    WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
    answer = submit(pool, kSlowLabel);
  }
  ASSERT_EQ(answer.wait_for(0s), std::future_status::ready);
  expect_proved(answer.get(), kSlowLabel);
  EXPECT_EQ(worker_.starts(), 1u);
}

TEST_F(WorkerTest, EndsWithCapsulesOutstanding) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  for (u32 label = 1; label <= 20; ++label) submit(pool, label);
}

TEST(WorkerProcess, SaysWhatCannotBeStarted) {
  WorkerHandle worker([] { return WorkerProcess::start({"/nonexistent/worker"}); });
  try {
    WorkerPool pool(worker, job_named("good.elf"), 0, 0);
    FAIL() << "started";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/worker"), std::string::npos);
  }
}

TEST(WorkerProcess, AProgramThatIsNoWorkerIsAnError) {
  WorkerHandle worker([] { return WorkerProcess::start({"/bin/true"}); });
  try {
    WorkerPool pool(worker, job_named("good.elf"), 0, 0);
    FAIL() << "opened";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("exited with 0"), std::string::npos) << error.what();
  }
}

struct Memory {
  Memory() {
    ends.anchors.resize(2);
    ends.anchor_previous.resize(2);
    ends.last_keys[0] = 40;
    store.epochs = 3;
    store.rows = [](u32 label) {
      return std::vector<BoundaryRecord>{BoundaryRecord{10 * label, 0, 0, 0, 0, 0}};
    };
    store.root = [](u32) { return prover::Digest{}; };
    store.log_height = [](u32 label) { return label; };
  }
  std::vector<u64> words;
  BoundaryStore store;
  RunMemory::Ends ends;

  bool prove(ProverPool& pool, const std::function<bool()>& cancelled = {}) {
    return pool.prove_global(
        store, ends,
        [this](std::span<const u64> more) { words.insert(words.end(), more.begin(), more.end()); },
        cancelled);
  }
};

const std::vector<u64> kGlobalWords = {10, 1, 20, 2, 30, 3, 42};

TEST_F(WorkerTest, GlobalProofFetchesRowsWhenItNeedsThem) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  Memory memory;
  EXPECT_TRUE(memory.prove(pool));
  EXPECT_EQ(memory.words, kGlobalWords);
}

TEST_F(WorkerTest, GlobalProofIsCancelledWhereItAsksForRows) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  Memory memory;
  EXPECT_FALSE(memory.prove(pool, [&] { return memory.words.size() == 4; }));
  EXPECT_EQ(memory.words, (std::vector<u64>{10, 1, 20, 2}));
  expect_proved(prove(pool, 7), 7);
}

TEST_F(WorkerTest, AStopInTheGlobalProofComesOutAndTheWorkerStays) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  Memory memory;
  struct Stopped {};
  const auto stop = [&]() -> bool {
    if (memory.words.size() == 4) throw Stopped();
    return false;
  };
  EXPECT_THROW(memory.prove(pool, stop), Stopped);
  EXPECT_EQ(memory.words, (std::vector<u64>{10, 1, 20, 2}));
  expect_proved(prove(pool, 7), 7);
  EXPECT_EQ(worker_.starts(), 1u);
}

TEST_F(WorkerTest, DeathInTheGlobalProofIsAnErrorAndItCanBeMadeAgain) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  Memory memory;
  const auto rows = memory.store.rows;
  memory.store.rows = [](u32) {
    return std::vector<BoundaryRecord>{BoundaryRecord{kAbortLabel, 0, 0, 0, 0, 0}};
  };
  EXPECT_THROW(memory.prove(pool), std::runtime_error);
  memory.store.rows = rows;
  EXPECT_TRUE(memory.prove(pool));
  EXPECT_EQ(memory.words, kGlobalWords);
}

TEST_F(WorkerTest, WhatTheCallbackThrowsComesOutAndTheWorkerIsNotLeftWaiting) {
  WorkerPool pool(worker_, job_named("good.elf"), 0, 0);
  Memory memory;
  struct Refused {};
  EXPECT_THROW(pool.prove_global(memory.store, memory.ends,
                                 [](std::span<const u64>) { throw Refused(); }, {}),
               Refused);
  EXPECT_TRUE(memory.prove(pool));
  EXPECT_EQ(memory.words, kGlobalWords);
}

TEST(DeviceWorkers, AWorkerIsAskedForTheDevicesAndThenUsed) {
  DeviceWorkers workers(launch_scripted);
  const DeviceList devices = workers.query();
  ASSERT_TRUE(devices.has_value());
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ(devices->front().device, 4);
  EXPECT_EQ(devices->front().name, "Scripted");
  const int ordinals[3] = {4, 5, 6};
  const auto pool = workers.open(job_named("good.elf"), ordinals);
  EXPECT_EQ(pool->capacity(), 9u);
  std::vector<std::future<PoolAnswer>> answers;
  for (u32 label = 1; label <= 30; ++label) answers.push_back(submit(*pool, label));
  for (u32 label = 1; label <= 30; ++label) expect_proved(answers[label - 1].get(), label);
  EXPECT_EQ(pool->usage().counters.at("proofs"), 30u);
  EXPECT_EQ(pool->usage().peak_device_bytes, 21u);
}

TEST(DeviceWorkers, SaysHowTheWorkerEndedThatWasAsked) {
  DeviceWorkers workers([] { return WorkerProcess::start({"/bin/false"}); });
  const DeviceList devices = workers.query();
  ASSERT_FALSE(devices.has_value());
  EXPECT_NE(devices.error().message.find("exited with 1"), std::string::npos)
      << devices.error().message;
}

/// Fails at the labels it is told to.
class PickyPool : public ProverPool {
 public:
  explicit PickyPool(std::vector<u32> refused) : refused_(std::move(refused)) {}
  u32 capacity() const override { return 2; }
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override {
    labels.push_back(capsule->label);
    if (std::count(refused_.begin(), refused_.end(), capsule->label) > 0) {
      return done({std::nullopt, "refused"});
    }
    done({ProvedEpoch{}, ""});
  }
  bool prove_global(const BoundaryStore&, const RunMemory::Ends&,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>&) override {
    const u64 words[3] = {1, 2, 3};
    emit(std::span(words).first(2));
    if (!refused_.empty()) throw std::runtime_error("refused");
    emit(std::span(words).last(1));
    return true;
  }
  ProverUsage usage() const override { return {}; }

  std::vector<u32> labels;

 private:
  std::vector<u32> refused_;
};

struct Spread {
  explicit Spread(std::vector<std::vector<u32>> refused) {
    std::vector<std::unique_ptr<ProverPool>> owned;
    for (auto& labels : refused) {
      owned.push_back(std::make_unique<PickyPool>(std::move(labels)));
      members.push_back(static_cast<PickyPool*>(owned.back().get()));
    }
    pool = std::make_unique<SpreadPool>(std::move(owned));
  }
  std::vector<PickyPool*> members;
  std::unique_ptr<SpreadPool> pool;
};

TEST(SpreadPool, WhatFailedSomewhereGoesSomewhereElse) {
  Spread spread({{5}, {}});
  EXPECT_FALSE(prove(*spread.pool, 5).epoch.has_value());
  EXPECT_TRUE(prove(*spread.pool, 5).epoch.has_value());
  EXPECT_EQ(spread.members[1]->labels, std::vector<u32>{5});
}

TEST(SpreadPool, AMemberThatKeepsFailingGetsNoMoreWork) {
  Spread spread({{1, 2, 3, 4, 5, 6}, {}});
  for (u32 label = 1; label <= 6; ++label) {
    if (prove(*spread.pool, label).epoch) continue;
    EXPECT_TRUE(prove(*spread.pool, label).epoch);
  }
  EXPECT_EQ(spread.members[0]->labels, (std::vector<u32>{1, 2, 3}));
  EXPECT_EQ(spread.members[1]->labels, (std::vector<u32>{1, 2, 3, 4, 5, 6}));
}

TEST(SpreadPool, TheOnlyMemberGetsTheWorkHoweverOftenItFailed) {
  Spread spread({{1, 2, 3, 4}});
  for (u32 label = 1; label <= 4; ++label) EXPECT_FALSE(prove(*spread.pool, label).epoch);
  EXPECT_TRUE(prove(*spread.pool, 5).epoch);
}

TEST(SpreadPool, AGlobalProofThatFailedSomewhereGoesSomewhereElse) {
  Spread spread({{1}, {}});
  Memory memory;
  EXPECT_THROW(memory.prove(*spread.pool), std::runtime_error);
  memory.words.clear();
  EXPECT_TRUE(memory.prove(*spread.pool));
  EXPECT_EQ(memory.words, (std::vector<u64>{1, 2, 3}));
}

TEST(Channel, RefusesWhatIsNoMessage) {
  const std::vector<std::vector<u32>> headers = {
      {0, 0, 0, 0, 0, 0, 0, 0},
      {0x45504d31, 99, 0, 0, 0, 0, 0, 0},
      {0x45504d31, 0, 0, 0, 0xffffffff, 0, 0, 0},
      {0x45504d31, 0, 0, 0, 2, 0, 0, 0xffff},
  };
  for (const std::vector<u32>& header : headers) {
    auto [ours, theirs] = make_socket_pair();
    ASSERT_EQ(::send(ours.fd(), header.data(), 32, 0), 32);
    Channel channel(std::move(theirs));
    EXPECT_THROW(channel.receive(), ChannelError);
  }
}

TEST(Channel, AMessageCutShortIsTheEnd) {
  auto [ours, theirs] = make_socket_pair();
  const u32 header[8] = {0x45504d31, 0, 0, 0, 2, 0, 1u << 30, 0};
  ASSERT_EQ(::send(ours.fd(), header, 32, 0), 32);
  ASSERT_EQ(::send(ours.fd(), "{}xyz", 5, 0), 5);
  ours = FileHandle();
  Channel channel(std::move(theirs));
  EXPECT_FALSE(channel.receive().has_value());
}

TEST(Channel, CarriesLargeMessagesBothWaysAtOnce) {
  auto [ours, theirs] = make_socket_pair();
  Channel a(std::move(ours));
  Channel b(std::move(theirs));
  Message large{MessageKind::kProve, 9, {{"n", 1}}, Bytes(20u << 20, 0xab)};
  large.blob.back() = 1;
  std::thread sender([&] { a.send(large); });
  std::thread other_sender([&] { b.send(large); });
  std::optional<Message> at_a;
  std::thread receiver([&] { at_a = a.receive(); });
  const std::optional<Message> at_b = b.receive();
  sender.join();
  other_sender.join();
  receiver.join();
  for (const auto& got : {at_a, at_b}) {
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->tag, 9u);
    EXPECT_EQ(got->head, large.head);
    EXPECT_EQ(got->blob, large.blob);
  }
}

}  // namespace
}  // namespace epochd
