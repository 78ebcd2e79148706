// Several jobs at once: lanes, turns, equal jobs, and what a job that makes room keeps.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "daemon/pipeline/worker.hpp"
#include "daemon/queue/steer.hpp"
#include "tests/daemon/fake_prover.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

/// Notes which jobs are under way.
class LanesObserver : public WorkerObserver {
 public:
  void between_jobs() override {}
  void resting(bool) override {}
  void started(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    running_.insert(id);
    started_.push_back(id);
    running_max_ = std::max(running_max_, running_.size());
  }
  void ended(const std::string& id, Outcome outcome) override {
    const std::lock_guard lock(mutex_);
    running_.erase(id);
    ended_.emplace_back(id, outcome);
  }

  size_t running_max() const { return running_max_; }
  std::vector<std::string> started_order() const {
    const std::lock_guard lock(mutex_);
    return started_;
  }
  size_t count(const std::string& id, Outcome outcome) const {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::count(ended_.begin(), ended_.end(), std::pair(id, outcome)));
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> running_;
  size_t running_max_ = 0;
  std::vector<std::string> started_;
  std::vector<std::pair<std::string, Outcome>> ended_;
};

class LanesTest : public QueueTest {
 protected:
  LanesTest() {
    complete_queue_directories(fs_, root());
    config_.daemon.retries.delay_s = 0;
  }

  void add(const std::string& id, const std::string& program, i32 priority = 0) {
    const Path job = root() / "new" / id;
    write(job / kProgramFile, program);
    write(job / kJobFile, "priority: " + std::to_string(priority) + "\n");
    std::filesystem::rename(job, at(Place::kIncoming) / id);
  }
  bool is_in(Place place, const std::string& id) { return fs_.exists(at(place) / id); }
  bool wait_until(const std::function<bool()>& is_true) {
    for (int i = 0; i < 10'000 && !is_true(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return is_true();
  }
  /// Works through the queue; `meanwhile` runs beside it and may add to it.
  Worker::Report run(const std::function<void(Worker&)>& meanwhile = {}, u32 faulty_provers = ~0u) {
    stop_ = false;
    Queue queue(fs_, root());
    JobHandler handler(fs_, queue, config_, {}, make_fake_factory(&log_, faulty_provers), clock_,
                       stop_);
    Worker worker(fs_, queue, handler, config_.daemon, stop_, &observer_);
    std::thread beside([&] {
      if (meanwhile) meanwhile(worker);
    });
    const Worker::Report report = worker.run(true);
    beside.join();
    return report;
  }
  nlohmann::json result_of(const std::string& id) {
    return nlohmann::json::parse(read(at(Place::kDone) / id / kResultFile));
  }

  Config config_;
  Clock clock_;
  FakeLog log_;
  LanesObserver observer_;
  std::atomic<bool> stop_ = false;
};

TEST_F(LanesTest, SeveralJobsAreUnderWayAndOneProves) {
  config_.daemon.jobs_at_once = 3;
  for (int i = 0; i < 9; ++i)
    add("j" + std::to_string(i), "epochs=3 pause_ms=3 at=" + std::to_string(i));
  EXPECT_EQ(run().done, 9u);
  EXPECT_EQ(observer_.running_max(), 3u);
  EXPECT_EQ(log_.proving_max, 1u);
  EXPECT_EQ(log_.proved, 27u);
  EXPECT_EQ(log_.turns_given_back, 0u) << "equal priorities do not take turns";
}

TEST_F(LanesTest, OneAtATimeIsInOrder) {
  config_.daemon.jobs_at_once = 1;
  add("b", "epochs=1 at=1");
  add("a", "epochs=1 at=2");
  add("urgent", "epochs=1 at=3", 7);
  EXPECT_EQ(run().done, 3u);
  EXPECT_EQ(observer_.running_max(), 1u);
  EXPECT_EQ(observer_.started_order(), (std::vector<std::string>{"urgent", "b", "a"}));
}

TEST_F(LanesTest, AHigherPriorityProvesAfterTheRunningEpoch) {
  add("low", "epochs=60 pause_ms=10");
  const auto report = run([&](Worker& worker) {
    ASSERT_TRUE(wait_until([&] { return log_.proved >= 3; }));
    add("high", "epochs=2 at=1", 1);
    worker.wake();
    ASSERT_TRUE(wait_until([&] { return is_in(Place::kDone, "high"); }));
    EXPECT_TRUE(is_in(Place::kActive, "low"));
  });
  EXPECT_EQ(report.done, 2u);
  EXPECT_EQ(log_.turns_given_back, 1u);
  EXPECT_EQ(log_.proved, 62u) << "no epoch twice";
  EXPECT_EQ(log_.order, (std::vector<std::string>{"epochs=60 pause_ms=10", "epochs=2 at=1",
                                                  "epochs=60 pause_ms=10"}));
  EXPECT_EQ(result_of("low")["attempt"], 1) << "it never left its lane";
  EXPECT_EQ(result_of("low")["counters"]["epochs_resumed"], 0);
}

TEST_F(LanesTest, TheLowestMakesRoomAndGoesOnFromWhatItHas) {
  config_.daemon.jobs_at_once = 1;
  add("low", "epochs=60 pause_ms=10");
  const auto report = run([&](Worker& worker) {
    ASSERT_TRUE(wait_until([&] { return log_.proved >= 3; }));
    add("high", "epochs=2 at=1", 1);
    worker.wake();
    ASSERT_TRUE(wait_until([&] { return is_in(Place::kDone, "high"); }));
    EXPECT_TRUE(is_in(Place::kActive, "low"));
    EXPECT_FALSE(fs_.exists(at(Place::kActive) / "low" / kResultFile));
  });
  EXPECT_EQ(report.done, 2u);
  EXPECT_EQ(log_.proved, 62u) << "no epoch twice";
  EXPECT_EQ(observer_.count("low", Outcome::kYielded), 1u);
  const auto result = result_of("low");
  EXPECT_GE(result["counters"]["epochs_resumed"], 3);
  EXPECT_EQ(result["failures"], 0) << "nobody is to blame";
  EXPECT_EQ(result["crashes"], 0);
}

TEST_F(LanesTest, EqualJobsAtOnceAreProvedOnce) {
  config_.daemon.jobs_at_once = 3;
  for (const char* id : {"a", "b", "c", "d"}) add(id, "epochs=20 pause_ms=5");
  add("other", "epochs=2");
  EXPECT_EQ(run().done, 5u);
  EXPECT_EQ(log_.proved, 22u);
  u64 duplicates = 0;
  for (const char* id : {"a", "b", "c", "d"}) duplicates += result_of(id).contains("duplicate_of");
  EXPECT_EQ(duplicates, 3u);
}

TEST_F(LanesTest, WhenTheFirstOfEqualJobsFailsTheSecondIsProved) {
  add("a", "epochs=3 pause_ms=30 fault=guest at=3");
  add("b", "epochs=3 pause_ms=30 fault=guest at=3");
  const auto report = run({}, 1);
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.done, 1u);
  EXPECT_TRUE(is_in(Place::kFailed, "a") != is_in(Place::kFailed, "b"));
}

TEST_F(LanesTest, AWaitingJobCanBeCancelledAndStopped) {
  add("long", "epochs=300 pause_ms=5");
  const auto report = run([&](Worker& worker) {
    // The one that has begun proving has the turn.
    ASSERT_TRUE(wait_until([&] { return log_.proved >= 2; }));
    add("waits", "epochs=3");
    worker.wake();
    ASSERT_TRUE(wait_until([&] { return is_in(Place::kActive, "waits"); }));
    cancel_job(fs_, root(), "waits");
    ASSERT_TRUE(wait_until([&] { return is_in(Place::kCancelled, "waits"); }));
    add("waits too", "epochs=3");
    worker.wake();
    ASSERT_TRUE(wait_until([&] { return fs_.list(at(Place::kActive)).size() == 2; }));
    worker.stop();
  });
  EXPECT_EQ(report.cancelled, 1u);
  EXPECT_EQ(report.done, 0u);
  for (const Entry& job : fs_.list(at(Place::kActive))) {
    EXPECT_EQ(read_attempts(fs_, at(Place::kActive) / job.name).crashes, 0u) << job.name;
  }
}

TEST_F(LanesTest, WaitingForTheTurnIsNotChargedButTheDeadlineIs) {
  class ProvingClock : public Clock {
   public:
    explicit ProvingClock(const FakeLog& log) : log_(log) {}
    double seconds() const override { return static_cast<double>(log_.proved); }

   private:
    const FakeLog& log_;
  };
  const ProvingClock clock(log_);
  Scheduler scheduler(clock);
  std::filesystem::create_directories(root() / "job");
  JobTurn other(scheduler, "other"), mine(scheduler, "mine");
  ASSERT_TRUE(other.try_take());
  ActiveMonitor::Limits limits;
  limits.timeouts.prove_s = 10;
  ActiveMonitor monitor(fs_, clock, stop_, mine, root() / "job", 1, limits);
  monitor.enter(Phase::kProving);
  EXPECT_FALSE(mine.try_take());
  log_.proved += 1000;
  EXPECT_NO_THROW(monitor.check());
  other.give_back();
  ASSERT_TRUE(mine.try_take());
  log_.proved += 10;
  EXPECT_NO_THROW(monitor.check());
  log_.proved += 1;
  EXPECT_THROW(monitor.check(), JobError);

  limits.timeouts.prove_s = 0;
  limits.deadline_unix = clock.unix_seconds() - 1;
  mine.give_back();
  ASSERT_TRUE(other.try_take());
  EXPECT_FALSE(mine.try_take());
  ActiveMonitor late(fs_, clock, stop_, mine, root() / "job", 1, limits);
  EXPECT_THROW(late.check(), JobError);
}

TEST_F(LanesTest, TheQueueWaitIsInTheResultAndSurvivesAStop) {
  config_.daemon.jobs_at_once = 1;
  add("first", "epochs=30 pause_ms=10");
  add("second", "epochs=40 pause_ms=5");
  run([&](Worker& worker) {
    ASSERT_TRUE(wait_until([&] { return is_in(Place::kDone, "first") && log_.proved >= 33; }));
    worker.stop();
  });
  const double first = result_of("first")["queue_wait_seconds"];
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(run().done, 1u);
  const double second = result_of("second")["queue_wait_seconds"];
  EXPECT_GE(first, 0);
  EXPECT_LT(first, second);
  EXPECT_GE(second, 0.3) << "thirty epochs of 10 ms";
  EXPECT_LT(second, first + 30) << "not the second life";
  EXPECT_EQ(result_of("second")["attempt"], 2);
}

TEST_F(LanesTest, WhatALaneCannotHandleComesOut) {
  struct Crash {};
  class CrashingFileSystem : public FileSystem {
   protected:
    void before(Step, const Path& path) override {
      if (path.filename() == kResultFile) throw Crash();
      if (path.string().find("result.json") != std::string::npos) throw Crash();
    }
  };
  add("a", "epochs=2");
  add("b", "epochs=200 pause_ms=5");
  CrashingFileSystem fs;
  Queue queue(fs, root());
  JobHandler handler(fs, queue, config_, {}, make_fake_factory(&log_), clock_, stop_);
  Worker worker(fs, queue, handler, config_.daemon, stop_, &observer_);
  EXPECT_THROW(worker.run(true), Crash);
  EXPECT_TRUE(is_in(Place::kActive, "a"));
  EXPECT_TRUE(is_in(Place::kActive, "b")) << "and the others stop";
}

/// The given prover, but on a device, and with a verification that takes its time.
class DeviceProver : public JobProver {
 public:
  DeviceProver(std::unique_ptr<JobProver> prover, std::function<void()> verifying)
      : prover_(std::move(prover)), verifying_(std::move(verifying)) {}
  RunFacts prove_epochs(EpochExchange& exchange) override {
    return prover_->prove_epochs(exchange);
  }
  void assemble(const EpochLoader& load, const ByteSink& bundle, const Checkpoint& check) override {
    prover_->assemble(load, bundle, check);
  }
  void verify(const Path& bundle) override { prover_->verify(bundle); }
  void verify_watched(const Path& bundle, const Checkpoint& check) override {
    for (int i = 0; verifying_ && i < 1000; ++i) {
      verifying_();
      check();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    verify(bundle);
  }
  ProverUsage usage() const override {
    ProverUsage usage = prover_->usage();
    usage.backend = "cuda";
    return usage;
  }

 private:
  std::unique_ptr<JobProver> prover_;
  std::function<void()> verifying_;
};

class DeviceLanesTest : public LanesTest {
 protected:
  DeviceLanesTest() { config_.daemon.backend = BackendPolicy::kCudaPreferred; }

  Worker::Report run_on_device(EnergyReading energy, std::function<void()> verifying = {}) {
    Queue queue(fs_, root());
    const auto make = [&, fake = make_fake_factory(&log_)](const ProofRequest& request) {
      return std::make_unique<DeviceProver>(fake(request), verifying);
    };
    JobHandler handler(fs_, queue, config_, {}, make, clock_, stop_);
    handler.set_energy(std::move(energy));
    Worker worker(fs_, queue, handler, config_.daemon, stop_, &observer_);
    return worker.run(true);
  }
};

TEST_F(DeviceLanesTest, EnergyIsWhatTheDevicesTookInTheJobsTurns) {
  config_.daemon.devices = {1, 2};
  add("a", "epochs=5 pause_ms=1");
  add("b", "epochs=3 pause_ms=1");
  const auto reading = [&](const std::vector<int>& devices) -> std::optional<double> {
    EXPECT_EQ(devices, (std::vector<int>{1, 2}));
    return 1000.0 + 2.5 * static_cast<double>(log_.proved);
  };
  EXPECT_EQ(run_on_device(reading).done, 2u);
  EXPECT_EQ(result_of("a")["energy_joules"], 12.5);
  EXPECT_EQ(result_of("b")["energy_joules"], 7.5) << "not the other job's";
}

TEST_F(DeviceLanesTest, WithoutAReadingThereIsNoEnergy) {
  add("a", "epochs=1");
  EXPECT_EQ(run_on_device([](const auto&) { return std::nullopt; }).done, 1u);
  EXPECT_FALSE(result_of("a").contains("energy_joules"));
  add("b", "epochs=1 at=1");
  EXPECT_EQ(run_on_device({}).done, 1u);
  EXPECT_FALSE(result_of("b").contains("energy_joules"));
  const std::optional<double> joules = nvml_energy()({});
  EXPECT_GE(joules.value_or(0), 0) << "a host with a device";
  EXPECT_FALSE(nvml_energy()({1000}));
}

TEST_F(DeviceLanesTest, AJobIsCancelledWhileItsBundleIsVerified) {
  add("a", "epochs=2");
  const auto report = run_on_device({}, [&] { cancel_job(fs_, root(), "a"); });
  EXPECT_EQ(report.cancelled, 1u);
  EXPECT_TRUE(is_in(Place::kCancelled, "a"));
}

}  // namespace
}  // namespace epochd
