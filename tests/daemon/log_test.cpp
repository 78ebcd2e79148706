// Log records say the same in both formats, on one line, whatever is in them.
#include "daemon/log/log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "daemon/log/flood_gate.hpp"

namespace epochd {
namespace {

TEST(Log, TextKeepsWordsAndQuotesTheRest) {
  EXPECT_EQ(log::format_record(LogFormat::kText, "epoch proved",
                               {{"job", "fib-1"},
                                {"epoch", 3u},
                                {"delta", -2},
                                {"seconds", 1.5},
                                {"last", true},
                                {"file", "a b\n\"c\""},
                                {"empty", ""}}),
            R"(epoch proved job=fib-1 epoch=3 delta=-2 seconds=1.5 last=true)"
            R"( file="a b\n\"c\"" empty="")");
}

TEST(Log, JsonIsAnObjectEvenForBytesThatAreNoText) {
  const std::string record =
      log::format_record(LogFormat::kJson, "it \"went\"",
                         {{"job", std::string("\xff\n", 2)}, {"count", u64{1} << 63}});
  const auto json = nlohmann::json::parse("{" + record + "}");
  EXPECT_EQ(json["message"], "it \"went\"");
  EXPECT_EQ(json["count"], u64{1} << 63);
  EXPECT_EQ(record.find('\n'), std::string::npos);
}

TEST(Log, LevelFilters) {
  log::configure(LogLevel::kWarn, LogFormat::kJson);
  ::testing::internal::CaptureStderr();
  log::info("hidden");
  log::warn("shown", {{"n", 1}});
  const std::string out = ::testing::internal::GetCapturedStderr();
  log::configure(LogLevel::kInfo, LogFormat::kText);
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["level"], "warning");
  EXPECT_EQ(json["message"], "shown");
  EXPECT_EQ(json["n"], 1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Log, RecordsSayWhatTheyAreAbout) {
  log::configure(LogLevel::kInfo, LogFormat::kJson);
  ::testing::internal::CaptureStderr();
  log::set_job("fib-1");
  log::set_stage("proving");
  log::info("an epoch is late", {{"epoch", 3u}});
  log::info("of another job", {{"job", "fib-2"}, {"stage", "collected"}});
  log::set_job("fib-3");
  log::info("no stage yet");
  log::set_job("");
  log::info("no job");
  const auto lines = lines_of(::testing::internal::GetCapturedStderr());
  log::configure(LogLevel::kInfo, LogFormat::kText);
  ASSERT_EQ(lines.size(), 4u);
  auto json = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(json["job"], "fib-1");
  EXPECT_EQ(json["stage"], "proving");
  EXPECT_EQ(json["epoch"], 3);
  json = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(json["job"], "fib-2");
  EXPECT_EQ(json["stage"], "collected");
  json = nlohmann::json::parse(lines[2]);
  EXPECT_EQ(json["job"], "fib-3");
  EXPECT_FALSE(json.contains("stage"));
  EXPECT_FALSE(nlohmann::json::parse(lines[3]).contains("job"));
}

TEST(Log, KnowsTheJournalByTheNameOfItsStream) {
  struct ::stat status {};
  ASSERT_EQ(::fstat(STDOUT_FILENO, &status), 0);
  const std::string name = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  EXPECT_TRUE(log::is_journal_stream(name.c_str(), STDOUT_FILENO));
  EXPECT_FALSE(log::is_journal_stream((name + "1").c_str(), STDOUT_FILENO)) << "redirected";
  EXPECT_FALSE(log::is_journal_stream(nullptr, STDOUT_FILENO));
  EXPECT_FALSE(log::is_journal_stream(name.c_str(), -1));
}

TEST(Log, AFloodIsCountedInsteadOfWritten) {
  log::FloodGate gate;
  constexpr u64 kBurst = log::FloodGate::kBurst;
  for (u64 i = 0; i < kBurst; ++i) EXPECT_TRUE(gate.pass("disk", 1)) << i;
  for (u64 i = 0; i < 7; ++i) EXPECT_FALSE(gate.pass("disk", 2));
  EXPECT_TRUE(gate.pass("other", 2)) << "messages are counted apart";
  EXPECT_TRUE(gate.take_left_out(2).empty()) << "the window is not over";
  const auto left_out = gate.take_left_out(1 + log::FloodGate::kWindow_s);
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].message, "disk");
  EXPECT_EQ(left_out[0].count, 7u);
  EXPECT_TRUE(gate.take_left_out(1 + log::FloodGate::kWindow_s).empty()) << "told once";
  EXPECT_TRUE(gate.pass("disk", 1 + log::FloodGate::kWindow_s)) << "a new window";
  EXPECT_EQ(gate.left_out_total(), 7u);
}

TEST(Log, AFloodOfErrorsIsCutAndItsCountTold) {
  const u64 before = log::suppressed_total();
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) log::error("the disk is gone", {{"try", i}});
  for (int i = 0; i < 100; ++i) log::info("a job is done", {{"try", i}});
  log::tell_left_out(true);
  const auto lines = lines_of(::testing::internal::GetCapturedStderr());
  ASSERT_EQ(lines.size(), log::FloodGate::kBurst + 100 + 1);
  EXPECT_NE(lines.back().find("record=\"the disk is gone\" count=980"), std::string::npos)
      << lines.back();
  EXPECT_EQ(log::suppressed_total() - before, 980u);
}

TEST(Log, LevelAndFormatChangeAtAnyTime) {
  ::testing::internal::CaptureStderr();
  log::configure(LogLevel::kError, LogFormat::kText);
  log::warn("hidden");
  log::configure(LogLevel::kDebug, LogFormat::kJson);
  log::debug("shown");
  const auto lines = lines_of(::testing::internal::GetCapturedStderr());
  log::configure(LogLevel::kInfo, LogFormat::kText);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["level"], "debug");
}

}  // namespace
}  // namespace epochd
