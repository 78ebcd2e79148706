// kill -9 of the real daemon, over and over, with small jobs coming all the time: none is lost,
// none is answered twice, every answer has the right bytes.
//
//   EPOCHD_SOAK_KILLS   kills that hit a running daemon
#include <signal.h>

#include <map>
#include <random>
#include <thread>

#include "tests/e2e/soak_support.hpp"

namespace epochd::e2e {
namespace {

/// Different runs, so that no job is answered with the proof of another.
constexpr u64 kInputs = 6;
/// Jobs that wait or are at work: fewer than the inputs.
constexpr size_t kQueued = 3;
/// Of so many lives, one is let alone until it has proved something, to measure how long that took.
constexpr u64 kMeasuredOf = 5;

class SoakKillTest : public SoakTest {
 protected:
  SoakKillTest() : random_(20261201 + shard_) {
    write_config(
        "protocol: {epoch_size_log2: 7, security: test}\n"
        "retries: {failures: 0, crashes: 1000, delay_s: 0}\n"
        "http: {enabled: false}\nthreads: 1\nlog: {level: debug}\n");
    for (u64 i = 0; i < kInputs; ++i) expected_.push_back(reference(i));
  }

  static std::string input(u64 index) { return fib_input(2 + 2 * index); }

  /// What an uninterrupted `epoch prove` makes of it.
  std::string reference(u64 index) const {
    const std::string proof = path("reference").string();
    epoch_json({"prove", guest("fib"), "--input", file("input", input(index)), "-o", proof,
                "--security", "test", "--epoch-size-log2", "7"});
    return read_file(proof);
  }

  void top_up() {
    while (open_.size() < kQueued) {
      const std::string id = "job-" + std::to_string(submitted_);
      put_job(id, fib_program(), input(submitted_ % kInputs));
      open_[id] = submitted_++ % kInputs;
    }
  }

  /// Takes the answers, and looks for each job that has none yet. Pre: no daemon runs.
  void collect() {
    for (const std::string& id : jobs_in("done")) {
      const auto job = open_.find(id);
      if (job == open_.end()) {
        ++twice_;
        ADD_FAILURE() << id << " was answered before, or never asked";
      } else {
        wrong_ += read_file(queue() / "done" / id / "bundle.proof") != expected_[job->second];
        resumed_ += result_of(id)["counters"]["epochs_resumed"].get<u64>();
        open_.erase(job);
        ++done_;
      }
      std::filesystem::remove_all(queue() / "done" / id);
    }
    for (const auto& [id, unused] : open_) {
      const auto places = places_of(id);
      const bool is_waiting =
          places.size() == 1 && (places[0] == "incoming" || places[0] == "active");
      if (is_waiting) continue;
      ++lost_;
      ADD_FAILURE() << id << " is in " << places.size() << " places, not waiting in one";
    }
    twice_ += count_in("incoming") + count_in("active") > open_.size();
  }

  /// Seconds until a first job was begun, and until a first epoch was proved.
  void measure(double start_s, const std::string& log) {
    const auto job = time_of_line(log, " job started ");
    const auto epoch = time_of_line(log, " epoch proved ");
    if (job) to_job_.push_back(seconds_between(start_s, *job));
    if (epoch) to_epoch_.push_back(seconds_between(start_s, *epoch));
  }

  /// True when the kill hit.
  bool live_and_die(bool is_measured, double most_s) {
    const double start_s = time_of_day_s();
    Process daemon = start_epochd();
    if (is_measured) {
      EXPECT_TRUE(wait_until([&] { return count_of(daemon.err(), " epoch proved ") > 0; }));
    }
    const double pause_s = most_s * static_cast<double>(random_() % 1'000'000) / 1e6;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
    daemon.kill(SIGKILL);
    const Outcome outcome = daemon.wait();
    if (is_measured) measure(start_s, outcome.err);
    for (const char* ending : {".err", ".out"}) remove_logs(ending);
    return outcome.code == -SIGKILL;
  }

  /// Thousands of lives would fill the directory.
  void remove_logs(const std::string& ending) const {
    for (const auto& entry : std::filesystem::directory_iterator(path(""))) {
      if (entry.path().extension() == ending) std::filesystem::remove(entry.path());
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> expected_;
  std::map<std::string, u64> open_;  ///< id -> input
  u64 submitted_ = 0, done_ = 0, lost_ = 0, twice_ = 0, wrong_ = 0, resumed_ = 0;
  std::vector<double> to_job_, to_epoch_;
};

TEST_F(SoakKillTest, KillsLoseNothingAndAnswerNothingTwice) {
  const u64 kills = soak_size("EPOCHD_SOAK_KILLS", 6);
  const Time start = now();
  top_up();
  ASSERT_EQ(epochd_once().code, 0);
  // Kills fall into the time of two jobs, however fast this machine is just now.
  const double most_s = 2 * seconds_since(start) / kQueued;
  collect();
  u64 hits = 0;
  for (u64 life = 0; hits < kills && !HasFailure(); ++life) {
    top_up();
    hits += live_and_die(life % kMeasuredOf == 0, most_s);
    collect();
  }
  ASSERT_EQ(epochd_once().code, 0);
  collect();
  lost_ += open_.size();
  tell("kills", {{"kills", hits},
                 {"jobs", submitted_},
                 {"done", done_},
                 {"lost", lost_},
                 {"twice", twice_},
                 {"wrong_bytes", wrong_},
                 {"epochs_resumed", resumed_},
                 {"kill_within_s", most_s},
                 {"restart_to_job_s_median", quantile(to_job_, 0.5)},
                 {"restart_to_job_s_max", quantile(to_job_, 1)},
                 {"restart_to_epoch_s_median", quantile(to_epoch_, 0.5)},
                 {"restart_to_epoch_s_max", quantile(to_epoch_, 1)},
                 {"seconds", seconds_since(start)}});
  EXPECT_EQ(done_, submitted_);
  EXPECT_EQ(lost_, 0u);
  EXPECT_EQ(twice_, 0u);
  EXPECT_EQ(wrong_, 0u);
  EXPECT_GT(done_, 0u);
}

}  // namespace
}  // namespace epochd::e2e
