// What an operator does to a daemon under load: drains it, makes it read its settings, lets its
// disk run full.
//
//   EPOCHD_SOAK_DRAINS   drains of a long run
//   EPOCHD_SOAK_RELOADS  reloads while jobs are proved
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>

#include "tests/e2e/soak_support.hpp"

namespace epochd::e2e {
namespace {

using std::chrono::milliseconds;

class SoakServiceTest : public SoakTest {
 protected:
  SoakServiceTest() { configure(""); }
  void configure(const std::string& more) const {
    write_config(
        "protocol: {epoch_size_log2: 7, security: test}\n"
        "retries: {failures: 0, crashes: 0, delay_s: 0}\n"
        "http: {enabled: false}\nrescan_s: 1\nlog: {level: debug}\n" +
        more);
  }
  bool is_done(const std::string& id) const {
    return std::filesystem::exists(queue() / "done" / id / "result.json");
  }
};

TEST_F(SoakServiceTest, ADrainTakesAtMostTheEpochsUnderWay) {
  const u64 drains = soak_size("EPOCHD_SOAK_DRAINS", 2);
  const u64 epochs = 30 * drains;
  put_job("long", fib_program(), fib_input(epochs));
  std::mt19937_64 random(20261201 + shard_);
  std::vector<double> seconds, after, epoch_s;
  u64 life = 0;
  for (; life < drains && !is_done("long"); ++life) {
    Process daemon = start_epochd();
    const u64 first = 3 + random() % 5;
    ASSERT_TRUE(wait_until([&] { return count_of(daemon.err(), " epoch proved ") >= first; }));
    const Time start = now();
    daemon.kill(SIGTERM);
    const Outcome outcome = daemon.wait();
    seconds.push_back(seconds_since(start));
    EXPECT_EQ(outcome.code, 0);
    const size_t asked = outcome.err.find(" asked to stop; ");
    ASSERT_NE(asked, std::string::npos);
    const size_t proved = count_of(outcome.err, " epoch proved ");
    after.push_back(static_cast<double>(count_of(outcome.err.substr(asked), " epoch proved ")));
    const double proving_s = seconds_between(*time_of_line(outcome.err, " epoch proved "),
                                             *time_of_line(outcome.err, " asked to stop; "));
    epoch_s.push_back(proving_s / static_cast<double>(std::max<size_t>(proved - 1, 1)));
  }
  ASSERT_EQ(epochd_once().code, 0) << "no drain was charged: the budgets are zero";
  const auto result = result_of("long");
  tell("drain", {{"drains", life},
                 {"seconds_median", quantile(seconds, 0.5)},
                 {"seconds_max", quantile(seconds, 1)},
                 {"epoch_s_median", quantile(epoch_s, 0.5)},
                 {"epochs_after_median", quantile(after, 0.5)},
                 {"epochs_after_max", quantile(after, 1)}});
  EXPECT_EQ(result["crashes"], 0);
  EXPECT_GT(result["counters"]["epochs_resumed"], 0);
  // Those in the pool, and those that were proved and waited for their turn to be saved.
  EXPECT_LE(quantile(after, 1), 6);
}

TEST_F(SoakServiceTest, ReloadsUnderLoadDropNoJob) {
  const u64 reloads = soak_size("EPOCHD_SOAK_RELOADS", 20);
  Process daemon = start_epochd();
  ASSERT_TRUE(wait_until([&] { return count_of(daemon.err(), " epochd serves ") > 0; }));
  u64 jobs = 0;
  for (u64 i = 0; i < reloads; ++i) {
    if (count_in("incoming") + count_in("active") < 3)
      put_job("job-" + std::to_string(jobs++), fib_program(), fib_input(2 + i));
    // Every third one is refused: the settings stay as they were, and so does the work.
    configure(i % 3 == 2 ? "unknown: 1\n" : "cycle_limit: " + std::to_string(1'000'000 + i) + "\n");
    daemon.kill(SIGHUP);
    std::this_thread::sleep_for(milliseconds(50));
  }
  configure("");
  daemon.kill(SIGHUP);
  ASSERT_TRUE(wait_until([&] { return count_in("done") == jobs; }));
  daemon.kill(SIGTERM);
  const Outcome outcome = daemon.wait();
  EXPECT_EQ(outcome.code, 0);
  const size_t accepted = count_of(outcome.err, " new settings; ");
  const size_t refused = count_of(outcome.err, " the settings stay as they were ");
  tell("reload", {{"reloads", reloads},
                  {"accepted", accepted},
                  {"refused", refused},
                  {"jobs", jobs},
                  {"done", jobs_in("done").size()}});
  // Signals that come while one is handled are one.
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 0u);
  for (u64 i = 0; i < jobs; ++i) EXPECT_EQ(result_of("job-" + std::to_string(i))["attempt"], 1);
}

/// A small disk of its own under the queue; gone at the end.
class SmallDisk {
 public:
  SmallDisk(const Path& at, const std::string& size) : at_(at) {
    is_there_ =
        ::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (is_there_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool is_there() const { return is_there_; }

 private:
  Path at_;
  bool is_there_ = false;
};

TEST_F(SoakServiceTest, AFullDiskAndBackLosesNoJob) {
  const SmallDisk disk(queue(), "192m");
  if (!disk.is_there()) GTEST_SKIP() << "mounting a small disk needs root";
  for (const char* place : {"tmp", "incoming"}) {
    std::filesystem::create_directories(queue() / place);
  }
  constexpr u64 kJobs = 3;
  Process daemon = start_epochd();
  put_job("job-0", fib_program(), fib_input(60));
  ASSERT_TRUE(wait_until([&] { return count_of(daemon.err(), " epoch proved ") >= 3; }));
  for (u64 i = 1; i < kJobs; ++i) {
    put_job("job-" + std::to_string(i), fib_program(), fib_input(3 + i));
  }
  {
    std::ofstream ballast(queue() / "ballast", std::ios::binary);
    const std::string piece(1 << 16, 'x');
    while (ballast.write(piece.data(), static_cast<std::streamsize>(piece.size())).flush()) {
    }
  }
  ASSERT_TRUE(wait_until([&] { return count_of(daemon.err(), " the disk is full") > 0; }));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const size_t said = count_of(daemon.err(), " the disk is full");
  EXPECT_EQ(count_in("done") + count_in("failed") + count_in("quarantine"), 0u);
  const Time start = now();
  std::filesystem::remove(queue() / "ballast");
  const bool is_done = wait_until([&] { return count_in("done") == kJobs; });
  daemon.kill(SIGTERM);
  const Outcome outcome = daemon.wait();
  ASSERT_TRUE(is_done) << outcome.err;
  tell("disk-full", {{"jobs", kJobs},
                     {"said", said},
                     {"resumed_epochs", result_of("job-0")["counters"]["epochs_resumed"]},
                     {"room_to_all_done_s", seconds_since(start)}});
  EXPECT_EQ(said, 1u) << "said once";
  for (u64 i = 0; i < kJobs; ++i) {
    const auto result = result_of("job-" + std::to_string(i));
    EXPECT_EQ(result["failures"], 0);
    EXPECT_EQ(result["crashes"], 0);
  }
}

}  // namespace
}  // namespace epochd::e2e
