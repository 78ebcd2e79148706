// Submit, cancel, retry, hold, release and status, without a daemon.
#include "daemon/queue/steer.hpp"

#include <sys/stat.h>

#include "config/config.hpp"
#include "daemon/queue/finish.hpp"
#include "daemon/queue/job_id.hpp"
#include "daemon/queue/owner.hpp"
#include "daemon/queue/status.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

using Outcome = Steered::Outcome;

class SteerTest : public QueueTest {
 protected:
  SteerTest() { complete_queue_directories(fs_, root()); }
  std::string state_of(const std::string& id) {
    const auto status = job_status(fs_, root(), id);
    return status ? status->state_text() : "nowhere";
  }
};

TEST_F(SteerTest, SubmitsAJobThatCanBeClaimed) {
  TemporaryDirectory source;
  write(source.path() / "fib.elf", "elf");
  write(source.path() / "n", "input");
  SubmitRequest request{source.path() / "fib.elf", source.path() / "n", {}};
  request.spec.priority = 3;
  request.spec.protocol.epoch_size_log2 = 9;
  const std::string id = submit_job(fs_, root(), request);
  EXPECT_TRUE(is_job_id(id));
  EXPECT_EQ(id.substr(0, 4), "fib-");
  Queue queue(fs_, root());
  EXPECT_EQ(queue.claim(), id);
  const Path job = queue.active_path(id);
  EXPECT_EQ(read(job / kProgramFile), "elf");
  EXPECT_EQ(read(job / kInputFile), "input");
  EXPECT_EQ(*parse_job("job.yaml", read(job / kJobFile)), request.spec);
  EXPECT_TRUE(fs_.list(root() / kTmpName).empty());
}

TEST_F(SteerTest, SubmitWantsAQueue) {
  TemporaryDirectory other;
  write(other.path() / "fib.elf", "elf");
  const SubmitRequest request{other.path() / "fib.elf", std::nullopt, {}};
  EXPECT_THROW(submit_job(fs_, other.path(), request), NotAQueue);
  EXPECT_THROW(submit_job(fs_, other.path() / "nowhere", request), NotAQueue);
  std::filesystem::create_directory(other.path() / "empty");
  EXPECT_NO_THROW(submit_job(fs_, other.path() / "empty", request));
}

/// Nobody's, on every Debian.
constexpr ::uid_t kSomebody = 65534;

TEST_F(SteerTest, RootActsAsTheQueuesOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  TemporaryDirectory source;  // which only root may enter
  write(source.path() / "fib.elf", "elf");
  write(source.path() / "n", "input");
  const Path owned = root() / "owned";
  std::filesystem::create_directory(owned);
  ASSERT_EQ(::chmod(root().c_str(), 0755), 0);
  ASSERT_EQ(::chown(owned.c_str(), kSomebody, kSomebody), 0);
  const std::string id =
      submit_job(fs_, owned, {source.path() / "fib.elf", source.path() / "n", {}});
  EXPECT_EQ(::geteuid(), 0u) << "only for that long";
  EXPECT_EQ(::getegid(), 0u);
  const Path job = place_path(owned, Place::kIncoming) / id;
  EXPECT_EQ(read(job / kInputFile), "input");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(owned)) {
    struct ::stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, kSomebody) << entry.path();
    EXPECT_EQ(status.st_gid, kSomebody) << entry.path();
  }
  {
    const AsQueueOwner owner(owned);
    EXPECT_EQ(::geteuid(), kSomebody);
    EXPECT_THROW(fs_.list(source.path()), IoError) << "root's rights are put away";
  }
  EXPECT_FALSE(fs_.is_denied(source.path()));
  const AsQueueOwner owner(owned);
  EXPECT_TRUE(fs_.is_denied(source.path()));
  EXPECT_FALSE(fs_.is_denied(job));
  EXPECT_FALSE(fs_.is_denied(owned / "nothing"));
}

TEST_F(SteerTest, SubmitOfAMissingFileLeavesNothing) {
  EXPECT_THROW(submit_job(fs_, root(), {"/nowhere/fib.elf", std::nullopt, {}}), IoError);
  EXPECT_TRUE(fs_.list(root() / kTmpName).empty());
  EXPECT_TRUE(fs_.list(at(Place::kIncoming)).empty());
}

TEST_F(SteerTest, CancelIsIdempotentAndKnowsItsLimits) {
  add_job("a");
  EXPECT_EQ(cancel_job(fs_, root(), "a").outcome, Outcome::kDone);
  EXPECT_EQ(cancel_job(fs_, root(), "a").outcome, Outcome::kAlready);
  EXPECT_EQ(state_of("a"), "cancelled");
  add_job("h", "", Place::kHold);
  EXPECT_EQ(cancel_job(fs_, root(), "h").outcome, Outcome::kDone);
  add_job("r", "", Place::kActive);
  EXPECT_EQ(cancel_job(fs_, root(), "r").outcome, Outcome::kRequested);
  EXPECT_TRUE(fs_.exists(at(Place::kActive) / "r" / kCancelFile));
  add_job("d", "", Place::kDone);
  EXPECT_EQ(cancel_job(fs_, root(), "d").outcome, Outcome::kRefused);
  EXPECT_EQ(cancel_job(fs_, root(), "nobody").outcome, Outcome::kUnknown);
  EXPECT_EQ(cancel_job(fs_, root(), "../done").outcome, Outcome::kUnknown);
}

TEST_F(SteerTest, RetryQueuesAFailedJobWithAFreshBudget) {
  add_job("a", "", Place::kActive);
  {
    Queue queue(fs_, root());
    begin_attempt(fs_, queue.active_path("a"));
    write(queue.active_path("a") / kEpochsName / "1", "epoch");
    publish_failed(queue, fs_, "a", Place::kQuarantine, JobError(Reason::kIo, "sad"), {1, 1, 0});
  }
  EXPECT_EQ(state_of("a"), "quarantined(io)");
  EXPECT_EQ(retry_job(fs_, root(), "a").outcome, Outcome::kDone);
  EXPECT_EQ(state_of("a"), "queued");
  EXPECT_EQ(retry_job(fs_, root(), "a").outcome, Outcome::kAlready);
  EXPECT_FALSE(fs_.exists(at(Place::kIncoming) / "a" / kReasonFile));
  EXPECT_TRUE(fs_.exists(at(Place::kIncoming) / "a" / kEpochsName / "1")) << "kept to go on from";
  add_job("d", "", Place::kDone);
  EXPECT_EQ(retry_job(fs_, root(), "d").outcome, Outcome::kRefused);
}

TEST_F(SteerTest, HoldAndRelease) {
  add_job("a");
  EXPECT_EQ(hold_job(fs_, root(), "a").outcome, Outcome::kDone);
  EXPECT_EQ(hold_job(fs_, root(), "a").outcome, Outcome::kAlready);
  EXPECT_EQ(state_of("a"), "held");
  EXPECT_EQ(retry_job(fs_, root(), "a").outcome, Outcome::kRefused);
  Queue queue(fs_, root());
  EXPECT_EQ(queue.claim(), std::nullopt);
  EXPECT_EQ(release_job(fs_, root(), "a").outcome, Outcome::kDone);
  EXPECT_EQ(release_job(fs_, root(), "a").outcome, Outcome::kAlready);
  EXPECT_EQ(queue.claim(), "a");
  EXPECT_EQ(hold_job(fs_, root(), "a").outcome, Outcome::kRefused);
}

TEST_F(SteerTest, MovesDoNotReplaceAnotherJobOfThatName) {
  add_job("a");
  add_job("a", "", Place::kHold);
  EXPECT_EQ(hold_job(fs_, root(), "a").outcome, Outcome::kRefused);
  EXPECT_EQ(places_of("a").size(), 2u);
}

TEST_F(SteerTest, StatusNamesEveryState) {
  add_job("q");
  add_job("c", "", Place::kActive);
  add_job("p", "", Place::kActive);
  write(at(Place::kActive) / "p" / kStateFile,
        R"({"state":"proving","epoch":3,"epochs":7,"attempt":2})");
  add_job("f", "", Place::kFailed);
  write(at(Place::kFailed) / "f" / kReasonFile,
        R"({"reason":"timeout","phase":"prove","message":"m"})");
  add_job("x", "", Place::kFailed);
  write(at(Place::kFailed) / "x" / kReasonFile, "damaged");
  write(at(Place::kIncoming) / "lone.elf", "elf");
  EXPECT_EQ(state_of("q"), "queued");
  EXPECT_EQ(state_of("c"), "claimed");
  EXPECT_EQ(state_of("p"), "proving(3/7)");
  EXPECT_EQ(state_of("f"), "failed(timeout(prove))");
  EXPECT_EQ(state_of("x"), "failed");
  EXPECT_EQ(state_of("nobody"), "nowhere");
  EXPECT_EQ(queue_status(fs_, root()).size(), 6u);
}

}  // namespace
}  // namespace epochd
