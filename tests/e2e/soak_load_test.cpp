// Many queued jobs and long runs: how fast they are taken in, what memory they take over time, and
// whether an urgent one has to wait.
//
//   EPOCHD_SOAK_JOBS         queued jobs, proved by the engine
//   EPOCHD_SOAK_FAKE_JOBS    queued jobs, proved by the fake prover: the daemon's own share
//   EPOCHD_SOAK_FAKE_DAEMON  that daemon, where it is not as built
//   EPOCHD_SOAK_EPOCHS       epochs of the long run
//   EPOCHD_SOAK_PEAK_EPOCHS  epochs of the run whose peak is compared with that of four epochs
//   EPOCHD_SOAK_THREADS      threads of the engine
#include <signal.h>

#include <algorithm>
#include <thread>

#include "tests/e2e/soak_support.hpp"

namespace epochd::e2e {
namespace {

using std::chrono::milliseconds;

/// Of the samples, the first are not looked at: caches fill, arenas grow to their size.
constexpr double kWarmUp = 0.2;

std::string fake_daemon() {
  const char* path = std::getenv("EPOCHD_SOAK_FAKE_DAEMON");
  return path != nullptr ? path : EPOCHD_SERVICE_EPOCHD;
}

Samples after_warm_up(const Samples& samples) {
  const auto first = static_cast<ptrdiff_t>(kWarmUp * static_cast<double>(samples.size()));
  return {samples.begin() + first, samples.end()};
}

class SoakLoadTest : public SoakTest {
 protected:
  SoakLoadTest() {
    write_config(
        "protocol: {epoch_size_log2: 7, security: test}\n"
        "http: {enabled: false}\nrescan_s: 1\nlog: {level: info}\n"
        "threads: " +
        std::to_string(soak_size("EPOCHD_SOAK_THREADS", 0)) + "\n");
  }

  struct Load {
    std::string daemon;
    u64 jobs = 0;
    /// Program and input of the n-th job.
    std::function<std::pair<std::string, std::string>(u64)> job;
  };

  static std::string name_of(u64 index) { return "job-" + std::to_string(index); }

  /// Seconds from the daemon's first log line to the first job begun: every job was looked at.
  double intake_seconds(const Process& daemon) const {
    EXPECT_TRUE(wait_until([&] { return count_of(daemon.err(), " job started ") > 0; }));
    const auto serves = time_of_line(daemon.err(), " epochd serves ");
    const auto started = time_of_line(daemon.err(), " job started ");
    return serves && started ? seconds_between(*serves, *started) : -1;
  }

  /// Jobs that ended after the urgent one was put in, and before it had its answer.
  u64 overtaken_by(std::filesystem::file_time_type put) const {
    const auto end = std::filesystem::last_write_time(queue() / "done/urgent/result.json");
    u64 count = 0;
    for (const std::string& id : jobs_in("done")) {
      const auto ended = std::filesystem::last_write_time(queue() / "done" / id / "result.json");
      count += ended > put && ended < end;
    }
    return count;
  }

  void run(const std::string& test, const Load& load);
};

void SoakLoadTest::run(const std::string& test, const Load& load) {
  Time start = now();
  for (u64 i = 0; i < load.jobs; ++i) {
    const auto [program, input] = load.job(i);
    put_job(name_of(i), program, input, "priority: " + std::to_string(i % 3) + "\n");
  }
  const double put_s = seconds_since(start);
  start = now();
  Process daemon = start_daemon(load.daemon);
  const double intake_s = intake_seconds(daemon);

  Samples rss;
  std::optional<std::filesystem::file_time_type> put;
  // Counting a large directory takes longer than many a job.
  const milliseconds pause(std::clamp<u64>(load.jobs / 50, 20, 200));
  const bool is_done = wait_until([&] {
    const u64 done = count_in("done");
    rss.emplace_back(static_cast<double>(done), static_cast<double>(resident_bytes(daemon.pid())));
    if (!put && done >= load.jobs / 2) {
      const auto [program, input] = load.job(load.jobs);
      put_job("urgent", program, input, "priority: 1000\n");
      put = std::filesystem::last_write_time(queue() / "tmp");  // the rename changed it
    }
    std::this_thread::sleep_for(pause);
    return done == load.jobs + 1;
  });
  const double seconds = seconds_since(start);
  daemon.kill(SIGTERM);
  const Outcome outcome = daemon.wait();
  ASSERT_TRUE(is_done) << count_in("done") << " of " << load.jobs + 1 << "\n" << outcome.err;
  EXPECT_EQ(outcome.code, 0);
  const u64 overtaken = overtaken_by(put.value());
  const Slope slope = slope_of(after_warm_up(rss));
  const double jobs = static_cast<double>(load.jobs);
  tell(test, {{"jobs", load.jobs},
              {"put_s", put_s},
              {"intake_s", intake_s},
              {"intake_jobs_per_s", jobs / std::max(intake_s, 1e-3)},
              {"seconds", seconds},
              {"jobs_per_s", jobs / seconds},
              {"rss_bytes_per_job", to_json(slope)},
              {"jobs_before_urgent", overtaken}});
  // Of a short queue it is mostly what the first job itself takes until it is begun.
  if (load.jobs >= 100) {
    EXPECT_GE(jobs / std::max(intake_s, 1e-3), 500);
  }
  EXPECT_TRUE(is_flat(slope, 0.02)) << to_json(slope);
  // Those in the two lanes when it came, and one that ended between the look at the clock and the
  // rename.
  EXPECT_LE(overtaken, 3u);
}

TEST_F(SoakLoadTest, ManyQueuedJobs) {
  run("jobs", {bin_dir() + "/epochd", soak_size("EPOCHD_SOAK_JOBS", 6),
               [program = fib_program()](u64 index) {
                 // The program does not look at the second word: runs of one length, each another.
                 return std::pair{program, little_endian(1) + little_endian(index)};
               }});
}

TEST_F(SoakLoadTest, ManyQueuedJobsOfTheFakeProver) {
  run("fake-jobs", {fake_daemon(), soak_size("EPOCHD_SOAK_FAKE_JOBS", 600), [](u64 index) {
                      return std::pair{"epochs=1 at=" + std::to_string(index + 2), std::string()};
                    }});
}

TEST_F(SoakLoadTest, LongRunsTakeNoMoreMemoryWithTime) {
  const u64 epochs = soak_size("EPOCHD_SOAK_EPOCHS", 40);
  put_job("long", fib_program(), fib_input(epochs));
  const Time start = now();
  Process daemon = start_epochd();
  Samples rss;
  ASSERT_TRUE(wait_until([&] {
    const auto state =
        nlohmann::json::parse(read_file(queue() / "active/long/state.json"), nullptr, false);
    if (state.is_object() && state.value("state", "") == "proving" && state.contains("epoch")) {
      rss.emplace_back(state["epoch"].get<double>(),
                       static_cast<double>(resident_bytes(daemon.pid())));
    }
    return std::filesystem::exists(queue() / "done/long/result.json");
  }));
  daemon.kill(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
  const Slope slope = slope_of(after_warm_up(rss));
  tell("epochs", {{"epochs", result_of("long")["epochs"]},
                  {"seconds", seconds_since(start)},
                  {"rss_bytes_per_epoch", to_json(slope)}});
  EXPECT_NEAR(result_of("long")["epochs"].get<double>(), static_cast<double>(epochs), 1);
  EXPECT_TRUE(is_flat(slope, 0.02)) << to_json(slope);
}

TEST_F(SoakLoadTest, ThePeakDoesNotDependOnTheNumberOfEpochs) {
  const u64 many = soak_size("EPOCHD_SOAK_PEAK_EPOCHS", 24);
  const auto peak = [&](u64 epochs) {
    const std::string id = "of-" + std::to_string(epochs);
    put_job(id, fib_program(), fib_input(epochs));
    EXPECT_EQ(epochd_once().code, 0);
    return result_of(id)["peak_rss_bytes"].get<double>();
  };
  const double few_bytes = peak(4);
  const double many_bytes = peak(many);
  tell("peak", {{"epochs", many},
                {"peak_bytes_of_4_epochs", few_bytes},
                {"peak_bytes", many_bytes},
                {"ratio", many_bytes / few_bytes}});
  EXPECT_LE(many_bytes / few_bytes, 1.03);
}

}  // namespace
}  // namespace epochd::e2e
