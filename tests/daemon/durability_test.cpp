// The discipline of durability, and what is left after a failure at any step.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include <nlohmann/json.hpp>

#include "daemon/queue/attempts.hpp"
#include "daemon/queue/finish.hpp"
#include "daemon/queue/steer.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

using Step = FileSystem::Step;
using Event = FaultyFileSystem::Event;

class DurabilityTest : public QueueTest {
 protected:
  /// Runs `act` with a failure at step 0, 1, 2 ... until it passes; after each failure calls
  /// `check`. `prepare` builds the scene anew each time. Returns the number of steps that failed.
  size_t fail_at_every_step(int code, const std::function<void()>& prepare,
                            const std::function<void(FileSystem&)>& act,
                            const std::function<void()>& check) {
    for (size_t index = 0;; ++index) {
      for (const Entry& entry : fs_.list(root())) fs_.remove_tree(root() / entry.name);
      prepare();
      FaultyFileSystem faulty;
      faulty.fail_at(index, code);
      try {
        act(faulty);
      } catch (const IoError& error) {
        EXPECT_EQ(error.code(), code);
      }
      SCOPED_TRACE("failure at step " + std::to_string(index));
      check();
      if (!faulty.has_failed()) return index;
      expect_no_repeated_sync(faulty.events());
    }
  }

  /// Between two fsyncs of one file it must have been written anew.
  static void expect_no_repeated_sync(const std::vector<Event>& events) {
    std::map<std::string, bool> is_synced;
    for (const Event& event : events) {
      if (event.step == Step::kCreateFile) is_synced[event.name] = false;
      if (event.step != Step::kSyncFile) continue;
      EXPECT_FALSE(is_synced[event.name]) << event.name;
      is_synced[event.name] = true;
    }
  }

  void start_job(const std::string& id) {
    Queue queue(fs_, root());
    add_job(id);
    ASSERT_EQ(queue.claim(), id);
    write(queue.active_path(id) / kBundleFile, "bundle");
  }
};

TEST_F(DurabilityTest, AFileIsReplacedInTheRightOrder) {
  FaultyFileSystem recorder;
  replace_file(recorder, root() / "f", as_bytes("text"));
  const std::string directory = root().filename().string();
  EXPECT_EQ(recorder.events(), (std::vector<Event>{{Step::kCreateFile, "f.part"},
                                                   {Step::kWrite, "f.part"},
                                                   {Step::kSyncFile, "f.part"},
                                                   {Step::kRename, "f"},
                                                   {Step::kSyncDirectory, directory}}));
}

TEST_F(DurabilityTest, AMoveMakesBothDirectoriesDurable) {
  Queue queue(fs_, root());
  add_job("a");
  FaultyFileSystem recorder;
  EXPECT_EQ(move_no_replace(recorder, at(Place::kIncoming) / "a", at(Place::kActive) / "a"),
            FileSystem::Moved::kYes);
  EXPECT_EQ(recorder.events(), (std::vector<Event>{{Step::kRename, "a"},
                                                   {Step::kSyncDirectory, "active"},
                                                   {Step::kSyncDirectory, "incoming"}}));
}

TEST_F(DurabilityTest, MovesNeverReplaceAndTellWhy) {
  Queue queue(fs_, root());
  add_job("a");
  add_job("a", "other", Place::kActive);
  EXPECT_EQ(move_no_replace(fs_, at(Place::kIncoming) / "a", at(Place::kActive) / "a"),
            FileSystem::Moved::kTargetExists);
  EXPECT_EQ(read(at(Place::kActive) / "a" / kJobFile), "other");
  EXPECT_EQ(move_no_replace(fs_, at(Place::kIncoming) / "b", at(Place::kActive) / "b"),
            FileSystem::Moved::kSourceGone);
}

TEST_F(DurabilityTest, AFailedReplacementLeavesTheOldFile) {
  for (size_t index = 0; index < 4; ++index) {
    write(root() / "f", "old");
    FaultyFileSystem faulty;
    faulty.fail_at(index, EIO);
    EXPECT_THROW(replace_file(faulty, root() / "f", as_bytes("new")), IoError);
    EXPECT_EQ(read(root() / "f"), "old") << index;
    EXPECT_EQ(fs_.list(root()).size(), 1u) << "the temporary file is gone";
  }
}

TEST_F(DurabilityTest, DiskFullIsToldFromOtherErrors) {
  EXPECT_TRUE(IoError("write", "f", ENOSPC).is_disk_full());
  EXPECT_TRUE(IoError("write", "f", EDQUOT).is_disk_full());
  EXPECT_FALSE(IoError("write", "f", EIO).is_disk_full());
  EXPECT_EQ(std::string(IoError("write", "/q/f", ENOSPC).what()),
            "cannot write '/q/f': No space left on device");
}

TEST_F(DurabilityTest, IntakeAndClaimLoseNothingAtAnyStep) {
  for (const int code : {ENOSPC, EIO}) {
    const size_t steps = fail_at_every_step(
        code,
        [&] {
          write(at(Place::kIncoming) / "p.elf", "elf");
          write(at(Place::kIncoming) / "p.input", "input");
        },
        [&](FileSystem& faulty) {
          Queue queue(faulty, root());
          queue.claim();
        },
        [&] {
          Queue queue(fs_, root());
          const auto claimed = queue.claim();
          const auto active = queue.active();
          ASSERT_EQ(active.size(), 1u) << "lost, or doubled";
          EXPECT_EQ(claimed.value_or("p"), "p");
          EXPECT_EQ(read(queue.active_path("p") / kProgramFile), "elf");
          EXPECT_EQ(read(queue.active_path("p") / kInputFile), "input");
          EXPECT_EQ(queue.claim(), std::nullopt);
        });
    EXPECT_GT(steps, 20u);
  }
}

TEST_F(DurabilityTest, PublishingIsOnceAndWholeAtAnyStep) {
  for (const int code : {ENOSPC, EIO}) {
    const size_t steps = fail_at_every_step(
        code, [&] { start_job("a"); },
        [&](FileSystem& faulty) {
          Queue queue(fs_, root());
          publish_done(queue, faulty, "a", {{"cycles", 1}});
        },
        [&] {
          Queue queue(fs_, root());
          for (const WaitingJob& job : queue.active()) {
            if (!finish_interrupted(queue, fs_, job.id)) {
              publish_done(queue, fs_, job.id, {{"cycles", 1}});
            }
          }
          EXPECT_EQ(places_of("a"), std::vector<std::string>{"done"});
          EXPECT_EQ(fs_.list(at(Place::kDone)).size(), 1u);
          EXPECT_EQ(read(at(Place::kDone) / "a" / kBundleFile), "bundle");
          EXPECT_FALSE(read(at(Place::kDone) / "a" / kResultFile).empty());
        });
    EXPECT_GT(steps, 10u);
  }
}

TEST_F(DurabilityTest, AFailedJobGoesWhereItWasGoing) {
  for (const Place place : {Place::kFailed, Place::kQuarantine}) {
    const JobError error(Reason::kIo, "disk on fire");
    fail_at_every_step(
        EIO, [&] { start_job("a"); },
        [&](FileSystem& faulty) {
          Queue queue(fs_, root());
          publish_failed(queue, faulty, "a", place, error, {3, 3, 0});
        },
        [&] {
          Queue queue(fs_, root());
          for (const WaitingJob& job : queue.active()) {
            if (!finish_interrupted(queue, fs_, job.id)) {
              publish_failed(queue, fs_, job.id, place, error, {3, 3, 0});
            }
          }
          EXPECT_EQ(places_of("a"),
                    std::vector<std::string>{std::string(kPlaceNames[static_cast<size_t>(place)])});
        });
  }
}

TEST_F(DurabilityTest, ASubmissionIsWholeOrAbsent) {
  const size_t steps = fail_at_every_step(
      ENOSPC,
      [&] {
        write(root().string() + "/q/tmp/keep", "");
        write(root() / "prog.elf", "elf");
        write(root() / "data", "input");
      },
      [&](FileSystem& faulty) {
        submit_job(faulty, root() / "q", {root() / "prog.elf", root() / "data", {}});
      },
      [&] {
        std::filesystem::create_directories(root() / "q/incoming");
        for (const Entry& entry : fs_.list(root() / "q/incoming")) {
          const Path job = root() / "q/incoming" / entry.name;
          EXPECT_EQ(read(job / kProgramFile), "elf");
          EXPECT_EQ(read(job / kInputFile), "input");
          EXPECT_EQ(read(job / kJobFile), "priority: 0\n");
        }
      });
  EXPECT_GT(steps, 15u);
}

TEST_F(DurabilityTest, AttemptsAreDurableBeforeWorkAndNeverGoBack) {
  for (const int code : {ENOSPC, EIO}) {
    fail_at_every_step(
        code,
        [&] {
          start_job("a");
          begin_attempt(fs_, at(Place::kActive) / "a");
          end_attempt_failed(fs_, at(Place::kActive) / "a");
        },
        [&](FileSystem& faulty) { begin_attempt(faulty, at(Place::kActive) / "a"); },
        [&] {
          const Attempts attempts = read_attempts(fs_, at(Place::kActive) / "a");
          EXPECT_GE(attempts.attempt, 1u);
          EXPECT_EQ(attempts.failures, 1u);
          EXPECT_LE(attempts.crashes, 1u);
          if (attempts.attempt == 1) {
            EXPECT_EQ(attempts.crashes, 0u) << "work had not begun";
          }
        });
  }
}

TEST_F(DurabilityTest, ACrashIsCountedOnceAndAStopNotAtAll) {
  start_job("a");
  const Path job = at(Place::kActive) / "a";
  EXPECT_EQ(begin_attempt(fs_, job), (Attempts{1, 0, 0}));
  EXPECT_EQ(read_attempts(fs_, job), (Attempts{1, 0, 1})) << "still running, so it crashed";
  EXPECT_EQ(begin_attempt(fs_, job), (Attempts{2, 0, 1}));
  end_attempt(fs_, job);
  EXPECT_EQ(begin_attempt(fs_, job), (Attempts{3, 0, 1})) << "a stop is not charged";
  EXPECT_EQ(end_attempt_failed(fs_, job), (Attempts{3, 1, 1}));
  EXPECT_EQ(begin_attempt(fs_, job), (Attempts{4, 1, 1}));
}

TEST_F(DurabilityTest, BudgetsAreSeparate) {
  const RetrySettings budget{2, 3, 0};
  EXPECT_FALSE(is_exhausted({5, 2, 3}, budget));
  EXPECT_TRUE(is_exhausted({5, 3, 0}, budget));
  EXPECT_TRUE(is_exhausted({5, 0, 4}, budget));
}

TEST_F(DurabilityTest, DamagedAttemptsCountAnew) {
  start_job("a");
  const Path job = at(Place::kActive) / "a";
  write(job / kAttemptsFile, "{\"attempt\": -1, \"failures\": ");
  EXPECT_EQ(begin_attempt(fs_, job), (Attempts{1, 0, 0}));
}

}  // namespace
}  // namespace epochd
