// Log records say the same in both formats, on one line, whatever is in them.
#include "daemon/log/log.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace epochd
