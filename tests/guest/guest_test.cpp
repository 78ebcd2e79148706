// Every guest, twice: under qemu-riscv64 and as its host twin. Both must emit the same words, and
// where a published value exists, that value.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/guest/run_program.hpp"

namespace epochd::test {
namespace {

struct GuestRuns {
  ProgramRun qemu;
  ProgramRun twin;
};

GuestRuns run_both(const std::string& guest, const std::string& input) {
  const std::string base = std::string(EPOCHD_GUEST_DIR) + "/" + guest;
  return {run_program({EPOCHD_QEMU_RISCV64, base + ".qemu.elf"}, input),
          run_program({base + ".twin"}, input)};
}

std::string run_agreeing(const std::string& guest, const std::string& input, int exit_code = 0) {
  const GuestRuns runs = run_both(guest, input);
  EXPECT_EQ(runs.qemu.exit_code, exit_code) << guest;
  EXPECT_EQ(runs.twin.exit_code, exit_code) << guest;
  EXPECT_EQ(runs.qemu.output, runs.twin.output) << guest;
  return runs.qemu.output;
}

std::string hex(const std::string& bytes) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text.push_back(kDigits[static_cast<u8>(c) >> 4]);
    text.push_back(kDigits[static_cast<u8>(c) & 15]);
  }
  return text;
}

// F(93) is the last Fibonacci number below 2^64; F(94) and later wrap.
TEST(Guest, FibMatchesKnownValuesAndWraps) {
  const std::vector<std::pair<u64, u64>> known = {
      {0, 0}, {1, 1}, {2, 1}, {10, 55}, {93, 12200160415121876738u}, {94, 1293530146158671551u}};
  for (const auto& [count, value] : known) {
    EXPECT_EQ(words_of(run_agreeing("fib", bytes_of({count}))), std::vector<u64>{value}) << count;
  }
  EXPECT_EQ(words_of(run_agreeing("fib", "")), std::vector<u64>{0});
  EXPECT_EQ(words_of(run_agreeing("fib", "\x0a")), std::vector<u64>{55});
}

// FIPS 180-4 example messages, and one million 'a' (NIST's long message).
TEST(Guest, Sha256MatchesPublishedDigests) {
  EXPECT_EQ(hex(run_agreeing("sha256", "")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(run_agreeing("sha256", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(run_agreeing("sha256", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(run_agreeing("sha256", std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Keccak-256 as Ethereum defines it: the hash of nothing is the well-known empty code hash.
TEST(Guest, KeccakMatchesPublishedDigests) {
  EXPECT_EQ(hex(run_agreeing("keccak", "")),
            "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
  EXPECT_EQ(hex(run_agreeing("keccak", "abc")),
            "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
}

TEST(Guest, HashesAgreeAroundBlockBoundaries) {
  std::string message;
  for (int i = 0; i < 300; ++i) message.push_back(static_cast<char>(i % 251));
  for (const size_t bytes : {1u, 7u, 8u, 55u, 56u, 63u, 64u, 65u, 119u, 120u, 128u, 135u, 136u,
                             137u, 271u, 272u, 273u}) {
    const std::string sha = run_agreeing("sha256", message.substr(0, bytes));
    const std::string keccak = run_agreeing("keccak", message.substr(0, bytes));
    EXPECT_EQ(sha.size(), 32u);
    EXPECT_EQ(keccak.size(), 32u);
    EXPECT_NE(sha, keccak);
  }
}

// The expected checksum is computed here with std::sort.
TEST(Guest, SortEmitsTheChecksumOfTheSortedValues) {
  for (const u64 count : {0u, 1u, 2u, 3u, 100u, 1000u}) {
    u64 state = 42;
    std::vector<u64> values;
    for (u64 i = 0; i < count; ++i) {
      u64 z = state += 0x9e3779b97f4a7c15;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      values.push_back(z ^ (z >> 31));
    }
    std::sort(values.begin(), values.end());
    u64 weighted = 0;
    for (u64 i = 0; i < count; ++i) weighted += (i + 1) * values[i];
    const std::string output = run_agreeing("sort", bytes_of({42, count}));
    EXPECT_EQ(words_of(output), (std::vector<u64>{weighted, 1})) << count;
  }
}

TEST(Guest, SortRefusesTooManyValues) {
  EXPECT_EQ(run_agreeing("sort", bytes_of({42, (1u << 20) + 1}), 1), "");
}

// The twin computes the results from the ISA manual's definitions, qemu from its own translation:
// 28 register instructions, 13 with immediates, LUI and AUIPC, 6 branches, jumps, 7 loads, 4
// stores, the ends of memory, fences.
TEST(Guest, EveryInstructionAgreesOverEdgeValues) {
  EXPECT_EQ(words_of(run_agreeing("alledge", "")).size(), 28u + 13 + 1 + 6 + 1 + 7 + 4 + 1 + 1);
}

TEST(Guest, MisalignedAccessesAgree) {
  EXPECT_EQ(words_of(run_agreeing("misaligned", "")).size(), 5u + 3 + 1);
}

// Frames: a byte count, then the bytes in words, zero padded.
TEST(Guest, EchoedBytesComeBackThroughTheFrames) {
  const u64 seed = 20240229;
  std::mt19937_64 random(seed);
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (const size_t bytes : {0u, 1u, 2u, 7u, 8u, 9u, 23u, 24u, 25u, 300u}) {
    std::string input;
    for (size_t i = 0; i < bytes; ++i) input.push_back(static_cast<char>(random()));
    const std::vector<u64> words =
        words_of(run_agreeing("echo", input, static_cast<int>(bytes & 0xFF)));
    std::string recovered;
    int frames = 0;
    for (size_t at = 0; at < words.size(); ++frames) {
      const size_t length = words[at++];
      const size_t count = (length + 7) / 8;
      ASSERT_LE(at + count, words.size());
      const std::string payload = bytes_of({words.begin() + at, words.begin() + at + count});
      recovered += payload.substr(0, length);
      EXPECT_EQ(payload.substr(length), std::string(payload.size() - length, '\0'));
      at += count;
    }
    EXPECT_EQ(frames, 2);
    EXPECT_EQ(recovered, input);
  }
}

}  // namespace
}  // namespace epochd::test
