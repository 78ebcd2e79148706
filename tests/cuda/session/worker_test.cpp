// Two guests in turn through one worker process with a device: the CPU's bytes, and the second job
// opens without planning the device again. EPOCHD_TEST_EPOCH_SIZE_LOG2 sets another size than 14,
// to see how long opening takes.
#include <chrono>
#include <cstdlib>
#include <future>

#include "daemon/worker/device_worker.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"
#include "tests/cuda/session/session_fixture.hpp"

namespace epochd::testing {
namespace {

using Clock = std::chrono::steady_clock;

struct Job {
  Job(const char* name, std::vector<u8> input, u32 epoch_size_log2)
      : elf(read_guest(name)), guest(elf, "proven100", 0) {
    guest.params.epoch_size_log2 = epoch_size_log2;
    auto scout = Scout::create(*guest.code, input, epoch_area(guest.params));
    Stitch stitch(guest.key.vk.digest());
    while (capsules.size() < 3 && !scout->halted()) {
      const auto epoch = scout->run_epoch(1u << epoch_size_log2);
      capsules.push_back(std::make_shared<const Capsule>(stitch.seal(*epoch)));
    }
  }
  PoolJob pool_job() const {
    PoolJob job;
    job.elf = elf;
    job.elf_name = "guest.elf";
    job.key = &guest.key;
    job.code = guest.code.get();
    job.params = guest.params;
    return job;
  }
  std::vector<std::vector<u64>> by_cpu() {
    std::vector<std::vector<u64>> proofs;
    Replayer replayer(*guest.code);
    for (const auto& capsule : capsules) {
      EpochRecords records;
      EXPECT_FALSE(replayer.run(*capsule, records));
      proofs.push_back(prove_epoch(guest.backend, guest.key, guest.params, records).record);
    }
    return proofs;
  }

  std::vector<u8> elf;
  Guest guest;
  std::vector<std::shared_ptr<const Capsule>> capsules;
};

struct Opened {
  std::vector<std::vector<u64>> proofs;
  double seconds = 0;  ///< of opening
};

Opened prove(DeviceWorkers& workers, const Job& job) {
  Opened opened;
  const int devices[] = {0};
  const auto begin = Clock::now();
  const auto pool = workers.open(job.pool_job(), devices);
  opened.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<std::future<PoolAnswer>> answers;
  for (const auto& capsule : job.capsules) {
    const auto promise = std::make_shared<std::promise<PoolAnswer>>();
    answers.push_back(promise->get_future());
    pool->submit(capsule, [promise](PoolAnswer answer) { promise->set_value(std::move(answer)); });
  }
  for (auto& answer : answers) {
    PoolAnswer given = answer.get();
    EXPECT_TRUE(given.epoch) << given.error;
    if (given.epoch) opened.proofs.push_back(std::move(given.epoch->proof.record));
  }
  EXPECT_EQ(pool->usage().counters.at("device_only") > 0, true);
  EXPECT_EQ(pool->usage().counters.at("record_overflow"), 0u);
  return opened;
}

TEST(CudaWorker, ProvesTwoGuestsInTurnLikeTheCpu) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  const char* const size = std::getenv("EPOCHD_TEST_EPOCH_SIZE_LOG2");
  const u32 log_cycles = size == nullptr ? 14 : static_cast<u32>(std::stoul(size));
  Job fib("fib.elf", input_words({u64{1} << log_cycles}), log_cycles);
  Job sort("sort.elf", input_words({u64{1} << (log_cycles - 5), 5}), log_cycles);
  DeviceWorkers workers(start_device_worker);
  ASSERT_TRUE(workers.query());
  const Job* const turns[] = {&fib, &sort, &sort, &fib};
  std::vector<Opened> opened;
  for (const Job* job : turns) opened.push_back(prove(workers, *job));
  std::printf("opened in %.1f ms, with another program %.1f, the same %.1f, the first %.1f\n",
              opened[0].seconds * 1e3, opened[1].seconds * 1e3, opened[2].seconds * 1e3,
              opened[3].seconds * 1e3);
  EXPECT_EQ(opened[0].proofs, fib.by_cpu());
  EXPECT_EQ(opened[1].proofs, sort.by_cpu());
  EXPECT_EQ(opened[2].proofs, opened[1].proofs);
  EXPECT_EQ(opened[3].proofs, opened[0].proofs);
}

}  // namespace
}  // namespace epochd::testing

int main(int argc, char** argv) {
  if (const auto code = epochd::run_as_device_worker(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
