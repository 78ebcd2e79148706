// Schedules, sessions in a made-up world, metrics from what commands print, rules, verdicts.
#include "bench/abba/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/abba/report.hpp"
#include "bench/abba/served.hpp"

namespace epochd::abba {
namespace {

TEST(AbbaSchedule, IsBalancedShuffledAndItsSeeds) {
  std::set<std::vector<Order>> seen;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    for (const int blocks : {2, 5, 10, 11}) {
      const std::vector<Order> schedule = make_schedule(blocks, seed);
      ASSERT_EQ(schedule.size(), static_cast<size_t>(blocks));
      const auto abba = std::count(schedule.begin(), schedule.end(), Order::kAbba);
      EXPECT_LE(std::abs(blocks - 2 * static_cast<int>(abba)), blocks % 2);
      EXPECT_EQ(schedule, make_schedule(blocks, seed));
      if (blocks == 10) seen.insert(schedule);
    }
  }
  EXPECT_GT(seen.size(), 35u) << "of 252 orders";
}

/// Runs cost nothing; A's and B's values and the conditions come from the test.
struct FakeWorld {
  SessionWorld world;
  std::string commands;
  int blocks_seen = 0;
  std::vector<int> bad_blocks;  ///< numbers of blocks in which pages are swapped
  uint64_t swapped = 0;
  double now = 0;

  FakeWorld() {
    world.seconds = [this] { return now += 1; };
    world.run = [this](const std::string& command, double) {
      commands += command;
      const std::string value = command == "a" ? "2" : "4";
      return ProcessResult{0, 0.5, "{\"prove_seconds\": " + value + "}\n", ""};
    };
    world.conditions = [this, reads = 0]() mutable {
      // Read before and after every block.
      const bool is_after = reads++ % 2 == 1;
      const int block = (reads - 1) / 2;
      if (is_after && std::count(bad_blocks.begin(), bad_blocks.end(), block) != 0) ++swapped;
      Conditions conditions;
      conditions.swapped_pages = swapped;
      return conditions;
    };
    world.on_block = [this](const Block&) { ++blocks_seen; };
  }
};

SessionOptions options(int blocks, int warmup) {
  SessionOptions out;
  out.command_a = "a";
  out.command_b = "b";
  out.blocks = blocks;
  out.warmup = warmup;
  out.seed = 11;
  return out;
}

TEST(AbbaSession, RunsWarmUpThenTheSchedule) {
  FakeWorld fake;
  const std::vector<Block> blocks = run_session(options(6, 2), fake.world);
  ASSERT_EQ(blocks.size(), 8u);
  EXPECT_EQ(fake.blocks_seen, 8);
  std::string expected;
  const std::vector<Order> schedule = make_schedule(6, 11);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].number, static_cast<int>(i));
    EXPECT_EQ(blocks[i].is_warmup, i < 2);
    EXPECT_EQ(blocks[i].is_valid(), i >= 2);
    if (i >= 2) {
      EXPECT_EQ(blocks[i].order, schedule[i - 2]);
    }
    EXPECT_DOUBLE_EQ(log_ratio_of(blocks[i]), std::log(0.5));
    expected += blocks[i].order == Order::kAbba ? "abba" : "baab";
  }
  EXPECT_EQ(fake.commands, expected);
  EXPECT_LT(blocks[0].runs[0].started, blocks[7].runs[3].started);
}

TEST(AbbaSession, StruckOutBlocksAreRunAgainInTheirOrder) {
  FakeWorld fake;
  fake.bad_blocks = {1, 3};
  const std::vector<Block> blocks = run_session(options(6, 1), fake.world);
  ASSERT_EQ(blocks.size(), 9u);
  EXPECT_EQ(blocks[1].broken_rules, std::vector<std::string>{"1 pages swapped"});
  EXPECT_EQ(blocks[7].order, blocks[1].order);
  EXPECT_EQ(blocks[8].order, blocks[3].order);
  int valid = 0, abba = 0;
  for (const Block& block : blocks) {
    valid += block.is_valid();
    abba += block.is_valid() && block.order == Order::kAbba;
  }
  EXPECT_EQ(valid, 6);
  EXPECT_EQ(abba, 3);
}

TEST(AbbaSession, AMachineThatNeverQuietensEndsIt) {
  FakeWorld fake;
  for (int i = 0; i < 100; ++i) fake.bad_blocks.push_back(i);
  const std::vector<Block> blocks = run_session(options(4, 0), fake.world);
  EXPECT_EQ(blocks.size(), 8u);
  for (const Block& block : blocks) EXPECT_FALSE(block.is_valid());
}

TEST(AbbaSession, FailuresNameTheCommandAndItsWords) {
  FakeWorld fake;
  fake.world.run = [](const std::string&, double) {
    return ProcessResult{3, 0, "", "no device\n"};
  };
  try {
    run_session(options(2, 0), fake.world);
    FAIL() << "ran";
  } catch (const RunFailed& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("ended with 3"), std::string::npos) << text;
    EXPECT_NE(text.find("no device"), std::string::npos) << text;
  }
  fake.world.run = [](const std::string&, double) { return ProcessResult{0, 0, "{\"x\": 1}", ""}; };
  EXPECT_THROW(run_session(options(2, 0), fake.world), RunFailed);
}

// The control stands before each run, is given to that run's side, and is not taken from its JSON.
TEST(AbbaSession, AControlCommandRunsBeforeEveryRun) {
  FakeWorld fake;
  double seconds = 0;
  fake.world.run_control = [&](const std::string& command, double) {
    EXPECT_EQ(command, "c");
    fake.commands += command;
    seconds += 1;
    return ProcessResult{0, 0.25, "{\"execute_seconds\": " + std::to_string(seconds) + "}", ""};
  };
  SessionOptions controlled = options(2, 0);
  controlled.control_command = "c";
  const std::vector<Block> blocks = run_session(controlled, fake.world);
  const std::string abba = "cacbcbca";
  const std::string baab = "cbcacacb";
  EXPECT_TRUE(fake.commands == abba + baab || fake.commands == baab + abba) << fake.commands;
  EXPECT_EQ(blocks[0].runs[0].control, 1.0);
  EXPECT_EQ(blocks[0].runs[3].control, 4.0);
  EXPECT_TRUE(control_log_ratio_of(blocks[1]).has_value());

  controlled.control = "wall";
  EXPECT_EQ(run_session(controlled, fake.world)[1].runs[2].control, 0.25);
  controlled.control = "no such key";
  EXPECT_THROW(run_session(controlled, fake.world), RunFailed);
  fake.world.run_control = [](const std::string&, double) { return ProcessResult{2, 0, "", ""}; };
  EXPECT_THROW(run_session(controlled, fake.world), RunFailed);
}

TEST(AbbaSession, MetricsComeFromTheLastJsonObject) {
  EXPECT_EQ(metric_of("{\"prove_seconds\": 1.5}", "prove_seconds"), 1.5);
  EXPECT_EQ(metric_of("{\n \"prove_seconds\": 2,\n \"x\": 1\n}\n", "prove_seconds"), 2);
  EXPECT_EQ(metric_of("proving\n{\"t\": 1}\n{\"t\": 3}\nbye\n", "t"), 3);
  EXPECT_EQ(metric_of("{\"counters\": {\"rows\": 7}}", "counters.rows"), 7);
  for (const char* out : {"", "text", "[1]", "{\"t\": \"1\"}", "{\"t\": 0}", "{\"t\": -1}",
                          "{\"t\": null}", "{\"t\": {}}", "{\"u\": 1}", "{\"t\": 1"}) {
    EXPECT_FALSE(metric_of(out, "t")) << out;
  }
  EXPECT_FALSE(metric_of("{\"t\": 1}", "t.u"));
}

TEST(AbbaConditions, EveryRuleStrikesABlockOut) {
  Conditions quiet;
  quiet.swapped_pages = quiet.cpu_throttles = quiet.quota_throttles = 9;
  EXPECT_TRUE(broken_rules(quiet, quiet).empty());
  const auto broken = [&](const std::function<void(Conditions&)>& change) {
    Conditions after = quiet;
    change(after);
    return broken_rules(quiet, after);
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(broken([](Conditions& c) { c.swapped_pages += 2; }), List{"2 pages swapped"});
  EXPECT_EQ(broken([](Conditions& c) { c.cpu_throttles += 1; }),
            List{"1 thermal throttling events"});
  EXPECT_EQ(broken([](Conditions& c) { c.quota_throttles += 5; }),
            List{"5 periods without CPU quota"});
  EXPECT_EQ(broken([](Conditions& c) { c.gpu_slowdowns = 8; }), List{"the GPU throttled"});
  EXPECT_EQ(broken([](Conditions& c) { c.gpu_processes = 3; }), List{"3 other GPU processes"});
  Conditions served = quiet;
  served.gpu_processes = 2;
  EXPECT_TRUE(broken_rules(served, served, 2).empty()) << "both sides stay";
  served.gpu_processes = 3;
  EXPECT_EQ(broken_rules(quiet, served, 2), List{"1 other GPU processes"});
  Conditions before = quiet;
  before.gpu_slowdowns = 0x20;
  EXPECT_EQ(broken_rules(before, quiet).size(), 1u);
}

TEST(AbbaConditions, ReadsWhatThisMachineTells) {
  EXPECT_EQ(sum_of_keys("a 1\npswpin 5\nb x\npswpout 7\n", {"pswpin", "pswpout"}), 12u);
  const Conditions first = read_conditions();
  EXPECT_GE(read_conditions().swapped_pages, first.swapped_pages);
}

TEST(AbbaProcess, CollectsOutputCodeAndTime) {
  const ProcessResult result = run_shell("echo out; echo err >&2; sleep 0.05; exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_GE(result.wall_seconds, 0.05);
  EXPECT_EQ(run_shell("kill -9 $$").exit_code, -9);
  EXPECT_EQ(run_shell("head -c 300000 /dev/zero").out.size(), 300000u);
}

// Also what the command started: the shell's child holds the output open.
TEST(AbbaProcess, EndsWhatTakesTooLongAndItsChildren) {
  const ProcessResult late = run_shell("echo begun; sleep 60 & wait", 0.2);
  EXPECT_EQ(late.exit_code, kTimedOut);
  EXPECT_EQ(late.out, "begun\n");
  EXPECT_LT(late.wall_seconds, 30);
  const ProcessResult soon = run_shell("echo done", 30);
  EXPECT_EQ(soon.exit_code, 0);
  EXPECT_EQ(soon.out, "done\n");
}

TEST(AbbaServed, AnswersALineForALine) {
  ServedCommand server("n=0; while read line; do n=$((n + 1)); echo \"{\\\"n\\\": $n}\"; done");
  EXPECT_EQ(server.run(30).out, "{\"n\": 1}\n");
  const ProcessResult second = server.run(0);
  EXPECT_EQ(second.out, "{\"n\": 2}\n");
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_GT(second.wall_seconds, 0);
}

TEST(AbbaServed, TellsHowItEnded) {
  ServedCommand broken("read line; echo no device >&2; exit 3");
  const ProcessResult result = broken.run(30);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "no device\n");
  EXPECT_THROW(broken.run(30), std::runtime_error);
  EXPECT_EQ(ServedCommand("exit 0").run(30).exit_code, 1) << "it was asked for more";
  EXPECT_EQ(ServedCommand("read line; sleep 60").run(0.2).exit_code, kTimedOut);
}

Estimate estimate_of(double mean, double half, double wilcoxon_p = 0.01, int blocks = 10) {
  Estimate e;
  e.blocks = blocks;
  e.mean = mean;
  e.t = e.bootstrap = {mean - half, mean + half};
  e.wilcoxon_p = wilcoxon_p;
  e.deviation = half;
  return e;
}

TEST(AbbaVerdict, FollowsTheRules) {
  const Criteria criteria;
  EXPECT_EQ(verdict_of(estimate_of(-0.02, 0.005), criteria), Verdict::kImprovement);
  EXPECT_EQ(verdict_of(estimate_of(0.02, 0.005), criteria), Verdict::kRegression);
  EXPECT_EQ(verdict_of(estimate_of(0.001, 0.005), criteria), Verdict::kEquivalent);
  EXPECT_EQ(verdict_of(estimate_of(0.005, 0.004), criteria), Verdict::kEquivalent)
      << "off 0, and all of it too small to matter";
  EXPECT_EQ(verdict_of(estimate_of(0.02, 0.03), criteria), Verdict::kInconclusive);
  EXPECT_EQ(verdict_of(estimate_of(0.009, 0.005), criteria), Verdict::kInconclusive)
      << "off 0, and below the threshold";
  EXPECT_EQ(verdict_of(estimate_of(0.02, 0.005, 0.2), criteria), Verdict::kInconclusive)
      << "the signed-rank test does not agree";
  EXPECT_EQ(verdict_of(estimate_of(0.02, 0.005, 0.0625, 5), criteria), Verdict::kRegression)
      << "with five blocks it cannot";
}

TEST(AbbaVerdict, IsUnprovenWhereTheNumbersAreNotToBeBelieved) {
  Criteria criteria;
  const Estimate good = estimate_of(-0.02, 0.005);
  const Estimate still = estimate_of(0.0001, 0.001);
  EXPECT_EQ(judge(good, &still, 10, 0, criteria).verdict, Verdict::kImprovement);
  const Estimate moved = estimate_of(0.03, 0.001);
  EXPECT_EQ(judge(good, &moved, 10, 0, criteria).verdict, Verdict::kUnproven);
  EXPECT_EQ(judge(good, nullptr, 12, 2, criteria).verdict, Verdict::kUnproven) << "blocks missing";

  const Judgement warned = judge(good, nullptr, 10, 2, criteria);
  EXPECT_EQ(warned.verdict, Verdict::kImprovement);
  ASSERT_EQ(warned.warnings.size(), 1u);
  EXPECT_EQ(warned.warnings[0], "2 of 12 blocks were struck out by rule");
  criteria.warnings_count = true;
  EXPECT_EQ(judge(good, nullptr, 10, 2, criteria).verdict, Verdict::kUnproven);
  EXPECT_EQ(judge(good, nullptr, 10, 0, criteria).verdict, Verdict::kImprovement);

  criteria.is_aa = true;
  EXPECT_EQ(judge(good, nullptr, 10, 0, criteria).verdict, Verdict::kUnproven);
  EXPECT_EQ(judge(still, nullptr, 10, 0, criteria).verdict, Verdict::kEquivalent);
}

TEST(AbbaVerdict, HasTheExitCodesOfTheContract) {
  EXPECT_EQ(exit_code_of(Verdict::kImprovement), 0);
  EXPECT_EQ(exit_code_of(Verdict::kEquivalent), 0);
  EXPECT_EQ(exit_code_of(Verdict::kRegression), 2);
  EXPECT_EQ(exit_code_of(Verdict::kUnproven), 3);
  EXPECT_EQ(exit_code_of(Verdict::kInconclusive), 4);
}

}  // namespace
}  // namespace epochd::abba
