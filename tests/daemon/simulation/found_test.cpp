// What the simulation found, each in the smallest scene that shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "daemon/pipeline/done_index.hpp"
#include "daemon/pipeline/epoch_store.hpp"
#include "daemon/pipeline/worker.hpp"
#include "daemon/queue/finish.hpp"
#include "daemon/queue/steer.hpp"
#include "tests/daemon/fake_prover.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

using Step = FileSystem::Step;
using Event = FaultyFileSystem::Event;
using Events = std::vector<Event>;

class Found : public QueueTest {
 protected:
  Found() {
    complete_queue_directories(fs_, root());
    config_.daemon.retries = {0, 0, 0};
  }

  void add(const std::string& id, const std::string& program) {
    write(at(Place::kIncoming) / id / kProgramFile, program);
  }
  Worker::Report run_once(FileSystem& fs) {
    stop_ = false;
    Queue queue(fs, root());
    JobHandler handler(fs, queue, config_, {}, make_fake_factory(&log_), clock_, stop_);
    return Worker(fs, queue, handler, config_.daemon, stop_).run(true);
  }
  /// The steps of one life that takes `program` to its end.
  Events steps_of(const std::string& program) {
    add("counted", program);
    FaultyFileSystem recorder;
    run_once(recorder);
    for (const Place place : {Place::kDone, Place::kFailed}) fs_.remove_tree(at(place) / "counted");
    return recorder.events();
  }
  /// A life in which one step fails.
  Worker::Report run_failing_at(size_t index, int code) {
    FaultyFileSystem faulty;
    faulty.fail_at(index, code);
    return run_once(faulty);
  }
  static size_t index_of(const Events& events, const Event& event, size_t from = 0) {
    const auto start = events.begin() + static_cast<ptrdiff_t>(from);
    return static_cast<size_t>(std::find(start, events.end(), event) - events.begin());
  }
  static bool has(const Events& events, const Event& event) {
    return index_of(events, event) < events.size();
  }
  nlohmann::json result_of(const std::string& id) {
    return nlohmann::json::parse(read(at(Place::kDone) / id / kResultFile));
  }

  Config config_;
  Clock clock_;
  FakeLog log_;
  std::atomic<bool> stop_ = false;
};

TEST_F(Found, HalfWrittenFilesOfACrashAreNotPublished) {
  for (const Place place : {Place::kFailed, Place::kCancelled}) {
    const std::string id(kPlaceNames[static_cast<size_t>(place)]);
    Queue queue(fs_, root());
    add(id, "epochs=1");
    ASSERT_EQ(queue.claim(), id);
    write(queue.active_path(id) / "state.json.part", "{");
    write(queue.active_path(id) / kEpochsName / "00000001.epoch.part", "e");
    write(queue.active_path(id) / kEpochsName / "00000002.epoch", "kept");
    if (place == Place::kFailed) {
      publish_failed(queue, fs_, id, place, JobError(Reason::kIo, "disk on fire"), {1, 1, 0});
    } else {
      publish_cancelled(queue, fs_, id);
    }
    EXPECT_FALSE(fs_.exists(at(place) / id / "state.json.part"));
    EXPECT_FALSE(fs_.exists(at(place) / id / kEpochsName / "00000001.epoch.part"));
    EXPECT_TRUE(fs_.exists(at(place) / id / kEpochsName / "00000002.epoch"));
  }
}

TEST_F(Found, AnErrorWhileAProvedJobIsPublishedIsNotItsFailure) {
  const Events steps = steps_of("epochs=2");
  const size_t first = index_of(steps, {Step::kRename, "result.json"});
  ASSERT_LT(first, steps.size());
  for (size_t index = first; index < steps.size(); ++index) {
    const std::string id = "a" + std::to_string(index);
    add(id, "epochs=2 at=" + std::to_string(index));
    run_failing_at(index, EIO);
    run_once(fs_);
    ASSERT_EQ(places_of(id), std::vector<std::string>{"done"}) << "step " << index;
    EXPECT_EQ(result_of(id)["failures"], 0) << "step " << index;
    EXPECT_EQ(result_of(id)["crashes"], 0) << "step " << index;
  }
}

TEST_F(Found, AnErrorInALifeThatGoesOnIsNotACrash) {
  const Events steps = steps_of("epochs=1 fault=guest");
  const size_t reason = index_of(steps, {Step::kWrite, "reason.json.part"});
  ASSERT_LT(reason, steps.size());
  add("b", "epochs=1 fault=guest");
  EXPECT_TRUE(run_failing_at(reason, EIO).is_blocked);
  run_once(fs_);
  EXPECT_EQ(places_of("b"), std::vector<std::string>{"failed"}) << "not quarantined for a crash";
}

TEST_F(Found, ACrashIsNotForgottenWhenTheNextAttemptCannotBegin) {
  const Path job = at(Place::kActive) / "a";
  const auto crash = [&] {
    fs_.remove_tree(job);
    write(job / kProgramFile, "epochs=1");
    begin_attempt(fs_, job);
  };
  for (size_t step = 0;; ++step) {
    crash();
    FaultyFileSystem faulty;
    faulty.fail_at(step, ENOSPC);
    try {
      begin_attempt(faulty, job);
    } catch (const IoError&) {
    }
    if (!faulty.has_failed()) break;
    EXPECT_EQ(begin_attempt(fs_, job).crashes, 1u) << "step " << step;
  }
  // Nor does the handler take it back, as it does with an attempt of its own.
  config_.daemon.retries = {0, 3, 0};
  FaultyFileSystem recorder;
  { const Queue queue(recorder, root()); }
  crash();
  EXPECT_TRUE(run_failing_at(recorder.events().size(), ENOSPC).is_blocked);
  run_once(fs_);
  EXPECT_EQ(result_of("a")["crashes"], 1);
}

TEST_F(Found, AJobWhoseMoveWasCutOffAnswersItsEquals) {
  const Events steps = steps_of("epochs=3");
  const size_t claim = index_of(steps, {Step::kRename, "counted"});
  const size_t move = index_of(steps, {Step::kRename, "counted"}, claim + 1);
  ASSERT_LT(move, steps.size());
  add("a", "epochs=3 at=7");
  run_failing_at(move, EIO);
  ASSERT_EQ(places_of("a"), std::vector<std::string>{"active"});
  log_.clear();
  add("b", "epochs=3 at=7");
  EXPECT_EQ(run_once(fs_).done, 2u);
  EXPECT_EQ(log_.proved, 0u);
  EXPECT_EQ(result_of("b")["duplicate_of"], "a");
}

TEST_F(Found, AnyOfSeveralEqualJobsIsAnAnswer) {
  for (const char* id : {"a", "b"}) {
    write(at(Place::kDone) / id / kBundleFile, "bundle");
    write(at(Place::kDone) / id / kResultFile, R"({"key": "k"})");
  }
  DoneIndex index(fs_, root());
  EXPECT_EQ(index.find("k"), "b");
  fs_.remove_tree(at(Place::kDone) / "b");
  EXPECT_EQ(index.find("k"), "a");
  fs_.remove_tree(at(Place::kDone) / "a");
  EXPECT_EQ(index.find("k"), std::nullopt);
}

/// Whoever collects answers takes one just when it is about to be given again.
class CollectingFileSystem : public FileSystem {
 public:
  explicit CollectingFileSystem(Path job) : job_(std::move(job)) {}

 protected:
  void before(Step step, const Path&) override {
    if (step == Step::kLink) FileSystem().remove_tree(job_);
  }

 private:
  Path job_;
};

TEST_F(Found, AnEqualJobThatIsCollectedMeanwhileIsNobodysFailure) {
  add("a", "epochs=3");
  run_once(fs_);
  add("b", "epochs=3");
  CollectingFileSystem fs(at(Place::kDone) / "a");
  EXPECT_EQ(run_once(fs).done, 1u);
  EXPECT_EQ(result_of("b")["failures"], 0);
  EXPECT_EQ(log_.proved, 6u);
}

/// Somebody has a job queued again as soon as it is seen in cancelled/, which takes a while to get
/// durable there.
class HastyFileSystem : public FileSystem {
 public:
  explicit HastyFileSystem(Path root) : root_(std::move(root)) {}
  Worker* worker = nullptr;
  bool was_begun_twice = false;

 protected:
  void before(Step step, const Path& path) override {
    const bool is_put_away = path == place_path(root_, Place::kCancelled);
    if (step != Step::kSyncDirectory || !is_put_away || !exists(path / "a")) return;
    FileSystem fs;
    retry_job(fs, root_, "a");
    worker->wake();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    was_begun_twice = !exists(place_path(root_, Place::kIncoming) / "a");
  }

 private:
  Path root_;
};

TEST_F(Found, AJobThatIsQueuedAgainWaitsUntilItsLaneHasPutItAway) {
  config_.daemon.rescan_s = 3600;
  HastyFileSystem fs(root());
  Queue queue(fs, root());
  add("a", "epochs=5");
  ASSERT_EQ(queue.claim(), "a");
  ASSERT_EQ(cancel_job(fs_, root(), "a").outcome, Steered::Outcome::kRequested);
  JobHandler handler(fs, queue, config_, {}, make_fake_factory(&log_), clock_, stop_);
  Worker worker(fs, queue, handler, config_.daemon, stop_);
  fs.worker = &worker;
  std::thread watching([&] {
    for (int i = 0; i < 5000 && places_of("a") != std::vector<std::string>{"done"}; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    worker.stop();
  });
  const Worker::Report report = worker.run(false);
  watching.join();
  EXPECT_FALSE(fs.was_begun_twice);
  EXPECT_EQ(report.cancelled, 1u) << "what its owner did is no failure of the queue";
  EXPECT_EQ(report.done, 1u) << "and no later than that";
}

TEST_F(Found, WhatIsThereAtTheStartIsMadeDurable) {
  // Whoever made the directories, or moved a job, may have died before its fsync.
  FaultyFileSystem recorder;
  const Queue queue(recorder, root());
  EXPECT_TRUE(has(recorder.events(), {Step::kSyncDirectory, root().filename().string()}));
  for (const std::string_view place : kPlaceNames) {
    EXPECT_TRUE(has(recorder.events(), {Step::kSyncDirectory, std::string(place)})) << place;
  }
}

TEST_F(Found, DirectoriesOfAnEarlierLifeAreMadeDurable) {
  FaultyFileSystem recorder;
  Queue queue(recorder, root());
  fs_.make_directory(root() / kTmpName / ".intake-p");
  write(at(Place::kIncoming) / "p.elf", "elf");
  recorder.clear();
  ASSERT_EQ(queue.waiting().size(), 1u);
  const Events events = recorder.events();
  EXPECT_LT(index_of(events, {Step::kSyncDirectory, std::string(kTmpName)}),
            index_of(events, {Step::kRename, std::string(kProgramFile)}));
  fs_.make_directory(root() / kEpochsName);
  recorder.clear();
  const DirectoryEpochStore store(recorder, root() / kEpochsName, JobKey{1});
  EXPECT_TRUE(has(recorder.events(), {Step::kSyncDirectory, root().filename().string()}));
  EXPECT_TRUE(has(recorder.events(), {Step::kSyncDirectory, std::string(kEpochsName)}))
      << "what is in it is gone on from";
}

TEST_F(Found, AnAttemptThatCouldNotBeginLeavesNoTraceForAPowerCut) {
  const Path job = at(Place::kActive) / "a";
  write(job / kProgramFile, "epochs=1");
  FaultyFileSystem recorder;
  begin_attempt(recorder, job);
  end_attempt(fs_, job);
  const Event last{Step::kSyncDirectory, "a"};
  ASSERT_EQ(recorder.events().back(), last);
  FaultyFileSystem faulty;
  faulty.fail_at(recorder.events().size() - 1, EIO);
  EXPECT_THROW(begin_attempt(faulty, job), IoError);
  const Events events = faulty.events();
  const size_t removal = index_of(events, {Step::kRemove, std::string(kRunningFile)});
  EXPECT_LT(index_of(events, last, removal), events.size()) << "the removal is made durable";
}

/// Some sectors are bad.
class UnreadableFileSystem : public FileSystem {
 public:
  FileHandle open_for_reading(const Path& path, Links links) override {
    if (path.parent_path().filename() == kEpochsName) throw IoError("read", path, EIO);
    return FileSystem::open_for_reading(path, links);
  }
};

TEST_F(Found, WhatCannotBeReadIsMadeAgain) {
  const Path epochs = root() / kEpochsName;
  UnreadableFileSystem fs;
  DirectoryEpochStore store(fs, epochs, JobKey{1});
  store.save(1, Bytes{1, 2, 3});
  store.resume_store()->save_facts(Bytes{4});
  store.flush();
  EXPECT_EQ(store.load(1), std::nullopt);
  EXPECT_EQ(store.resume_store()->load_facts(), std::nullopt);
  EXPECT_EQ(DirectoryEpochStore(fs_, epochs, JobKey{1}).load(1), (Bytes{1, 2, 3}));
}

TEST_F(Found, ACheckpointThatAPowerCutBroughtBackIsRemovedBeforeAThirdIsWritten) {
  const Path epochs = root() / kEpochsName;
  for (const u64 label : {1, 2, 3}) write(epochs / label_file_name(label, kEpochSuffix), "e");
  for (const u64 label : {1, 2}) write(epochs / label_file_name(label, kCheckpointSuffix), "c");
  CheckpointFiles files(fs_, epochs, JobKey{1});
  EXPECT_EQ(files.checkpoints(), (std::vector<u64>{2, 1})) << "the older may have to stand in";
  const auto sink = files.write_checkpoint(3);
  ASSERT_NE(sink, nullptr);
  EXPECT_EQ(files.checkpoints(), (std::vector<u64>{2}));
  EXPECT_FALSE(fs_.exists(epochs / label_file_name(1, kCheckpointSuffix)));
}

TEST_F(Found, ACancelOutlivesAPowerCutThatUndoesTheClaim) {
  write(at(Place::kActive) / "a" / kProgramFile, "epochs=1");
  FaultyFileSystem recorder;
  EXPECT_EQ(cancel_job(recorder, root(), "a").outcome, Steered::Outcome::kRequested);
  const Events events = recorder.events();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front(), (Event{Step::kSyncDirectory, "active"})) << "before it is acknowledged";
}

}  // namespace
}  // namespace epochd
