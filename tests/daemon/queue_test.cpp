// Intake, claim and publication on healthy disks.
#include "daemon/queue/queue.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "daemon/queue/finish.hpp"
#include "daemon/queue/job_id.hpp"
#include "daemon/queue/owner.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

std::vector<std::string> ids(const std::vector<WaitingJob>& jobs) {
  std::vector<std::string> names;
  for (const WaitingJob& job : jobs) names.push_back(job.id);
  return names;
}

void set_age(const Path& path, i64 seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(QueueTest, CompletesAnEmptyDirectory) {
  const Path root = this->root() / "deep" / "queue";
  Queue queue(fs_, root);
  for (const char* name :
       {"tmp", "incoming", "hold", "active", "done", "failed", "quarantine", "cancelled"}) {
    struct ::stat status {};
    ASSERT_EQ(::stat((root / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777, 0700u) << name;
  }
}

TEST_F(QueueTest, CompletesAHalfMadeDirectoryAndKeepsItsJobs) {
  add_job("a");
  Queue queue(fs_, root());
  EXPECT_EQ(ids(queue.waiting()), std::vector<std::string>{"a"});
  EXPECT_TRUE(std::filesystem::is_directory(at(Place::kQuarantine)));
}

TEST_F(QueueTest, RefusesAFileInPlaceOfADirectory) {
  write(at(Place::kDone), "not a directory");
  EXPECT_THROW(Queue(fs_, root()), IoError);
}

TEST_F(QueueTest, SecondDaemonIsRefusedAndTheLockEndsWithTheFirst) {
  {
    Queue first(fs_, root());
    EXPECT_TRUE(is_queue_served(root()));
    try {
      Queue second(fs_, root());
      FAIL() << "a second daemon was let in";
    } catch (const QueueBusy& busy) {
      const std::string expected = "the queue '" + root().string() +
                                   "' is already served by another epochd (pid " +
                                   std::to_string(::getpid()) + ")";
      EXPECT_EQ(std::string(busy.what()).substr(0, expected.size()), expected);
    }
  }
  EXPECT_FALSE(is_queue_served(root()));
  Queue third(fs_, root());
}

TEST_F(QueueTest, ALockFileThatWasLeftIsNoLock) {
  // Empty, as a full disk or a crash leaves it; of a process that lives; and no text at all.
  for (const std::string& text :
       {std::string(), "pid " + std::to_string(::getpid()), std::string(4096, '\0')}) {
    complete_queue_directories(fs_, root());
    write(root() / kLockName, text);
    EXPECT_FALSE(is_queue_served(root()));
    Queue queue(fs_, root());
    EXPECT_TRUE(is_queue_served(root()));
    EXPECT_THROW(Queue(fs_, root()), QueueBusy);
  }
}

TEST_F(QueueTest, ClaimsByPriorityThenAgeThenName) {
  add_job("old", "priority: 0");
  add_job("young", "priority: 0");
  add_job("urgent", "priority: 5");
  add_job("idle", "priority: -5");
  add_job("broken", "priority: many");
  add_job("b-same-age", "");
  for (const char* id : {"urgent", "young", "broken"}) set_age(at(Place::kIncoming) / id, 2000);
  for (const char* id : {"old", "idle"}) set_age(at(Place::kIncoming) / id, 1000);
  set_age(at(Place::kIncoming) / "b-same-age", 2000);
  Queue queue(fs_, root());
  std::vector<std::string> claimed;
  while (const auto id = queue.claim()) claimed.push_back(*id);
  EXPECT_EQ(claimed,
            (std::vector<std::string>{"urgent", "old", "b-same-age", "broken", "young", "idle"}));
  EXPECT_EQ(places_of("old"), std::vector<std::string>{"active"});
  EXPECT_EQ(queue.active().size(), 6u);
}

TEST_F(QueueTest, AJobReplacedUnderItsNameIsReadAgain) {
  Queue queue(fs_, root());
  add_job("a", "priority: 1");
  EXPECT_EQ(queue.waiting().at(0).priority, 1);
  // Renamed away and a new directory of that name renamed in; the old one keeps its inode.
  std::filesystem::rename(at(Place::kIncoming) / "a", at(Place::kHold) / "a");
  add_job("a", "priority: 2");
  EXPECT_EQ(queue.waiting().at(0).priority, 2);
}

TEST_F(QueueTest, TakesInALoneProgramWithItsInput) {
  Queue queue(fs_, root());
  write(at(Place::kIncoming) / "my prog.input", "input bytes");
  write(at(Place::kIncoming) / "my prog.elf", "elf bytes");
  EXPECT_EQ(ids(queue.waiting()), std::vector<std::string>{"my_prog"});
  const Path job = at(Place::kIncoming) / "my_prog";
  EXPECT_EQ(read(job / kProgramFile), "elf bytes");
  EXPECT_EQ(read(job / kInputFile), "input bytes");
  EXPECT_EQ(read(job / kJobFile), "name: \"my_prog\"\npriority: 0\n");
  EXPECT_TRUE(fs_.list(root() / kTmpName).empty());
}

TEST_F(QueueTest, AnInputWithoutItsProgramWaits) {
  Queue queue(fs_, root());
  write(at(Place::kIncoming) / "p.input", "input");
  EXPECT_TRUE(queue.waiting().empty());
  EXPECT_TRUE(fs_.exists(at(Place::kIncoming) / "p.input"));
}

TEST_F(QueueTest, LoneProgramsOfOneNameAreJobsOfTheirOwn) {
  Queue queue(fs_, root());
  write(at(Place::kIncoming) / "p.elf", "first");
  EXPECT_EQ(queue.claim(), "p");
  write(at(Place::kIncoming) / "p.elf", "second");
  EXPECT_EQ(queue.claim(), "p-2");
  EXPECT_EQ(read(queue.active_path("p-2") / kProgramFile), "second");
}

TEST_F(QueueTest, NeverTakesAFileThatIsStillBeingCopied) {
  Queue queue(fs_, root());
  const Path path = at(Place::kIncoming) / "slow.elf";
  FileHandle writer = fs_.create_file(path);
  fs_.write(writer, path, as_bytes("half"));
  EXPECT_TRUE(queue.waiting().empty());
  add_job("dir");
  FileHandle second = FileHandle(
      ::open((at(Place::kIncoming) / "dir" / kProgramFile).c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(queue.claim(), std::nullopt);
  writer = FileHandle();
  second = FileHandle();
  EXPECT_EQ(queue.waiting().size(), 2u);
  EXPECT_TRUE(queue.claim());
}

TEST_F(QueueTest, IgnoresWhatIsNoJob) {
  Queue queue(fs_, root());
  write(at(Place::kIncoming) / "notes.txt", "?");
  write(at(Place::kIncoming) / ".hidden.elf", "?");
  write(at(Place::kIncoming) / ".hidden" / "x", "?");
  std::filesystem::create_symlink("/etc", at(Place::kIncoming) / "link");
  EXPECT_TRUE(queue.waiting().empty());
}

TEST_F(QueueTest, AJobOfAnotherUserKeepsNobodyWaiting) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  constexpr ::uid_t kSomebody = 65534;
  ASSERT_EQ(::chown(root().c_str(), kSomebody, kSomebody), 0);
  {
    const AsQueueOwner owner(root());
    complete_queue_directories(fs_, root());
  }
  add_job("foreign", "priority: 9\n");
  const AsQueueOwner owner(root());
  add_job("own");
  Queue queue(fs_, root());
  EXPECT_EQ(queue.waiting().front().id, "foreign");
  EXPECT_EQ(queue.claim(), "own");
  EXPECT_EQ(queue.claim(), std::nullopt);
  EXPECT_EQ(places_of("foreign"), std::vector<std::string>{"incoming"});
}

TEST_F(QueueTest, AClaimedJobGetsANewNameWhenTheOldOneIsTaken) {
  Queue queue(fs_, root());
  add_job("a", "", Place::kDone);
  add_job("a");
  EXPECT_EQ(queue.claim(), "a-2");
}

TEST_F(QueueTest, OnlyTheDaemonWritesAnswers) {
  Queue queue(fs_, root());
  add_job("a");
  for (const std::string_view name : {kResultFile, kReasonFile, kBundleFile, kAttemptsFile,
                                      kRunningFile, kCancelFile, kStateFile}) {
    write(at(Place::kIncoming) / "a" / name, "{}");
  }
  EXPECT_EQ(queue.claim(), "a");
  EXPECT_FALSE(finish_interrupted(queue, fs_, "a"));
  EXPECT_EQ(fs_.list(queue.active_path("a")).size(), 2u) << "job.yaml and program.elf";
}

TEST_F(QueueTest, PublishesTheAnswerAndDropsWorkingFiles) {
  Queue queue(fs_, root());
  add_job("a");
  ASSERT_EQ(queue.claim(), "a");
  begin_attempt(fs_, queue.active_path("a"));
  write(queue.active_path("a") / kEpochsName / "1", "epoch");
  write(queue.active_path("a") / kStateFile, "{}");
  write(queue.active_path("a") / kBundleFile, "bundle");
  EXPECT_EQ(publish_done(queue, fs_, "a", {{"cycles", 7}}), "a");
  EXPECT_EQ(places_of("a"), std::vector<std::string>{"done"});
  std::vector<std::string> names;
  for (const Entry& entry : fs_.list(at(Place::kDone) / "a")) names.push_back(entry.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"bundle.proof", "job.yaml", "program.elf", "result.json"}));
  const auto result = nlohmann::json::parse(read(at(Place::kDone) / "a" / kResultFile));
  EXPECT_EQ(result["cycles"], 7);
}

TEST_F(QueueTest, PublishesUnderANewNameRatherThanReplace) {
  Queue queue(fs_, root());
  add_job("a");
  ASSERT_EQ(queue.claim(), "a");
  add_job("a", "", Place::kFailed);
  const JobError error(Reason::kTimeout, "too slow", "execute");
  EXPECT_EQ(publish_failed(queue, fs_, "a", Place::kFailed, error, {1, 0, 0}), "a-2");
  const auto reason = nlohmann::json::parse(read(at(Place::kFailed) / "a-2" / kReasonFile));
  EXPECT_EQ(reason["reason"], "timeout");
  EXPECT_EQ(reason["phase"], "execute");
  EXPECT_EQ(reason["message"], "too slow");
  EXPECT_EQ(reason["state"], "failed");
}

TEST(JobId, AcceptsNamesAndMendsOthers) {
  EXPECT_TRUE(is_job_id("fib-1.2_A"));
  for (const char* bad : {"", ".a", "..", "a/b", "a b", "a\n", "\xc3\xa9"}) {
    EXPECT_FALSE(is_job_id(bad)) << bad;
    EXPECT_TRUE(is_job_id(to_job_id(bad))) << bad;
  }
  EXPECT_FALSE(is_job_id(std::string(kJobIdBytesMax + 1, 'a')));
  EXPECT_EQ(to_job_id("a b/c"), "a_b_c");
  const std::string longest(kJobIdBytesMax, 'a');
  EXPECT_EQ(to_alternative_id(longest, 2), std::string(kJobIdBytesMax - 2, 'a') + "-2");
}

}  // namespace
}  // namespace epochd
