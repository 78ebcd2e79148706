// The daemon with the real engine: the way of a job, kill -9, damaged epoch files, the same bytes
// as prove.
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "tests/e2e/support.hpp"

namespace epochd::e2e {
namespace {

class DaemonE2eTest : public E2eTest {
 protected:
  DaemonE2eTest() : input_(file("input", little_endian(300))) {
    write_config(
        "protocol: {epoch_size_log2: 7, security: test}\n"
        "retries: {failures: 0, crashes: 1000, delay_s: 0}\n"
        "log: {level: debug}\n");
  }

  /// What an uninterrupted `epoch prove` makes of the same job.
  std::string reference() {
    epoch_json({"prove", guest("fib"), "--input", input_, "-o", path("reference").string(),
                "--security", "test", "--epoch-size-log2", "7"});
    return read_file(path("reference"));
  }
  std::string bundle(const std::string& job) {
    return read_file(queue() / "done" / job / "bundle.proof");
  }
  bool is_done(const std::string& job) {
    return std::filesystem::exists(queue() / "done" / job / "result.json");
  }
  Path epoch_file(const std::string& job, const std::string& number) {
    return queue() / "active" / job / "epochs" / (number + ".epoch");
  }

  std::string input_;
};

TEST_F(DaemonE2eTest, FromQueueToVerifiedBundle) {
  const std::string job = submit(guest("fib"), input_);
  EXPECT_EQ(epoch_json({"status", "--queue", queue().string(), job})["state"], "queued");
  const Outcome daemon = epochd_once();
  ASSERT_EQ(daemon.code, 0) << daemon.err;
  EXPECT_EQ(epoch_json({"status", "--queue", queue().string(), job})["state"], "done");
  const std::string proof = (queue() / "done" / job / "bundle.proof").string();
  EXPECT_EQ(epoch({"verify", guest("fib"), proof, "--security", "test"}).code, 0);
  EXPECT_TRUE(bundle(job) == reference()) << "prove and the daemon give the same bytes";
  const auto result = nlohmann::json::parse(read_file(queue() / "done" / job / "result.json"));
  EXPECT_EQ(result["epochs"], (result["cycles"].get<u64>() + 127) / 128);
  EXPECT_EQ(result["exit_code"], 0);
}

TEST_F(DaemonE2eTest, ALoneProgramWithItsInput) {
  std::filesystem::create_directories(queue() / "incoming");
  std::filesystem::copy_file(guest("fib"), path("fib.elf"));
  std::filesystem::rename(input_, queue() / "incoming/fib.input");
  std::filesystem::rename(path("fib.elf"), queue() / "incoming/fib.elf");
  ASSERT_EQ(epochd_once().code, 0);
  input_ = (queue() / "done/fib/input").string();
  EXPECT_TRUE(bundle("fib") == reference());
}

TEST_F(DaemonE2eTest, ThirtyKillsAtRandomPointsGiveTheSameBundle) {
  constexpr u64 kSeed = 20261201;
  std::mt19937_64 random(kSeed);
  RecordProperty("seed", std::to_string(kSeed));
  // Kills fall into the first half of an uninterrupted run, however fast this machine is just now.
  const auto start = std::chrono::steady_clock::now();
  const std::string expected = reference();
  const std::chrono::microseconds half = std::chrono::duration_cast<std::chrono::microseconds>(
                                             std::chrono::steady_clock::now() - start) /
                                         2;
  std::string job = submit(guest("fib"), input_);
  const auto submit_again_if_done = [&] {
    if (!is_done(job)) return;
    EXPECT_TRUE(bundle(job) == expected);
    std::filesystem::remove_all(queue() / "done" / job);
    job = submit(guest("fib"), input_);
  };
  int kills = 0;
  for (int runs = 0; kills < 30; ++runs) {
    ASSERT_LT(runs, 200);
    submit_again_if_done();
    Process daemon = start_epochd({"--once"});
    std::this_thread::sleep_for(half * (random() % 1000) / 1000);
    daemon.kill(SIGKILL);
    const Outcome outcome = daemon.wait();
    if (outcome.code == -SIGKILL) ++kills;
  }
  // One more, with an epoch on disk and the job not done: the last run must take the epoch over.
  do {
    submit_again_if_done();
    Process daemon = start_epochd({"--once"});
    ASSERT_TRUE(wait_until(
        [&] { return std::filesystem::exists(epoch_file(job, "00000001")) || is_done(job); }));
    daemon.kill(SIGKILL);
    daemon.wait();
  } while (is_done(job));
  const Outcome last = epochd_once();
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(bundle(job) == expected);
  EXPECT_NE(last.err.find("epoch was proved before"), std::string::npos) << last.err;
  EXPECT_TRUE(std::filesystem::is_empty(queue() / "active"));
  EXPECT_TRUE(std::filesystem::is_empty(queue() / "failed"));
  EXPECT_TRUE(std::filesystem::is_empty(queue() / "quarantine"));
}

TEST_F(DaemonE2eTest, SigtermKeepsTheProvedEpochsAndDamageIsProvedAgain) {
  input_ = file("longer", little_endian(900));  // than a group of epochs waits to become durable
  const std::string expected = reference();
  const std::string job = submit(guest("fib"), input_);
  Process first = start_epochd();
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(epoch_file(job, "00000003")); }));
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait().code, 0);
  ASSERT_TRUE(std::filesystem::exists(epoch_file(job, "00000002")));
  // The daemon gives the engine a place for checkpoints and facts.
  EXPECT_TRUE(std::filesystem::exists(queue() / "active" / job / "epochs" / "run.facts"));

  std::string damaged = read_file(epoch_file(job, "00000002"));
  damaged[damaged.size() / 2] ^= 4;
  write_file(epoch_file(job, "00000002"), damaged);
  std::string cut = read_file(epoch_file(job, "00000003"));
  write_file(epoch_file(job, "00000003"), cut.substr(0, cut.size() - 9));

  const Outcome second = epochd_once();
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_NE(second.err.find("epoch file cannot be used; the epoch is proved again"),
            std::string::npos);
  EXPECT_NE(second.err.find("00000002.epoch why=damaged"), std::string::npos) << second.err;
  EXPECT_NE(second.err.find("00000003.epoch"), std::string::npos);
  EXPECT_TRUE(bundle(job) == expected);
  const auto result = nlohmann::json::parse(read_file(queue() / "done" / job / "result.json"));
  EXPECT_GE(result["counters"]["epochs_resumed"], 1);
  EXPECT_EQ(result["crashes"], 0) << "a stop is not a crash";
}

TEST_F(DaemonE2eTest, ASecondDaemonOnTheQueueIsRefused) {
  Process first = start_epochd();
  ASSERT_TRUE(wait_until([&] {
    return epoch({"status", "--queue", queue().string()}).out.find("served by") !=
           std::string::npos;
  }));
  const Outcome second = epochd_once();
  EXPECT_EQ(second.code, 3);
  EXPECT_NE(second.err.find("is already served by another epochd"), std::string::npos);
  first.kill(SIGINT);
  EXPECT_EQ(first.wait().code, 0);
}

TEST_F(DaemonE2eTest, EqualJobsAreProvedOnce) {
  const std::string one = submit(guest("fib"), input_);
  const std::string two = submit(guest("fib"), input_, {"--name", "again"});
  ASSERT_EQ(epochd_once().code, 0);
  EXPECT_TRUE(bundle(one) == bundle(two));
  const auto first = nlohmann::json::parse(read_file(queue() / "done" / one / "result.json"));
  const auto second = nlohmann::json::parse(read_file(queue() / "done" / two / "result.json"));
  EXPECT_NE(first.contains("duplicate_of"), second.contains("duplicate_of"));
}

TEST_F(DaemonE2eTest, SteeringAJobFromTheCommandLine) {
  const std::string q = queue().string();
  const std::string job = submit(guest("fib"), input_);
  EXPECT_EQ(epoch({"hold", "--queue", q, job}).code, 0);
  EXPECT_EQ(epoch({"hold", "--queue", q, job}).code, 0) << "idempotent";
  EXPECT_EQ(epochd_once().code, 0);
  EXPECT_EQ(epoch_json({"status", "--queue", q, job})["state"], "held");
  EXPECT_EQ(epoch({"cancel", "--queue", q, job}).code, 0);
  EXPECT_EQ(epoch({"status", "--queue", q, job}).code, 1) << "cancelled: there is no proof";
  EXPECT_EQ(epoch({"release", "--queue", q, job}).code, 1);
  EXPECT_EQ(epoch({"retry", "--queue", q, job}).code, 0);
  EXPECT_EQ(epochd_once().code, 0);
  EXPECT_TRUE(is_done(job));
  EXPECT_EQ(epoch({"cancel", "--queue", q, job}).code, 1);
  EXPECT_EQ(epoch({"cancel", "--queue", q, "nobody"}).code, 2);
}

TEST_F(DaemonE2eTest, DrainingAQueueFromTheCommandLine) {
  const std::string q = queue().string();
  Process daemon = start_epochd();
  ASSERT_TRUE(wait_until([&] {
    return epoch({"status", "--queue", q}).out.find("served by") != std::string::npos;
  }));
  const auto drained = epoch_json({"drain", "--queue", q, "--wait"});
  EXPECT_EQ(drained["served"], false) << "it waited for the daemon's end";
  EXPECT_EQ(daemon.wait().code, 0);
  EXPECT_EQ(epoch_json({"drain", "--queue", q})["changed"], false) << "idempotent";

  const std::string job = submit(guest("fib"), input_);
  EXPECT_EQ(epochd_once().code, 0);
  EXPECT_EQ(epoch_json({"status", "--queue", q, job})["state"], "queued");
  EXPECT_EQ(epoch_json({"status", "--queue", q})["drained"], true);
  EXPECT_EQ(epoch({"drain", "--queue", q, "--undo"}).code, 0);
  EXPECT_EQ(epochd_once().code, 0);
  EXPECT_TRUE(is_done(job));
  EXPECT_EQ(epoch({"drain", "--queue", path("elsewhere").string()}).code, 2);
}

TEST_F(DaemonE2eTest, WatchingAJobUntilItIsDone) {
  const std::string job = submit(guest("fib"), input_, {"--priority", "7"});
  EXPECT_NE(read_file(queue() / "incoming" / job / "job.yaml").find("priority: 7"),
            std::string::npos);
  Process daemon = start_epochd();
  const Outcome watch = epoch({"status", "--queue", queue().string(), job, "--watch"});
  EXPECT_EQ(watch.code, 0) << watch.err;
  EXPECT_NE(watch.out.find(" done"), std::string::npos) << watch.out;
  daemon.kill(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

TEST_F(DaemonE2eTest, ADeadlineThatPassedFailsTheJob) {
  const std::string job = submit(guest("fib"), input_, {"--deadline", "2020-01-01T00:00:00Z"});
  EXPECT_EQ(epochd_once().code, 1);
  const auto reason = nlohmann::json::parse(read_file(queue() / "failed" / job / "reason.json"));
  EXPECT_EQ(reason["reason"], "timeout");
  const Outcome bad =
      epoch({"submit", "--queue", queue().string(), guest("fib"), "--deadline", "tomorrow"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("--deadline must be a UTC time"), std::string::npos);
}

TEST_F(DaemonE2eTest, DoctorAndTheShippedConfigurationAgree) {
  const auto shipped = epoch_json({"check-config", EPOCHD_SOURCE_DIR "/config/epochd.yaml"});
  EXPECT_EQ(shipped["valid"], true);
  const auto doctor = epoch_json({"doctor"});
  EXPECT_EQ(doctor["healthy"], true);
  write_config("queue: " + queue().string() + "\n");
  EXPECT_EQ(epochd_once().code, 0);
  const auto with_queue = epoch_json({"doctor", "--config", path("epochd.yaml").string()});
  bool has_queue = false;
  for (const auto& check : with_queue["checks"]) {
    if (check["check"] == "queue") has_queue = check["verdict"] == "ok";
  }
  EXPECT_TRUE(has_queue) << with_queue;
}

}  // namespace
}  // namespace epochd::e2e
