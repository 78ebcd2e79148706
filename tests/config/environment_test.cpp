// The environment, the order of precedence, and the small helpers behind the messages.
#include <gtest/gtest.h>

#include <map>

#include "config/config.hpp"
#include "config/edit_distance.hpp"
#include "config/time_text.hpp"

namespace epochd {
namespace {

Result<Environment, Diagnostics> parse(const std::map<std::string, std::string>& variables) {
  return parse_environment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string error_of(const std::string& name, const std::string& value) {
  const auto parsed = parse({{name, value}});
  return parsed ? "" : to_text(parsed.error());
}

TEST(Environment, ReadsKnownNames) {
  const auto parsed = parse({{"EPOCH_SIZE_LOG2", "12"},
                             {"CONTINUATIONS", "0"},
                             {"TX_COUNT", "100"},
                             {"BENCH_FEATURES", "cuda, nvtx-on"}});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->protocol, (ProtocolOverrides{12, false, std::nullopt}));
  EXPECT_EQ(parsed->tx_count, 100u);
  EXPECT_EQ(parsed->bench_features, (std::vector<std::string>{"cuda", "nvtx-on"}));
}

TEST(Environment, UnsetAndEmptySayNothing) {
  const auto parsed = parse({{"EPOCH_SIZE_LOG2", ""}});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->protocol, ProtocolOverrides{});
  EXPECT_FALSE(parsed->tx_count);
  EXPECT_TRUE(parsed->bench_features.empty());
}

TEST(Environment, RefusesBadValues) {
  EXPECT_EQ(error_of("EPOCH_SIZE_LOG2", "27"),
            "environment: EPOCH_SIZE_LOG2 must be an integer from 5 to 26, not '27'");
  EXPECT_EQ(error_of("EPOCH_SIZE_LOG2", "twenty"),
            "environment: EPOCH_SIZE_LOG2 must be an integer from 5 to 26, not 'twenty'");
  EXPECT_EQ(error_of("CONTINUATIONS", "maybe"),
            "environment: CONTINUATIONS must be 1, 0, true or false, not 'maybe'");
  EXPECT_EQ(error_of("TX_COUNT", "0"),
            "environment: TX_COUNT must be an integer from 1 to 100000000, not '0'");
  EXPECT_EQ(error_of("BENCH_FEATURES", "a;b"),
            "environment: BENCH_FEATURES must be words of letters, digits, '-' and '_' joined by "
            "commas or spaces");
}

TEST(Precedence, FlagThenJobThenEnvironmentThenFileThenDefault) {
  ProtocolSettings file;
  Environment environment;
  ProtocolOverrides job, flags;
  EXPECT_EQ(resolve_protocol(file, environment, job, flags).epoch_size_log2, 20u);
  file.epoch_size_log2 = 11;
  EXPECT_EQ(resolve_protocol(file, environment, job, flags).epoch_size_log2, 11u);
  environment.protocol.epoch_size_log2 = 12;
  EXPECT_EQ(resolve_protocol(file, environment, job, flags).epoch_size_log2, 12u);
  job.epoch_size_log2 = 13;
  EXPECT_EQ(resolve_protocol(file, environment, job, flags).epoch_size_log2, 13u);
  flags.epoch_size_log2 = 14;
  EXPECT_EQ(resolve_protocol(file, environment, job, flags).epoch_size_log2, 14u);
}

TEST(EditDistance, HandComputed) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("thraeds", "threads"), 1u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
}

TEST(EditDistance, NearestWordIsNearEnoughOrNone) {
  const std::vector<std::string> known = {"queue", "threads", "backend"};
  EXPECT_EQ(nearest_word("queu", known), "queue");
  EXPECT_EQ(nearest_word("thread", known), "threads");
  EXPECT_EQ(nearest_word("zzzzzzz", known), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'q'), known), "");
}

TEST(TimeText, ParsesAndFormats) {
  EXPECT_EQ(parse_utc_time("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_utc_time("2000-02-29T23:59:59Z"), 951868799);
  EXPECT_EQ(format_utc_time(951868799), "2000-02-29T23:59:59Z");
  for (const char* bad :
       {"", "2001-02-29T00:00:00Z", "2000-01-01T24:00:00Z", "2000-01-01T00:60:00Z",
        "2000-01-01 00:00:00Z", "2000-01-01T00:00:00", "2000-1-01T000:00:00Z",
        "-200-01-01T00:00:00Z", "2000-01-01T-1:00:00Z", "2000-01-01T00:00:00Zx"}) {
    EXPECT_FALSE(parse_utc_time(bad)) << bad;
  }
}

}  // namespace
}  // namespace epochd
