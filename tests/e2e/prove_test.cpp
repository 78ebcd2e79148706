// epoch execute, prove, verify, setup, inspect on real guests.
#include "tests/e2e/support.hpp"

namespace epochd::e2e {
namespace {

u64 fib(u64 n) {
  u64 a = 0, b = 1;
  for (u64 i = 0; i < n; ++i) b += std::exchange(a, b);
  return a;
}

class ProveTest : public E2eTest {
 protected:
  ProveTest() : input_(file("input", little_endian(100))) {}

  /// epoch prove fib(100) at 2^8 cycles and preset test.
  nlohmann::json prove(const std::string& proof, Strings more = {}) {
    Strings args = {
        "prove",      guest("fib"), "--input",           input_, "-o", path(proof).string(),
        "--security", "test",       "--epoch-size-log2", "8"};
    args.insert(args.end(), more.begin(), more.end());
    return epoch_json(args);
  }
  Outcome verify(const std::string& proof, Strings more = {"--security", "test"}) {
    Strings args = {"verify", guest("fib"), path(proof).string()};
    args.insert(args.end(), more.begin(), more.end());
    return epoch(args);
  }
  void expect_invalid(const std::string& bundle, const std::string& message) {
    file("bad.proof", bundle);
    const Outcome outcome = verify("bad.proof");
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  }
  static void set_word(std::string& bundle, size_t index, u64 word) {
    bundle.replace(index * 8, 8, little_endian(word));
  }

  std::string input_;
};

TEST_F(ProveTest, ExecuteTellsWhatHappened) {
  const auto json = epoch_json({"execute", guest("fib"), "--input", input_, "--profile"});
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["outputs"], std::vector<u64>{fib(100)});
  EXPECT_EQ(json["symbols"][0]["symbol"], "main");
}

TEST_F(ProveTest, ProvesAndVerifies) {
  const auto json = prove("p");
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["outputs"], std::vector<u64>{fib(100)});
  EXPECT_EQ(json["security"], "test");
  EXPECT_EQ(json["epoch_size_log2"], 8);
  EXPECT_EQ(json["proof_bytes"], std::filesystem::file_size(path("p")));
  EXPECT_EQ(json["epochs"], (json["cycles"].get<u64>() + 255) / 256);
  for (const char* key :
       {"execute_seconds", "prove_seconds", "verify_seconds", "cycles_per_second", "peak_rss_bytes",
        "peak_device_bytes", "backend", "residency", "counters", "bytes_h2d", "bytes_d2h"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  const auto verified =
      epoch_json({"verify", guest("fib"), path("p").string(), "--security", "test"});
  EXPECT_EQ(verified["valid"], true);
  EXPECT_EQ(verified["cycles"], json["cycles"]);
  EXPECT_EQ(verified["outputs"], json["outputs"]);
  // Only the proof is left.
  EXPECT_FALSE(std::filesystem::exists(path("p.unverified")));
}

TEST_F(ProveTest, ThreadsDoNotChangeTheBytes) {
  prove("one", {"--threads", "1"});
  prove("two", {"--threads", "2"});
  EXPECT_TRUE(read_file(path("one")) == read_file(path("two")));
}

TEST_F(ProveTest, EnvironmentAndFlagsChooseTheEpochSize) {
  const Strings args = {"execute", guest("fib"), "--input", input_, "--json"};
  const auto from_environment = epoch(args, {{"EPOCH_SIZE_LOG2", "7"}});
  EXPECT_EQ(nlohmann::json::parse(from_environment.out)["epoch_size_log2"], 7);
  Strings with_flag = args;
  with_flag.insert(with_flag.end(), {"--epoch-size-log2", "9"});
  EXPECT_EQ(
      nlohmann::json::parse(epoch(with_flag, {{"EPOCH_SIZE_LOG2", "7"}}).out)["epoch_size_log2"],
      9);
}

TEST_F(ProveTest, WithoutContinuationsThereIsOneEpoch) {
  const auto json = prove("p", {"--no-continuations"});
  EXPECT_EQ(json["epochs"], 1);
  EXPECT_EQ(verify("p").code, 0);
}

TEST_F(ProveTest, ARunTooLongForOneEpochSaysSo) {
  const std::string input = file("long", little_endian(14'000'000));  // 5 cycles each
  const Outcome outcome = epoch({"prove", guest("fib"), "--input", input, "-o", path("p").string(),
                                 "--security", "test", "--no-continuations"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("prove it with continuations"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("p")));
}

TEST_F(ProveTest, DebugTextGoesToStderrAndNowhereElse) {
  // auipc a0, 0; addi a0, a0, 32 (the text); li a1, 5; li a7, 2; ecall; then li a0, 0; li a7, 93
  // ...
  std::vector<u32> words = {0x00000517u, 0x02050513u, 0x00500593u, 0x00200893u, 0x00000073u};
  const std::vector<u32> end = exit_with(0);
  words.insert(words.end(), end.begin(), end.end());
  words.insert(words.end(), {0x6c6c6568u, 0x0000006fu});  // "hello"
  const Outcome outcome = epoch({"execute", file("g.elf", make_elf({{0x10000, words}})), "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "guest: hello\n");
  EXPECT_TRUE(nlohmann::json::parse(outcome.out)["outputs"].empty());
}

TEST_F(ProveTest, AKeyStandsForTheElf) {
  prove("p");
  epoch_json({"setup", guest("fib"), "-o", path("vk").string(), "--security", "test"});
  epoch_json({"setup", guest("sort"), "-o", path("other.vk").string(), "--security", "test"});
  const std::string proof = path("p").string();
  EXPECT_EQ(epoch({"verify", "--vk", path("vk").string(), proof, "--security", "test"}).code, 0);
  const Outcome other =
      epoch({"verify", "--vk", path("other.vk").string(), proof, "--security", "test"});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("another program"), std::string::npos) << other.err;
  std::string damaged = read_file(path("vk"));
  damaged[20] ^= 1;
  const Outcome bad =
      epoch({"verify", "--vk", file("bad.vk", damaged), proof, "--security", "test"});
  EXPECT_EQ(bad.code, 2);
}

TEST_F(ProveTest, InspectShowsTheParts) {
  const auto proved = prove("p");
  const auto json = epoch_json({"inspect", path("p").string()});
  EXPECT_EQ(json["security"], "test");
  EXPECT_EQ(json["cycles"], proved["cycles"]);
  EXPECT_EQ(json["epochs"].size(), proved["epochs"]);
  EXPECT_EQ(json["bytes"], json["header_bytes"].get<u64>() + json["epoch_bytes"].get<u64>() +
                               json["global_bytes"].get<u64>());
  const std::string bundle = read_file(path("p"));
  for (const size_t bytes : {size_t{0}, size_t{50}, size_t{104}, bundle.size() / 2}) {
    EXPECT_EQ(epoch({"inspect", file("cut", bundle.substr(0, bytes))}).code, 1) << bytes;
  }
}

TEST_F(ProveTest, ExitCodesAreProvedAndMustBeAllowed) {
  const std::string program = file("seven.elf", make_elf({{0x10000, exit_with(7)}}));
  const std::string proof = path("p").string();
  const auto json = epoch_json({"prove", program, "-o", proof, "--security", "test"});
  EXPECT_EQ(json["exit_code"], 7);
  EXPECT_EQ(json["cycles"], 3);
  const Outcome plain = epoch({"verify", program, proof, "--security", "test"});
  EXPECT_EQ(plain.code, 1);
  EXPECT_NE(plain.err.find("ended with exit code 7"), std::string::npos) << plain.err;
  EXPECT_EQ(epoch({"verify", program, proof, "--security", "test", "--allow-exit-code", "7"}).code,
            0);
  EXPECT_EQ(epoch({"verify", program, proof, "--security", "test", "--allow-exit-code", "8"}).code,
            1);
}

TEST_F(ProveTest, SecurityHoldsWhatThePresetsPromise) {
  const auto json = epoch_json({"security"});
  ASSERT_EQ(json["presets"].size(), 3u) << "the test preset is no preset to choose from";
  for (const auto& preset : json["presets"]) {
    EXPECT_GE(preset["minimum_bits"], preset["target_bits"]) << preset["preset"];
    EXPECT_GE(preset["target_bits"], 100);
  }
  EXPECT_EQ(epoch_json({"security", "--preset", "test"})["presets"][0]["target_bits"], 0);
  const Outcome text = epoch({"security", "--preset", "proven128"});
  EXPECT_NE(text.out.find("proven128: blowup 4, 160 queries"), std::string::npos) << text.out;
  EXPECT_EQ(epoch({"security", "--preset", "strong"}).code, 2);
}

TEST_F(ProveTest, RefusesProofsOfAnotherVersionPresetOrProgram) {
  prove("p");
  const std::string bundle = read_file(path("p"));
  const Outcome unasked = verify("p", {});
  EXPECT_EQ(unasked.code, 1);
  EXPECT_NE(unasked.err.find("preset test, which proves nothing"), std::string::npos);
  const Outcome stronger = verify("p", {"--security", "proven128"});
  EXPECT_EQ(stronger.code, 1);
  EXPECT_NE(stronger.err.find("preset test, and proven128 was asked for"), std::string::npos);

  std::string version = bundle;
  set_word(version, 1, 2);
  expect_invalid(version, "format version 2, this verifier knows 1");
  std::string preset = bundle;
  set_word(preset, 2, 77);
  expect_invalid(preset, "preset 77, which this verifier does not know");
  std::string claimed = bundle;
  set_word(claimed, 2, 1);
  file("claimed", claimed);
  EXPECT_EQ(verify("claimed", {}).code, 1) << "a test proof that says proven100";
  std::string program = bundle;
  set_word(program, 4, 0);
  expect_invalid(program, "another program");
  expect_invalid("", "not an epochd bundle");
  expect_invalid("some text that is no proof, long enough", "not an epochd bundle");
  expect_invalid(bundle.substr(0, bundle.size() - 8), "invalid");
  expect_invalid(bundle + little_endian(0), "trailing");
  expect_invalid(bundle + "x", "trailing");
}

TEST_F(ProveTest, RefusesAFlipInEveryPartOfABundle) {
  prove("p");
  const std::string bundle = read_file(path("p"));
  for (size_t i = 0; i < 24; ++i) {
    std::string flipped = bundle;
    flipped[i * (bundle.size() - 1) / 23] ^= 0x10;
    file("flipped", flipped);
    const Outcome outcome = verify("flipped");
    EXPECT_EQ(outcome.code, 1) << "byte " << i * (bundle.size() - 1) / 23;
  }
}

}  // namespace
}  // namespace epochd::e2e
