// From incoming/ to an answer, with a fake prover: outcomes, budgets, resume, duplicates, limits.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "config/time_text.hpp"
#include "daemon/pipeline/epoch_store.hpp"
#include "daemon/pipeline/job_key.hpp"
#include "daemon/pipeline/worker.hpp"
#include "daemon/queue/steer.hpp"
#include "tests/daemon/fake_prover.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

/// Time that passes by `step` at every look.
class FakeClock : public Clock {
 public:
  double seconds() const override {
    const std::lock_guard lock(mutex_);
    return now_s_ += step_s;
  }
  i64 unix_seconds() const override {
    const std::lock_guard lock(mutex_);
    return static_cast<i64>(now_s_) + 1'000'000;
  }
  double step_s = 0;

 private:
  mutable std::mutex mutex_;
  mutable double now_s_ = 0;
};

class PipelineTest : public QueueTest {
 protected:
  PipelineTest() {
    complete_queue_directories(fs_, root());
    config_.daemon.retries.delay_s = 0;
  }

  void add(const std::string& id, const std::string& program, const std::string& job_file = "") {
    const Path job = at(Place::kIncoming) / id;
    write(job / kProgramFile, program);
    if (!job_file.empty()) write(job / kJobFile, job_file);
  }

  /// One life of the daemon in batch mode.
  Worker::Report run_once(u32 faulty_provers = ~0u) { return run_once(fs_, faulty_provers); }
  Worker::Report run_once(FileSystem& fs, u32 faulty_provers = ~0u) {
    stop_ = false;
    Queue queue(fs, root());
    JobHandler handler(fs, queue, config_, {}, make_fake_factory(&log_, faulty_provers), clock_,
                       stop_);
    Worker worker(fs, queue, handler, config_.daemon, stop_);
    return worker.run(true);
  }

  nlohmann::json record(Place place, const std::string& id, std::string_view file) {
    return nlohmann::json::parse(read(at(place) / id / file));
  }
  std::string reason_of(Place place, const std::string& id) {
    return record(place, id, kReasonFile)["reason"];
  }
  std::string message_of(Place place, const std::string& id) {
    return record(place, id, kReasonFile)["message"];
  }
  ProofRequest request_of(const std::string& program, const std::string& input = "") {
    ProofRequest request;
    request.elf.assign(program.begin(), program.end());
    request.input.assign(input.begin(), input.end());
    request.protocol = config_.protocol;
    return request;
  }
  Bytes bundle_of(const std::string& id) {
    return fs_.read_file(at(Place::kDone) / id / kBundleFile, 1 << 20);
  }

  Config config_;
  FakeClock clock_;
  FakeLog log_;
  std::atomic<bool> stop_ = false;
};

TEST_F(PipelineTest, ProvesAJob) {
  add("a", "epochs=3", "priority: 1\nepoch_size_log2: 9\nsecurity: test\n");
  write(at(Place::kIncoming) / "a" / kInputFile, "input");
  const Worker::Report report = run_once();
  EXPECT_EQ(report.done, 1u);
  EXPECT_EQ(places_of("a"), std::vector<std::string>{"done"});
  ProofRequest request = request_of("epochs=3", "input");
  request.protocol = {9, true, SecurityPreset::kTest};
  EXPECT_TRUE(bundle_of("a") == fake_bundle(request));
  const auto result = record(Place::kDone, "a", kResultFile);
  EXPECT_EQ(result["job"], "a");
  EXPECT_EQ(result["state"], "done");
  EXPECT_EQ(result["cycles"], 300);
  EXPECT_EQ(result["epochs"], 3);
  EXPECT_EQ(result["outputs"], (std::vector<u64>{42}));
  EXPECT_EQ(result["epoch_size_log2"], 9);
  EXPECT_EQ(result["security"], "test");
  EXPECT_EQ(result["backend"], "cpu");
  EXPECT_EQ(result["proof_bytes"], 3000);
  EXPECT_EQ(result["attempt"], 1);
  EXPECT_GT(result["peak_rss_bytes"], 1'000'000);
  EXPECT_FALSE(fs_.exists(at(Place::kDone) / "a" / kEpochsName));
}

TEST_F(PipelineTest, AJobThatRequiresADeviceFailsWithoutOne) {
  add("gpu", "epochs=1", "backend: cuda-required\n");
  EXPECT_EQ(run_once().failed, 1u);
  EXPECT_EQ(reason_of(Place::kQuarantine, "gpu"), "gpu") << "tried again: a device may come back";
  EXPECT_EQ(message_of(Place::kQuarantine, "gpu").find("a CUDA device is required"), 0u);
  EXPECT_NE(message_of(Place::kQuarantine, "gpu").find("there is no device"), std::string::npos);
}

TEST_F(PipelineTest, AFallbackIsInTheResult) {
  add("preferred", "epochs=1", "backend: cuda-preferred\nresidency: host-mirror\n");
  add("plain", "epochs=2", "backend: cpu\nresidency: host-mirror\n");
  EXPECT_EQ(run_once().done, 2u);
  const auto result = record(Place::kDone, "preferred", kResultFile);
  EXPECT_EQ(result["fallback"], "no CUDA device can be used: there is no device");
  EXPECT_EQ(result["backend"], "cpu");
  EXPECT_EQ(result["residency"], "host");
  EXPECT_FALSE(record(Place::kDone, "plain", kResultFile).contains("fallback"));
}

TEST_F(PipelineTest, ASettingSaysHowOftenTheStateOfARunIsKept) {
  std::vector<std::optional<CheckpointPace>> asked;
  const auto make = [&, fake = make_fake_factory(&log_)](const ProofRequest& request) {
    asked.push_back(request.checkpoints);
    return fake(request);
  };
  for (const u32 percent : {DaemonSettings{}.checkpoint_percent, 20u, 0u}) {
    config_.daemon.checkpoint_percent = percent;
    add("job" + std::to_string(percent), "epochs=1 exit=" + std::to_string(percent));
    Queue queue(fs_, root());
    JobHandler handler(fs_, queue, config_, {}, make, clock_, stop_);
    Worker(fs_, queue, handler, config_.daemon, stop_).run(true);
  }
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].value().per_write, CheckpointPace{}.per_write) << "the default of both";
  EXPECT_EQ(asked[1].value().per_write, 5.0);
  EXPECT_EQ(asked[1].value().seconds, CheckpointPace{}.seconds);
  EXPECT_FALSE(asked[2].has_value());
}

TEST_F(PipelineTest, AJobWithoutAJobFileIsFine) {
  add("a", "epochs=1");
  EXPECT_EQ(run_once().done, 1u);
}

TEST_F(PipelineTest, FinalFailuresSayWhy) {
  add("guest", "fault=guest");
  add("cycles", "fault=cycles");
  add("input", "nonsense");
  add("yaml", "epochs=1", "priority: 1\nspeed: 9\n");
  std::filesystem::create_directories(at(Place::kIncoming) / "empty");
  std::filesystem::create_directories(at(Place::kIncoming) / "link");
  std::filesystem::create_symlink("/etc/passwd", at(Place::kIncoming) / "link" / kProgramFile);
  const Worker::Report report = run_once();
  EXPECT_EQ(report.failed, 6u);
  EXPECT_EQ(reason_of(Place::kFailed, "guest"), "guest-fault");
  EXPECT_EQ(message_of(Place::kFailed, "guest"), "pc 0x1000: bad load");
  EXPECT_EQ(reason_of(Place::kFailed, "cycles"), "cycle-limit");
  EXPECT_EQ(reason_of(Place::kFailed, "input"), "input");
  EXPECT_EQ(reason_of(Place::kFailed, "yaml"), "input");
  EXPECT_EQ(message_of(Place::kFailed, "yaml").find("job.yaml:2:1: unknown key 'speed'"), 0u);
  EXPECT_EQ(message_of(Place::kFailed, "empty"), "the job has no program.elf; submit it with one");
  EXPECT_EQ(message_of(Place::kFailed, "link"),
            "the job's 'program.elf' is not a regular file; submit the file itself");
}

TEST_F(PipelineTest, AnInputThatIsTooLargeFailsWithoutBeingRead) {
  add("big", "epochs=1");
  write(at(Place::kIncoming) / "big" / kInputFile, "");
  std::filesystem::resize_file(at(Place::kIncoming) / "big" / kInputFile, kInputBytesMax + 1);
  EXPECT_EQ(run_once().failed, 1u);
  EXPECT_EQ(reason_of(Place::kFailed, "big"), "input");
  EXPECT_NE(message_of(Place::kFailed, "big").find("an input has at most 1073741808 bytes"),
            std::string::npos);
}

TEST_F(PipelineTest, FailuresThatMayPassAreTriedAgainAndThenQuarantined) {
  const std::map<std::string, std::string> reasons = {
      {"memory", "memory"}, {"system", "memory"}, {"internal", "internal"}, {"verify", "internal"}};
  for (const auto& [fault, reason] : reasons) add(fault, "epochs=2 at=2 fault=" + fault);
  EXPECT_EQ(run_once().failed, 4u);
  for (const auto& [fault, reason] : reasons) {
    EXPECT_EQ(reason_of(Place::kQuarantine, fault), reason) << fault;
    EXPECT_EQ(record(Place::kQuarantine, fault, kReasonFile)["failures"], 3) << fault;
    EXPECT_EQ(record(Place::kQuarantine, fault, kReasonFile)["attempt"], 3) << fault;
  }
}

TEST_F(PipelineTest, ARetryGoesOnFromTheLastDurableEpoch) {
  add("a", "epochs=5 at=4 fault=memory");
  EXPECT_EQ(run_once(1).done, 1u);
  EXPECT_EQ(log_.proved, 5u) << "no epoch twice";
  EXPECT_EQ(log_.accepted, 3u);
  EXPECT_EQ(record(Place::kDone, "a", kResultFile)["failures"], 1);
  EXPECT_EQ(record(Place::kDone, "a", kResultFile)["counters"]["epochs_resumed"], 3);
  EXPECT_TRUE(bundle_of("a") == fake_bundle(request_of("epochs=5 at=4 fault=memory")));
}

TEST_F(PipelineTest, ABundleThatDoesNotVerifyHasItsGlobalProofMadeAgain) {
  add("a", "epochs=3 fault=global");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_once().done, 1u);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("its global proof is made again"), std::string::npos) << said;
  EXPECT_EQ(log_.proved, 3u) << "no epoch twice";
  EXPECT_EQ(log_.assembled, 2u);
  EXPECT_EQ(record(Place::kDone, "a", kResultFile)["failures"], 0);
}

TEST_F(PipelineTest, ABundleThatNeverVerifiesIsProvedAgainFromTheStart) {
  add("a", "epochs=3 fault=verify");
  EXPECT_EQ(run_once(1).done, 1u);
  EXPECT_EQ(log_.proved, 6u);
  EXPECT_EQ(log_.assembled, 4u) << "three times in the first attempt";
  EXPECT_EQ(log_.accepted, 0u);
}

TEST_F(PipelineTest, DamagedEpochFilesAreProvedAgainAndSaidSo) {
  const std::string program = "epochs=4 at=4 fault=disk";
  add("a", program);
  EXPECT_TRUE(run_once().is_blocked);
  const Path epochs = at(Place::kActive) / "a" / kEpochsName;
  Bytes second = fs_.read_file(epochs / "00000002.epoch", 1 << 20);
  second[200] ^= 1;
  write(epochs / "00000002.epoch", {second.begin(), second.end()});
  std::filesystem::resize_file(epochs / "00000003.epoch", 500);
  log_.clear();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_once(0).done, 1u);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(log_.accepted, 1u);
  EXPECT_EQ(log_.proved, 3u);
  EXPECT_TRUE(bundle_of("a") == fake_bundle(request_of(program)));
  EXPECT_NE(said.find("00000002.epoch why=damaged"), std::string::npos) << said;
  EXPECT_NE(said.find("00000003.epoch why=\"cut short or too long\""), std::string::npos) << said;
}

TEST_F(PipelineTest, ADiskThatIsFullIsNotChargedToTheJob) {
  add("a", "epochs=2 at=2 fault=disk");
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 5; ++i) {
    const Worker::Report report = run_once();
    EXPECT_TRUE(report.is_blocked);
    EXPECT_EQ(report.failed, 0u);
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the disk is full"), std::string::npos);
  EXPECT_EQ(run_once(0).done, 1u);
  EXPECT_EQ(record(Place::kDone, "a", kResultFile)["failures"], 0);
  EXPECT_EQ(record(Place::kDone, "a", kResultFile)["crashes"], 0);
}

TEST_F(PipelineTest, ADiskThatIsFullIsSaidOnce) {
  add("a", "epochs=2 at=2 fault=disk");
  add("b", "epochs=2 at=2 fault=disk");
  Queue queue(fs_, root());
  JobHandler handler(fs_, queue, config_, {}, make_fake_factory(&log_), clock_, stop_);
  Worker worker(fs_, queue, handler, config_.daemon, stop_);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(worker.run(true).is_blocked);
  const std::string said = ::testing::internal::GetCapturedStderr();
  const std::string text = "the disk is full";
  const size_t first = said.find(text);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(text, first + 1), std::string::npos) << said;
}

TEST_F(PipelineTest, TooManyCrashesQuarantineTheJob) {
  add("a", "epochs=1");
  {
    Queue queue(fs_, root());
    ASSERT_EQ(queue.claim(), "a");
    for (int i = 0; i < 4; ++i) begin_attempt(fs_, queue.active_path("a"));
  }
  EXPECT_EQ(run_once().failed, 1u);
  EXPECT_EQ(reason_of(Place::kQuarantine, "a"), "internal");
  EXPECT_EQ(message_of(Place::kQuarantine, "a").find("the daemon died 4 times"), 0u);
  EXPECT_EQ(retry_job(fs_, root(), "a").outcome, Steered::Outcome::kDone);
  EXPECT_EQ(run_once().done, 1u) << "a retry starts with a fresh budget";
}

TEST_F(PipelineTest, EqualJobsAreProvedOnceAndAnsweredTwice) {
  add("a", "epochs=3");
  add("b", "epochs=3", "priority: -1\n");
  add("other", "epochs=3", "epoch_size_log2: 7\n");
  EXPECT_EQ(run_once().done, 3u);
  EXPECT_EQ(log_.proved, 6u);
  EXPECT_TRUE(bundle_of("a") == bundle_of("b"));
  EXPECT_NE(bundle_of("a"), bundle_of("other"));
  EXPECT_EQ(record(Place::kDone, "b", kResultFile)["duplicate_of"], "a");
  EXPECT_EQ(record(Place::kDone, "b", kResultFile)["job"], "b");
  add("c", "epochs=3");
  EXPECT_EQ(run_once().done, 1u) << "known to the next life of the daemon too";
  EXPECT_EQ(log_.proved, 6u);
}

TEST_F(PipelineTest, ADamagedAnswerIsNotGivenTwice) {
  add("a", "epochs=3");
  run_once();
  Bytes bundle = bundle_of("a");
  bundle[7] ^= 1;
  write(at(Place::kDone) / "a" / kBundleFile, {bundle.begin(), bundle.end()});
  add("b", "epochs=3");
  EXPECT_EQ(run_once().done, 1u);
  EXPECT_EQ(log_.proved, 6u);
  EXPECT_TRUE(bundle_of("b") == fake_bundle(request_of("epochs=3")));
}

TEST_F(PipelineTest, AFailedJobIsNoAnswer) {
  add("a", "epochs=1 fault=guest");
  EXPECT_EQ(run_once(1).failed, 1u);
  add("b", "epochs=1 fault=guest");
  EXPECT_EQ(run_once(0).done, 1u);
}

TEST_F(PipelineTest, ACancelledJobStopsAndIsChargedToNothing) {
  add("a", "epochs=1000");
  {
    Queue queue(fs_, root());
    queue.claim();
    ASSERT_EQ(cancel_job(fs_, root(), "a").outcome, Steered::Outcome::kRequested);
  }
  EXPECT_EQ(run_once().cancelled, 1u);
  EXPECT_EQ(places_of("a"), std::vector<std::string>{"cancelled"});
  EXPECT_EQ(log_.proved, 0u);
}

/// Cancels the job while it is being proved, at the n-th durable epoch.
class CancellingFileSystem : public FileSystem {
 public:
  CancellingFileSystem(Path root, u64 after) : root_(std::move(root)), after_(after) {}

 protected:
  void before(Step step, const Path& path) override {
    if (step != Step::kSyncFile || path.string().find(".epoch") == std::string::npos) return;
    FileSystem fs;
    if (++count_ == after_) cancel_job(fs, root_, "a");
  }

 private:
  Path root_;
  u64 after_;
  u64 count_ = 0;  ///< of the thread that makes epochs durable
};

TEST_F(PipelineTest, ARunningJobIsCancelledBetweenEpochs) {
  add("a", "epochs=1000 pause_ms=5");
  clock_.step_s = 0.2;
  CancellingFileSystem fs(root(), 10);
  EXPECT_EQ(run_once(fs).cancelled, 1u);
  EXPECT_GE(log_.proved, 10u);
  EXPECT_LT(log_.proved, 1000u);
  EXPECT_EQ(places_of("a"), std::vector<std::string>{"cancelled"});
}

TEST_F(PipelineTest, ACancelledJobIsNoAnswer) {
  const std::string program = "epochs=60 pause_ms=5";
  clock_.step_s = 0.2;
  add("a", program);
  CancellingFileSystem fs(root(), 3);
  EXPECT_EQ(run_once(fs).cancelled, 1u);
  add("b", program);
  EXPECT_EQ(run_once().done, 1u);
  EXPECT_TRUE(bundle_of("b") == fake_bundle(request_of(program)));
  EXPECT_FALSE(record(Place::kDone, "b", kResultFile).contains("duplicate_of"));
}

TEST_F(PipelineTest, PhasesHaveTimeLimits) {
  config_.daemon.timeouts = {60, 30, 0};
  clock_.step_s = 1;
  add("slow-run", "epochs=100");
  EXPECT_EQ(run_once().failed, 1u);
  EXPECT_EQ(reason_of(Place::kFailed, "slow-run"), "timeout");
  EXPECT_EQ(record(Place::kFailed, "slow-run", kReasonFile)["phase"], "execute");
  config_.daemon.timeouts.execute_s = 0;
  add("slow-proof", "epochs=99");
  EXPECT_EQ(run_once().failed, 1u);
  EXPECT_EQ(record(Place::kFailed, "slow-proof", kReasonFile)["phase"], "prove");
  EXPECT_EQ(
      message_of(Place::kFailed, "slow-proof"),
      "the phase 'prove' took more than 30 s; raise timeouts.prove_s in the daemon's settings");
}

TEST_F(PipelineTest, ADeadlineEndsAJob) {
  add("late", "epochs=1", "deadline: " + format_utc_time(999'000) + "\n");
  add("early", "epochs=1 at=1", "deadline: " + format_utc_time(1'001'000) + "\n");
  const Worker::Report report = run_once();
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.done, 1u);
  EXPECT_EQ(reason_of(Place::kFailed, "late"), "timeout");
}

TEST_F(PipelineTest, AFailureAtAnyStepLosesNothingAndProvesNothingTwice) {
  const std::string program = "epochs=3";
  size_t steps = 0;
  for (bool has_failed = true; has_failed; ++steps) {
    for (const Entry& entry : fs_.list(root())) fs_.remove_tree(root() / entry.name);
    add("a", program);
    log_.clear();
    FaultyFileSystem faulty;
    faulty.fail_at(steps, steps % 2 == 0 ? ENOSPC : EIO);
    ::testing::internal::CaptureStderr();
    try {
      run_once(faulty);
    } catch (const IoError&) {  // the queue could not even be opened
    }
    run_once();
    ::testing::internal::GetCapturedStderr();
    has_failed = faulty.has_failed();
    ASSERT_EQ(places_of("a"), std::vector<std::string>{"done"}) << "step " << steps;
    EXPECT_EQ(fs_.list(at(Place::kDone)).size(), 1u);
    EXPECT_TRUE(bundle_of("a") == fake_bundle(request_of(program))) << "step " << steps;
    EXPECT_LE(log_.proved, 4u) << "at most the epoch under way is proved again";
  }
  EXPECT_GT(steps, 60u);
}

TEST(JobKey, DependsOnEverythingThatChangesTheBytes) {
  ProofRequest request;
  request.elf = {1, 2, 3};
  request.input = {4};
  const JobKey key = job_key(request);
  ProofRequest moved = request;
  moved.elf = {1, 2};
  moved.input = {3, 4};
  EXPECT_NE(job_key(moved), key) << "lengths are hashed";
  ProofRequest smaller = request;
  smaller.protocol.epoch_size_log2 = 19;
  EXPECT_NE(job_key(smaller), key);
  ProofRequest one_epoch = request;
  one_epoch.protocol.continuations = false;
  EXPECT_NE(job_key(one_epoch), key);
  ProofRequest test = request;
  test.protocol.security = SecurityPreset::kTest;
  EXPECT_NE(job_key(test), key);
  ProofRequest threads = request;
  threads.threads = 7;
  threads.cycle_limit = 5;
  EXPECT_EQ(job_key(threads), key) << "settings never change a proof";
  EXPECT_EQ(to_hex(key).size(), 64u);
}

TEST_F(QueueTest, EpochStoreRefusesForeignFiles) {
  const JobKey key{1};
  const JobKey other{2};
  DirectoryEpochStore store(fs_, root() / "epochs", key);
  const Bytes bytes = {5, 6, 7};
  EXPECT_FALSE(store.load(1));
  store.save(1, bytes);
  store.save(2, {});
  store.flush();
  EXPECT_EQ(store.load(1), bytes);
  EXPECT_EQ(store.load(2), Bytes{});
  EXPECT_FALSE(DirectoryEpochStore(fs_, root() / "epochs", other).load(1));
  fs_.rename_replace(store.path_of(1), store.path_of(2));
  EXPECT_FALSE(store.load(2)) << "of another epoch";
  for (const size_t bytes_left : {0u, 8u, 87u, 88u, 90u}) {
    store.save(3, bytes);
    store.flush();
    std::filesystem::resize_file(store.path_of(3), bytes_left);
    EXPECT_FALSE(store.load(3)) << bytes_left;
  }
}

TEST_F(QueueTest, EpochStoreNoticesEveryFlippedByte) {
  DirectoryEpochStore store(fs_, root() / "epochs", JobKey{1});
  store.save(1, Bytes{5, 6, 7});
  store.flush();
  const Bytes good = fs_.read_file(store.path_of(1), 1000);
  for (size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x40;
    fs_.write(fs_.create_file(store.path_of(1)), store.path_of(1), bad);
    EXPECT_FALSE(store.load(1)) << i;
  }
}

TEST_F(QueueTest, EpochStoreMakesGroupsDurableInTheRightOrder) {
  using Step = FileSystem::Step;
  constexpr u64 kEpochs = 60;
  FaultyFileSystem recorder;
  DirectoryEpochStore store(recorder, root() / "epochs", JobKey{1});
  recorder.clear();
  for (u64 label = 1; label <= kEpochs; ++label) store.save(label, Bytes{5, 6, 7});
  store.flush();
  std::map<std::string, std::vector<Step>> steps;
  std::set<std::string> not_durable;
  u64 groups = 0;
  for (const auto& event : recorder.events()) {
    steps[event.name.substr(0, event.name.find(".epoch"))].push_back(event.step);
    if (event.step == Step::kRename) not_durable.insert(event.name);
    if (event.step != Step::kSyncDirectory) continue;
    ++groups;
    not_durable.clear();
  }
  EXPECT_TRUE(not_durable.empty()) << "the directory is synced after the last rename";
  EXPECT_LT(groups, kEpochs / 2) << "once a group, not once an epoch";
  steps.erase("epochs");
  ASSERT_EQ(steps.size(), kEpochs);
  const std::vector<Step> in_order = {Step::kCreateFile, Step::kWrite, Step::kWrite,
                                      Step::kSyncFile, Step::kRename};
  for (const auto& [name, of_file] : steps) EXPECT_EQ(of_file, in_order) << name;
}

TEST_F(QueueTest, EpochStoreMakesDurableByItself) {
  DirectoryEpochStore store(fs_, root() / "epochs", JobKey{1});
  store.save(1, Bytes{5, 6, 7});
  for (int i = 0; i < 1000 && !fs_.exists(store.path_of(1)); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(store.load(1), (Bytes{5, 6, 7}));
}

TEST_F(QueueTest, EpochStoreKeepsWhatItHasWhenItEnds) {
  {
    DirectoryEpochStore store(fs_, root() / "epochs", JobKey{1});
    for (u64 label = 1; label <= 3; ++label) store.save(label, Bytes{5, 6, 7});
  }
  DirectoryEpochStore store(fs_, root() / "epochs", JobKey{1});
  for (u64 label = 1; label <= 3; ++label) EXPECT_TRUE(store.load(label)) << label;
}

TEST_F(QueueTest, AFailureAtAnyStepCostsTheEpochStoreOneEpoch) {
  bool has_failed = true;
  for (size_t step = 0; has_failed; ++step) {
    fs_.remove_tree(root() / "epochs");
    FaultyFileSystem faulty;
    faulty.fail_at(step, step % 2 == 0 ? ENOSPC : EIO);
    u64 saved = 0;
    bool is_told = false;
    try {
      DirectoryEpochStore store(faulty, root() / "epochs", JobKey{1});
      for (u64 label = 1; label <= 3; ++label) store.save(label, Bytes{5, 6, 7}), ++saved;
      store.flush();
    } catch (const IoError&) {
      is_told = true;
    }
    has_failed = faulty.has_failed();
    EXPECT_EQ(is_told, has_failed) << "step " << step;
    DirectoryEpochStore store(fs_, root() / "epochs", JobKey{1});
    u64 kept = 0;
    for (u64 label = 1; label <= 3; ++label) kept += store.load(label).has_value();
    EXPECT_GE(kept + (saved == 3 && has_failed), saved) << "step " << step;
    for (const Entry& entry : fs_.list(root() / "epochs")) {
      EXPECT_EQ(entry.name.find(kTemporarySuffix), std::string::npos) << entry.name;
    }
  }
}

TEST_F(QueueTest, SpoolKeepsEpochsWithoutAName) {
  SpoolEpochStore spool(fs_, root());
  EXPECT_TRUE(fs_.list(root()).empty());
  EXPECT_FALSE(spool.load(1));
  spool.save(1, Bytes{1, 2, 3});
  spool.save(2, Bytes{});
  spool.save(3, Bytes{4});
  EXPECT_EQ(spool.load(1), (Bytes{1, 2, 3}));
  EXPECT_EQ(spool.load(2), Bytes{});
  EXPECT_EQ(spool.load(3), Bytes{4});
  EXPECT_FALSE(spool.load(4));
  EXPECT_FALSE(spool.load(0));
}

}  // namespace
}  // namespace epochd
