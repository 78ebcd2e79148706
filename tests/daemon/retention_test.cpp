// Finished jobs are removed by age and by size, and nothing else is.
#include "daemon/queue/retention.hpp"

#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

constexpr i64 kDay = 24 * 3600;
constexpr i64 kNow = 2'000'000'000;

class RetentionTest : public QueueTest {
 protected:
  RetentionTest() { complete_queue_directories(fs_, root()); }

  /// A job of so many bytes that ended so many days ago.
  void add_ended(Place place, const std::string& id, i64 days_ago, size_t bytes = 100) {
    const std::string_view answer = place == Place::kDone ? kResultFile : kReasonFile;
    write(at(place) / id / kProgramFile, std::string(bytes - 2, 'x'));
    write(at(place) / id / answer, "{}");
    const auto since_1970 = std::chrono::seconds(kNow - days_ago * kDay);
    std::filesystem::last_write_time(
        at(place) / id / answer,
        std::chrono::file_clock::from_sys(std::chrono::sys_time<std::chrono::seconds>(since_1970)));
  }
  std::vector<std::string> ids_in(Place place) {
    std::vector<std::string> ids;
    for (const Entry& entry : fs_.list(at(place))) ids.push_back(entry.name);
    return ids;
  }
  Expired apply(Place place, const RetentionLimits& limits) {
    return apply_retention(fs_, root(), place, limits, kNow);
  }
  using Ids = std::vector<std::string>;
};

TEST_F(RetentionTest, WithoutLimitsEverythingStays) {
  add_ended(Place::kDone, "old", 10'000);
  EXPECT_EQ(apply(Place::kDone, {}).jobs, 0u);
  EXPECT_EQ(ids_in(Place::kDone), Ids{"old"});
}

TEST_F(RetentionTest, ByAge) {
  add_ended(Place::kFailed, "a", 8);
  add_ended(Place::kFailed, "b", 6);
  add_ended(Place::kDone, "c", 8);
  const Expired expired = apply(Place::kFailed, {7, 0});
  EXPECT_EQ(expired.jobs, 1u);
  EXPECT_EQ(expired.bytes, 100u);
  EXPECT_EQ(ids_in(Place::kFailed), Ids{"b"});
  EXPECT_EQ(ids_in(Place::kDone), Ids{"c"}) << "another place";
  EXPECT_TRUE(fs_.list(root() / kTmpName).empty());
}

TEST_F(RetentionTest, BySizeTheOldestGoFirstAndTheNewestStays) {
  add_ended(Place::kDone, "c", 1, 300);
  add_ended(Place::kDone, "a", 3, 300);
  add_ended(Place::kDone, "b", 2, 300);
  EXPECT_EQ(apply(Place::kDone, {0, 900}).jobs, 0u);
  EXPECT_EQ(apply(Place::kDone, {0, 899}).jobs, 1u);
  EXPECT_EQ(ids_in(Place::kDone), (Ids{"b", "c"}));
  EXPECT_EQ(apply(Place::kDone, {0, 1}).bytes, 300u);
  EXPECT_EQ(ids_in(Place::kDone), Ids{"c"}) << "its owner must be able to collect it";
}

TEST_F(RetentionTest, WhatHasNotEndedIsNeverTouched) {
  add_ended(Place::kDone, "ended", 100);
  write(at(Place::kDone) / "no-answer" / kProgramFile, "x");
  write(at(Place::kDone) / "somebody's file", "x");
  for (const Place place : {Place::kIncoming, Place::kHold, Place::kActive, Place::kQuarantine,
                            Place::kCancelled, Place::kFailed}) {
    add_ended(place, "job", 100);
  }
  EXPECT_EQ(apply(Place::kDone, {1, 1}).jobs, 1u);
  EXPECT_EQ(ids_in(Place::kDone), (Ids{"no-answer", "somebody's file"}));
  EXPECT_EQ(places_of("job").size(), 6u);
}

TEST_F(RetentionTest, ACrashInTheMiddleLeavesTheJobWholeOrGone) {
  // Every changing step fails once: the job is whole where it was, or gone from there.
  for (size_t step = 0;; ++step) {
    FaultyFileSystem faulty;
    add_ended(Place::kDone, "job", 100);
    faulty.fail_at(step, EIO);
    try {
      apply_retention(faulty, root(), Place::kDone, {1, 0}, kNow);
    } catch (const IoError&) {
    }
    if (fs_.exists(at(Place::kDone) / "job")) {
      EXPECT_TRUE(fs_.exists(at(Place::kDone) / "job" / kProgramFile)) << step;
      EXPECT_TRUE(fs_.exists(at(Place::kDone) / "job" / kResultFile)) << step;
    }
    if (!faulty.has_failed()) break;
    finish_interrupted_removals(fs_, root());
    EXPECT_TRUE(fs_.list(root() / kTmpName).empty()) << step;
    ASSERT_LT(step, 50u);
  }
  EXPECT_TRUE(ids_in(Place::kDone).empty());
}

TEST_F(RetentionTest, TheSubmittersFilesInTmpStay) {
  write(root() / kTmpName / "being-built" / kProgramFile, "x");
  write(root() / kTmpName / ".expired-job" / kProgramFile, "x");
  finish_interrupted_removals(fs_, root());
  EXPECT_TRUE(fs_.exists(root() / kTmpName / "being-built" / kProgramFile));
  EXPECT_FALSE(fs_.exists(root() / kTmpName / ".expired-job"));
}

}  // namespace
}  // namespace epochd
