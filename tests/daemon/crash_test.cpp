// The daemon as a process: kill -9 at random points, drain, batch mode, a second daemon,
// notification.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "daemon/pipeline/job_key.hpp"
#include "daemon/queue/attempts.hpp"
#include "daemon/queue/status.hpp"
#include "tests/daemon/fake_prover.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

using std::chrono::milliseconds;

class DaemonTest : public QueueTest {
 protected:
  DaemonTest() {
    write(config_path(),
          "retries: {failures: 0, crashes: 1000, delay_s: 0}\nlog: {level: debug}\n");
  }

  Path queue() const { return root() / "queue"; }
  Path config_path() const { return root() / "epochd.yaml"; }
  Path log_path() const { return root() / "log"; }

  void add(const std::string& id, const std::string& program) {
    write(root() / "new" / id / kProgramFile, program);
    std::filesystem::create_directories(place_path(queue(), Place::kIncoming));
    std::filesystem::rename(root() / "new" / id, place_path(queue(), Place::kIncoming) / id);
  }

  pid_t start(bool once) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    const int fd = ::open(log_path().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(fd, STDERR_FILENO);
    ::execl(EPOCHD_FAKE_EPOCHD, "epochd", "--config", config_path().c_str(), "--queue",
            queue().c_str(), once ? "--once" : nullptr, nullptr);
    ::_exit(127);
  }

  /// Exit status, or minus the signal.
  static int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  bool wait_until(const std::function<bool()>& is_true) {
    for (int i = 0; i < 6000; ++i) {
      if (is_true()) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }
  bool is_done(const std::string& id) {
    return fs_.exists(place_path(queue(), Place::kDone) / id / kResultFile);
  }
  std::string state_of(const std::string& id) {
    const auto status = job_status(fs_, queue(), id);
    return status ? status->state_text() : "nowhere";
  }
  std::string log_text() {
    return fs_.exists(log_path()) ? fs_.read_text(log_path(), 1 << 26) : "";
  }
  size_t count_in_log(const std::string& text) {
    const std::string log = log_text();
    size_t count = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++count;
    return count;
  }
};

TEST_F(DaemonTest, BatchModeTellsByItsExitCode) {
  add("good", "epochs=2");
  EXPECT_EQ(wait_for(start(true)), 0);
  EXPECT_TRUE(is_done("good"));
  add("bad", "fault=guest");
  add("good2", "epochs=2 pause_ms=1");
  EXPECT_EQ(wait_for(start(true)), 1);
  EXPECT_TRUE(is_done("good2")) << "one failure does not stop the others";
}

TEST_F(DaemonTest, ThirtyKillsAtRandomPointsChangeNothing) {
  constexpr u64 kSeed = 20261201;
  std::mt19937_64 random(kSeed);
  RecordProperty("seed", std::to_string(kSeed));
  const std::string program = "epochs=300 pause_ms=3";
  add("a", program);
  int kills = 0;
  while (kills < 30) {
    if (is_done("a")) {
      // Faster than the kills: start over under another name, so that every kill hits a job.
      std::filesystem::remove_all(place_path(queue(), Place::kDone) / "a");
      add("a", program);
    }
    const pid_t pid = start(true);
    // Now and then long enough for a group of epochs to become durable.
    const u64 most_us = kills % 6 == 5 ? 500'000 : 60'000;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % most_us));
    ::kill(pid, SIGKILL);
    if (wait_for(pid) == -SIGKILL) ++kills;
  }
  if (is_done("a")) {
    std::filesystem::remove_all(place_path(queue(), Place::kDone) / "a");
    add("a", program);
  }
  // One more, with epochs on disk: the last life must take them over.
  const pid_t pid = start(true);
  const Path first = place_path(queue(), Place::kActive) / "a" / kEpochsName / "00000001.epoch";
  ASSERT_TRUE(wait_until([&] { return fs_.exists(first); }));
  ::kill(pid, SIGKILL);
  ASSERT_EQ(wait_for(pid), -SIGKILL);
  ASSERT_EQ(wait_for(start(true)), 0) << log_text();
  ASSERT_TRUE(is_done("a"));
  ProofRequest request;
  request.elf.assign(program.begin(), program.end());
  EXPECT_EQ(fs_.read_file(place_path(queue(), Place::kDone) / "a" / kBundleFile, 1 << 20),
            fake_bundle(request));
  EXPECT_EQ(fs_.list(place_path(queue(), Place::kDone)).size(), 1u);
  EXPECT_TRUE(fs_.list(place_path(queue(), Place::kActive)).empty());
  EXPECT_GT(count_in_log("epoch was proved before"), 0u) << "resumed, not started over";
}

TEST_F(DaemonTest, KillsDuringIntakeLoseNothing) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10; ++i) {
    const std::string name = "p" + std::to_string(i);
    write(root() / "elf", "epochs=1 at=" + std::to_string(i));
    std::filesystem::create_directories(place_path(queue(), Place::kIncoming));
    std::filesystem::rename(root() / "elf",
                            place_path(queue(), Place::kIncoming) / (name + ".elf"));
    const pid_t pid = start(true);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    ::kill(pid, SIGKILL);
    wait_for(pid);
  }
  ASSERT_EQ(wait_for(start(true)), 0) << log_text();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(is_done("p" + std::to_string(i))) << i;
  EXPECT_EQ(fs_.list(place_path(queue(), Place::kDone)).size(), 10u);
}

TEST_F(DaemonTest, ServesAndIsWokenByNewJobs) {
  write(config_path(), "rescan_s: 3600\n");
  const pid_t pid = start(false);
  ASSERT_TRUE(wait_until([&] { return count_in_log("epochd serves") > 0; }));
  std::this_thread::sleep_for(milliseconds(200));
  add("a", "epochs=1");
  EXPECT_TRUE(wait_until([&] { return is_done("a"); })) << "only notification can tell in time";
  ::kill(pid, SIGTERM);
  EXPECT_EQ(wait_for(pid), 0);
}

TEST_F(DaemonTest, RescansWithoutNotification) {
  write(config_path(), "rescan_s: 1\n");
  const pid_t pid = start(false);
  ASSERT_TRUE(wait_until([&] { return count_in_log("epochd serves") > 0; }));
  // A job that becomes ready without any event in incoming/: held open for writing, then closed.
  write(root() / "new/a" / kProgramFile, "epochs=1");
  FileHandle writer(::open((root() / "new/a" / kProgramFile).c_str(), O_WRONLY | O_CLOEXEC));
  std::filesystem::rename(root() / "new/a", place_path(queue(), Place::kIncoming) / "a");
  ASSERT_TRUE(wait_until([&] { return count_in_log("still open for writing") > 0; }));
  EXPECT_FALSE(is_done("a"));
  writer = FileHandle();
  EXPECT_TRUE(wait_until([&] { return is_done("a"); }));
  ::kill(pid, SIGTERM);
  EXPECT_EQ(wait_for(pid), 0);
}

TEST_F(DaemonTest, SigtermCheckpointsTheRunningJobAndChargesNothing) {
  add("a", "epochs=200 pause_ms=10");
  pid_t pid = start(false);
  ASSERT_TRUE(wait_until([&] {
    const auto status = job_status(fs_, queue(), "a");
    return status && status->state == "proving" && status->epoch >= 5;
  }));
  EXPECT_NE(state_of("a").find("/200)"), std::string::npos) << state_of("a");
  for (const int signal : {SIGTERM, SIGINT}) {
    ::kill(pid, signal);
    EXPECT_EQ(wait_for(pid), 0);
    const Path job = place_path(queue(), Place::kActive) / "a";
    EXPECT_FALSE(fs_.exists(job / kRunningFile));
    EXPECT_TRUE(fs_.exists(job / kEpochsName / "00000005.epoch"));
    EXPECT_EQ(read_attempts(fs_, job).crashes, 0u);
    EXPECT_EQ(read_attempts(fs_, job).failures, 0u);
    pid = start(false);
    ASSERT_TRUE(wait_until([&] { return fs_.exists(job / kRunningFile); }));
  }
  ::kill(pid, SIGKILL);
  wait_for(pid);
}

TEST_F(DaemonTest, ASecondSignalEndsTheProcess) {
  add("a", "epochs=2 pause_ms=20000");
  const pid_t pid = start(false);
  ASSERT_TRUE(wait_until([&] { return state_of("a").find("proving(1/2)") == 0; }));
  ::kill(pid, SIGTERM);
  ASSERT_TRUE(wait_until([&] { return count_in_log("asked to stop") > 0; }));
  std::this_thread::sleep_for(milliseconds(50));
  ::kill(pid, SIGTERM);
  EXPECT_EQ(wait_for(pid), -SIGTERM);
}

TEST_F(DaemonTest, ASecondDaemonIsRefused) {
  const pid_t first = start(false);
  ASSERT_TRUE(wait_until([&] { return is_queue_served(queue()); }));
  EXPECT_EQ(wait_for(start(false)), 3);
  EXPECT_EQ(count_in_log("is already served by another epochd (pid " + std::to_string(first)), 1u);
  ::kill(first, SIGTERM);
  EXPECT_EQ(wait_for(first), 0);
}

TEST_F(DaemonTest, ABadConfigurationIsRefusedBeforeAnythingStarts) {
  write(config_path(), "threads: many\n");
  EXPECT_EQ(wait_for(start(true)), 2);
  EXPECT_EQ(count_in_log("epochd.yaml:1:10: 'threads' must be an integer"), 1u);
  write(config_path(), "backend: cuda-required\n");
  EXPECT_EQ(wait_for(start(true)), 3);
  EXPECT_FALSE(fs_.exists(queue()));
}

TEST_F(DaemonTest, AQueueThatCannotBeWrittenIsRefused) {
  write(queue(), "a file where the queue should be");
  EXPECT_EQ(wait_for(start(true)), 3);
  EXPECT_EQ(count_in_log("create the queue directory"), 1u);
}

}  // namespace
}  // namespace epochd
