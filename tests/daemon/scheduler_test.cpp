// Who has a lane and who proves, in virtual time: the bounds that the scheduler's header states.
#include "daemon/pipeline/scheduler.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace epochd {
namespace {

class VirtualClock : public Clock {
 public:
  double seconds() const override { return now_s; }
  double now_s = 1000;
};

class SchedulerTest : public ::testing::Test {
 protected:
  static constexpr double kAgeing_s = 60;

  SchedulerTest() { scheduler_.set_ageing(kAgeing_s); }

  WaitingJob job(const std::string& id, i32 priority) { return {id, priority, ++came_}; }
  std::unique_ptr<JobTurn> begin(const std::string& id, i32 priority) {
    return begin(job(id, priority));
  }
  std::unique_ptr<JobTurn> begin(const WaitingJob& one) {
    scheduler_.begin(one);
    return std::make_unique<JobTurn>(scheduler_, one.id);
  }
  std::vector<std::string> order() {
    std::vector<std::string> ids;
    while (const auto next = scheduler_.next()) ids.push_back(next->id);
    return ids;
  }

  VirtualClock clock_;
  Scheduler scheduler_{clock_};
  i64 came_ = 0;
};

TEST_F(SchedulerTest, ByPriorityThenAge) {
  const WaitingJob a = job("a", 0), b = job("b", 5), c = job("c", 0), d = job("d", 5);
  scheduler_.set_waiting({c, d, b, a});
  EXPECT_EQ(order(), (std::vector<std::string>{"b", "d", "a", "c"}));
  EXPECT_FALSE(scheduler_.is_anyone_waiting());
}

TEST_F(SchedulerTest, OneJobProvesAndTheNextIsTold) {
  const auto a = begin("a", 0), b = begin("b", 0), c = begin("c", 0);
  EXPECT_TRUE(a->try_take());
  EXPECT_TRUE(a->try_take()) << "it has it";
  int told_b = 0, told_c = 0;
  b->on_turn([&] { ++told_b; });
  c->on_turn([&] { ++told_c; });
  EXPECT_FALSE(c->try_take());
  EXPECT_FALSE(b->try_take());
  EXPECT_TRUE(b->is_waiting());
  clock_.now_s += 7;
  a->give_back();
  EXPECT_EQ(told_b, 1) << "the older one, though it asked later";
  EXPECT_EQ(told_c, 0);
  EXPECT_TRUE(b->try_take());
  EXPECT_FALSE(b->is_waiting());
  EXPECT_EQ(b->waited_s(), 7);
  clock_.now_s += 3;
  EXPECT_EQ(b->waited_s(), 7) << "that was no waiting";
  EXPECT_EQ(c->waited_s(), 10);
  b->give_back();
  EXPECT_TRUE(c->try_take());
}

TEST_F(SchedulerTest, EqualPriorityIsFirstComeFirstServedForEver) {
  const auto a = begin("a", 0), b = begin("b", 0);
  ASSERT_TRUE(a->try_take());
  EXPECT_FALSE(b->try_take());
  a->advanced();
  clock_.now_s += 1e9;
  EXPECT_FALSE(a->is_wanted());
}

TEST_F(SchedulerTest, AHigherPriorityWantsTheTurnAfterOneEpoch) {
  const auto low = begin("low", 0);
  ASSERT_TRUE(low->try_take());
  const auto high = begin("high", 1);
  EXPECT_FALSE(high->try_take());
  EXPECT_FALSE(low->is_wanted()) << "it has had nothing of its turn yet";
  low->advanced();
  EXPECT_TRUE(low->is_wanted());
  low->give_back();
  EXPECT_TRUE(high->try_take());
  EXPECT_FALSE(low->try_take());
  high->advanced();
  EXPECT_FALSE(high->is_wanted());
}

TEST_F(SchedulerTest, WhoLeavesTheLineOrEndsLetsTheNextOneIn) {
  auto a = begin("a", 0), b = begin("b", 0), c = begin("c", 0);
  ASSERT_TRUE(a->try_take());
  EXPECT_FALSE(b->try_take());
  EXPECT_FALSE(c->try_take());
  b.reset();  // cancelled while it waited
  a.reset();
  scheduler_.end("a");
  EXPECT_TRUE(c->try_take());
}

// The bound: a class waits at most ageing x (highest priority - its own), and one epoch.
TEST_F(SchedulerTest, AnEndlessStreamOfHigherOnesDoesNotStarveALowOne) {
  constexpr i32 kHigh = 10;
  constexpr double kEpoch_s = 7;
  constexpr double kBound_s = kAgeing_s * kHigh + kEpoch_s;
  const auto low = begin("low", 0);
  double waiting_since_s = clock_.now_s;
  std::deque<std::unique_ptr<JobTurn>> high;
  u64 turns_of_low = 0;
  double high_waited_max_s = 0;
  low->try_take();
  low->give_back();
  high.push_back(begin("h0", kHigh));
  ASSERT_TRUE(high.front()->try_take());
  low->try_take();
  for (int epoch = 0; epoch < 2000; ++epoch) {
    clock_.now_s += kEpoch_s;
    if (low->try_take()) {
      ++turns_of_low;
      EXPECT_LE(clock_.now_s - waiting_since_s, kBound_s + kEpoch_s) << turns_of_low;
      low->advanced();
      ASSERT_TRUE(low->is_wanted()) << "it goes back to the line after one epoch";
      const double before_s = high.front()->waited_s();
      low->give_back();
      low->try_take();
      waiting_since_s = clock_.now_s;
      high_waited_max_s = std::max(high_waited_max_s, before_s);
      ASSERT_TRUE(high.front()->try_take());
      continue;
    }
    high.front()->advanced();
    if (high.front()->is_wanted()) {
      high.front()->give_back();
      high.front()->try_take();
    } else if (epoch % 5 == 0) {
      // Done; there is always another one.
      const std::string id = "h" + std::to_string(epoch + 1);
      high.push_back(begin(id, kHigh));
      high.back()->try_take();
      high.pop_front();
      ASSERT_TRUE(high.front()->try_take());
    }
  }
  const double turns = 2000 * kEpoch_s / kBound_s;
  EXPECT_GE(turns_of_low, static_cast<u64>(turns) - 2);
  EXPECT_LE(turns_of_low, static_cast<u64>(turns) + 2) << "and no more than its share";
  EXPECT_LE(high_waited_max_s, turns * (kEpoch_s + 1));
}

TEST_F(SchedulerTest, TheLowestOfTheLanesMakesRoom) {
  const auto a = begin("a", 3), b = begin("b", 1), c = begin("c", 1);
  const WaitingJob equal = job("equal", 1), high = job("high", 2);
  scheduler_.ask_for_lane(equal);
  EXPECT_FALSE(c->must_leave()) << "it would not come before";
  scheduler_.ask_for_lane(high);
  EXPECT_FALSE(a->must_leave());
  EXPECT_FALSE(b->must_leave());
  EXPECT_TRUE(c->must_leave()) << "the younger of the lowest";
  scheduler_.ask_for_lane(high);
  EXPECT_FALSE(b->must_leave()) << "one at a time";
  scheduler_.end("c");
  scheduler_.ask_for_lane(high);
  EXPECT_TRUE(b->must_leave());
}

TEST_F(SchedulerTest, AJobMakesSomethingOfItsTurnBeforeItLeaves) {
  const auto low = begin("low", 0);
  ASSERT_TRUE(low->try_take());
  scheduler_.ask_for_lane(job("high", 1));
  EXPECT_FALSE(low->must_leave());
  low->advanced();
  EXPECT_TRUE(low->must_leave());
}

TEST_F(SchedulerTest, WhoAssemblesKeepsItsLane) {
  const auto low = begin("low", 0), middle = begin("middle", 1);
  low->keep_lane();
  scheduler_.ask_for_lane(job("high", 2));
  EXPECT_FALSE(low->must_leave());
  EXPECT_TRUE(middle->must_leave());
}

TEST_F(SchedulerTest, ALaneIsWonByWaitingToo) {
  const auto a = begin("a", 10), b = begin("b", 10);
  ASSERT_TRUE(a->try_take());
  a->advanced();
  const WaitingJob low = job("low", 0);
  scheduler_.set_waiting({low});
  clock_.now_s += 10 * kAgeing_s - 1;
  scheduler_.ask_for_lane(low);
  EXPECT_FALSE(a->must_leave() || b->must_leave());
  clock_.now_s += 2;
  scheduler_.ask_for_lane(low);
  EXPECT_FALSE(a->must_leave());
  ASSERT_TRUE(b->must_leave());
  scheduler_.end("b");
  ASSERT_EQ(scheduler_.next()->id, "low");
  const auto turn = begin(low);
  EXPECT_FALSE(turn->try_take());
  EXPECT_TRUE(a->is_wanted());
  a->give_back();
  EXPECT_TRUE(turn->try_take());
}

TEST_F(SchedulerTest, WhoIsWaitedForCountsAsWhoWaits) {
  const auto first = begin("first", 0), middle = begin("middle", 5), twin = begin("twin", 9);
  ASSERT_TRUE(middle->try_take());
  EXPECT_FALSE(first->try_take());
  middle->advanced();
  EXPECT_FALSE(middle->is_wanted());
  scheduler_.lift("first", "twin");
  EXPECT_TRUE(middle->is_wanted());
}

TEST_F(SchedulerTest, AnUnknownJobHasALaneForAsLongAsItAsks) {
  {
    JobTurn turn(scheduler_, "nobody");
    EXPECT_TRUE(turn.try_take());
  }
  const auto a = begin("a", 0);
  EXPECT_TRUE(a->try_take());
}

}  // namespace
}  // namespace epochd
