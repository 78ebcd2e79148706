// End to end in memory: guests proved in epochs of many sizes and verified, their outputs compared
// with published values, with std:: algorithms, or with the guest's twin compiled for the host.
#include <algorithm>
#include <numeric>

#include "tests/epoch/continuation/bundle_map.hpp"
#include "tests/epoch/continuation/run_fixture.hpp"
#include "tests/epoch/continuation/small_programs.hpp"
#include "tests/guest/run_program.hpp"

namespace epochd::testing {
namespace {

u64 fibonacci(u64 n) {
  u64 a = 0;
  u64 b = 1;
  for (u64 i = 0; i < n; ++i) {
    const u64 c = a + b;
    a = b;
    b = c;
  }
  return a;
}

std::vector<u8> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

/// The words of a published digest given in hex, as the hash guests emit them.
std::vector<u64> digest_words(const std::string& hex) {
  std::vector<u64> words(hex.size() / 16);
  for (size_t i = 0; i < hex.size() / 2; ++i) {
    words[i / 8] |= u64{std::stoul(hex.substr(2 * i, 2), nullptr, 16)} << (8 * (i % 8));
  }
  return words;
}

/// A proved and accepted run.
struct Proved {
  std::vector<EpochRecords> epochs;
  std::vector<u64> bundle;
  RunResult result;
  std::vector<u64> outputs;
};

Proved prove_and_verify(Guest& g, const std::vector<u8>& input, u32 epoch_size_log2) {
  g.params.epoch_size_log2 = epoch_size_log2;
  Proved p;
  p.epochs = run_epochs(g, input);
  p.bundle = prove_run(g, p.epochs);
  p.result = verify(g, p.bundle);
  EXPECT_TRUE(p.result.ok()) << text(p.result);
  EXPECT_EQ(p.result.epochs, p.epochs.size());
  p.outputs = outputs_of(p.bundle);
  EXPECT_EQ(p.result.output_count, p.outputs.size());
  u64 cycles = 0;
  for (const EpochRecords& e : p.epochs) cycles += e.public_values.cycles;
  EXPECT_EQ(p.result.cycles, cycles);
  return p;
}

std::vector<u64> twin_outputs(const std::string& guest, const std::string& input) {
  const std::string program = std::string(EPOCHD_GUEST_DIR) + "/" + guest + ".twin";
  return test::words_of(test::run_program({program}, input).output);
}

TEST(Run, FibInEpochsOfEverySmallSize) {
  for (u32 size = 5; size <= 12; ++size) {
    SCOPED_TRACE("epoch size 2^" + std::to_string(size));
    const u64 n = size < 8 ? 10 : 400;
    const Proved p = prove_and_verify(shared_guest("fib.elf"), input_words({n}), size);
    EXPECT_EQ(p.outputs, std::vector<u64>{fibonacci(n)});
    EXPECT_EQ(p.result.exit_code, 0u);
    EXPECT_EQ(p.result.epochs, (p.result.cycles + (1u << size) - 1) >> size);
  }
}

// FIPS 180-4's example; Keccak-256 as Ethereum defines it.
TEST(Run, HashesMatchPublishedDigests) {
  const Proved sha = prove_and_verify(shared_guest("sha256.elf"), bytes_of("abc"), 11);
  EXPECT_EQ(sha.outputs, digest_words("ba7816bf8f01cfea414140de5dae2223"
                                      "b00361a396177a9cb410ff61f20015ad"));
  EXPECT_GE(sha.result.epochs, 3u);
  const Proved keccak = prove_and_verify(shared_guest("keccak.elf"), bytes_of("abc"), 13);
  EXPECT_EQ(keccak.outputs, digest_words("4e03657aea45a94fc7d47ba826c8d667"
                                         "c0d1e6e33a64a036ec44f58fa12d6c45"));
  EXPECT_GE(keccak.result.epochs, 4u);
}

TEST(Run, SortMatchesStdSort) {
  const u64 seed = 42, count = 30;
  u64 state = seed;
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
  const Proved p = prove_and_verify(shared_guest("sort.elf"), input_words({seed, count}), 10);
  EXPECT_EQ(p.outputs, (std::vector<u64>{weighted, 1}));
  EXPECT_GE(p.result.epochs, 3u);
}

TEST(Run, SortRefusingItsInputExitsWithOne) {
  const Proved p = prove_and_verify(shared_guest("sort.elf"), input_words({1, 1 << 21}), 5);
  EXPECT_EQ(p.result.exit_code, 1u);
  EXPECT_TRUE(p.outputs.empty());
}

TEST(Run, EveryInstructionAgreesWithTheTwin) {
  const Proved p = prove_and_verify(shared_guest("alledge.elf"), {}, 17);
  EXPECT_EQ(p.outputs, twin_outputs("alledge", ""));
  // Long enough for a chip in two instances.
  const Guest& g = shared_guest("alledge.elf");
  const auto tables = plan_tables(p.epochs[0], g.key.vk, *g.params.preset);
  EXPECT_NE(std::adjacent_find(
                tables.begin(), tables.end(),
                [](const TableInstance& a, const TableInstance& b) { return a.chip == b.chip; }),
            tables.end());
  EXPECT_GE(p.outputs.size(), 60u);
}

TEST(Run, MisalignedAccessesAgreeWithTheTwin) {
  const Proved p = prove_and_verify(shared_guest("misaligned.elf"), {}, 16);
  EXPECT_EQ(p.outputs, twin_outputs("misaligned", ""));
  EXPECT_EQ(p.outputs.size(), 9u);
}

TEST(Run, EchoEmitsItsInputAndExitsWithItsLength) {
  const std::string input = "nineteen bytes here";
  const Proved p = prove_and_verify(shared_guest("echo.elf"), bytes_of(input), 6);
  EXPECT_EQ(p.outputs, twin_outputs("echo", input));
  EXPECT_EQ(p.result.exit_code, input.size());
}

TEST(Run, OneEpochOrManyGiveTheSameStatement) {
  Guest& g = shared_guest("fib.elf");
  const Proved many = prove_and_verify(g, input_words({30}), 5);
  const Proved one = prove_and_verify(g, input_words({30}), 20);
  EXPECT_EQ(one.result.epochs, 1u);
  EXPECT_GT(many.result.epochs, 5u);
  EXPECT_EQ(one.outputs, many.outputs);
  EXPECT_EQ(one.result.exit_code, many.result.exit_code);
  EXPECT_EQ(one.result.cycles, many.result.cycles);
}

TEST(Run, SameBytesForAllThreadCountsAndInstructionSets) {
  std::vector<u64> first;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!isa_supported(isa)) continue;
    for (const u32 threads : {1u, 2u}) {
      Guest g("fib.elf", "test", threads, isa);
      const Proved p = prove_and_verify(g, input_words({10}), 7);
      if (first.empty()) first = p.bundle;
      EXPECT_TRUE(p.bundle == first) << isa_name(isa) << ", " << threads << " threads";
    }
  }
}

TEST(Run, TwoInputsGiveTwoStatements) {
  Guest& g = shared_guest("fib.elf");
  const Proved ten = prove_and_verify(g, input_words({10}), 6);
  const Proved eleven = prove_and_verify(g, input_words({11}), 6);
  EXPECT_EQ(ten.outputs, std::vector<u64>{fibonacci(10)});
  EXPECT_EQ(eleven.outputs, std::vector<u64>{fibonacci(11)});
  EXPECT_FALSE(ten.bundle == eleven.bundle);
}

// The presets that promise security, with their many queries and grinding.
TEST(Run, RealPresetsVerifyWithoutBeingAskedFor) {
  for (const char* preset : {"proven100", "proven128", "proven128-fast"}) {
    Guest g("fib.elf", preset);
    g.params.epoch_size_log2 = 7;
    const auto bundle = prove_run(g, run_epochs(g, input_words({5})));
    const auto scratch = std::make_unique<RunScratch>();
    const RunResult r = verify_run(g.key.vk, bundle.data(), bundle.size(), {}, *scratch);
    EXPECT_TRUE(r.ok()) << preset << ": " << text(r);
    EXPECT_EQ(outputs_of(bundle), std::vector<u64>{5});
  }
}

/// Puts another run's statements and roots in the place of those that were verified, once the
/// verifier has read up to `when`.
struct Exchange {
  std::vector<u64>* words;
  const std::vector<u64>* others;
  BundleMap ours;
  BundleMap theirs;
  size_t when;
  u32 calls = 0;

  static void on_read(void* context, size_t position) {
    Exchange& x = *static_cast<Exchange*>(context);
    if (position != x.when || x.calls++ != 0) return;
    for (size_t e = 0; e < x.ours.epochs.size(); ++e) {
      const RecordPlace& from = x.theirs.epochs[e];
      std::copy(x.others->begin() + from.begin, x.others->begin() + from.argument,
                x.words->begin() + x.ours.epochs[e].begin);
    }
  }
};

// The global proof is tied to the boundaries of the epochs that were verified, not to what stands
// in their place later: here the other run's, and with them its global proof.
TEST(Run, EpochsExchangedAfterTheyWereVerifiedAreRefused) {
  Guest& g = shared_guest("sha256.elf");
  const Proved ours = prove_and_verify(g, {1, 2, 3}, 10);
  const Proved others = prove_and_verify(g, {3, 2, 1}, 10);
  const BundleMap our_map(ours.bundle);
  const BundleMap their_map(others.bundle);
  ASSERT_TRUE(
      std::equal(ours.bundle.begin(), ours.bundle.begin() + kHeaderEnd, others.bundle.begin()));
  for (size_t e = 0; e < our_map.epochs.size(); ++e) {
    const RecordPlace& our = our_map.epochs[e];
    const RecordPlace& their = their_map.epochs[e];
    ASSERT_EQ(our.argument - our.begin, their.argument - their.begin);
  }
  const size_t end = our_map.sub_proofs.front().count_word;
  std::vector<u64> words(ours.bundle.begin(), ours.bundle.begin() + end);
  words.insert(words.end(), others.bundle.begin() + their_map.sub_proofs.front().count_word,
               others.bundle.end());

  Exchange exchange{&words, &others.bundle, our_map, their_map, end};
  VerifyOptions options{.allow_test_preset = true};
  options.on_read = Exchange::on_read;
  options.context = &exchange;
  const auto scratch = std::make_unique<RunScratch>();
  const RunResult r = verify_run(g.key.vk, words.data(), words.size(), options, *scratch);
  EXPECT_EQ(exchange.calls, 1u);
  EXPECT_EQ(r.error, RunError::kGlobalProof) << text(r);
}

// So that a bundle larger than memory can be verified where it is mapped.
TEST(Run, VerifierTellsWhatItHasRead) {
  Guest& g = shared_guest("fib.elf");
  const Proved p = prove_and_verify(g, input_words({10}), 5);
  ASSERT_GT(p.result.epochs, 2u);
  std::vector<size_t> positions;
  VerifyOptions options{.allow_test_preset = true};
  options.on_read = [](void* context, size_t position) {
    static_cast<std::vector<size_t>*>(context)->push_back(position);
  };
  options.context = &positions;
  const auto scratch = std::make_unique<RunScratch>();
  const RunResult r = verify_run(g.key.vk, p.bundle.data(), p.bundle.size(), options, *scratch);
  ASSERT_TRUE(r.ok()) << text(r);
  ASSERT_GT(positions.size(), 2 * p.result.epochs);
  const auto first_pass = positions.begin() + p.result.epochs;
  EXPECT_TRUE(std::is_sorted(positions.begin(), first_pass));
  EXPECT_LT(*(first_pass - 1), p.bundle.size());
  EXPECT_EQ(positions.back(), p.bundle.size());
}

TEST(Run, LastEpochOfOneCycle) {
  Guest g(straight_line(65));
  const Proved p = prove_and_verify(g, {}, 5);
  EXPECT_EQ(p.result.epochs, 3u);
  EXPECT_EQ(p.epochs.back().public_values.cycles, 1u);
  EXPECT_EQ(p.outputs, std::vector<u64>{7});
  EXPECT_EQ(p.result.exit_code, 3u);
}

TEST(Run, LastEpochFull) {
  Guest g(straight_line(64));
  const Proved p = prove_and_verify(g, {}, 5);
  EXPECT_EQ(p.result.epochs, 2u);
  EXPECT_EQ(p.epochs.back().public_values.cycles, 32u);
}

TEST(Run, FirstTouchInTheLastCycleOfAnEpoch) {
  for (const u32 size : {5u, 15u}) {
    Guest g(store_in_cycle((1u << size) - 1));
    const Proved p = prove_and_verify(g, {}, size);
    EXPECT_EQ(p.outputs, std::vector<u64>{77});
    ASSERT_EQ(p.epochs.size(), 2u);
    const auto& stores = p.epochs[0].instructions[static_cast<u32>(ChipId::kStore)];
    ASSERT_EQ(stores.size(), 1u);
    EXPECT_EQ(stores[0].ts, 1 + 4 * ((1u << size) - 1));
    EXPECT_EQ(p.epochs[0].refresh.empty(), size == 5);
  }
}

TEST(Run, MemoryBelowAndAboveTheImageInputAndImageCells) {
  Guest g(all_regions(150));
  const Proved p = prove_and_verify(g, input_words({5}), 9);
  EXPECT_EQ(p.outputs, (std::vector<u64>{all_regions_sum({5}), 150 * 151}));
  // Several groups of two epochs, several chunks of 2^6 anchors, and image cells both touched and
  // not.
  EXPECT_GT(p.result.epochs, 4u);
  const u64 anchors = p.bundle[9];
  EXPECT_GT(anchors, 4u * 64);
  EXPECT_EQ(p.bundle[10], (kHighBase + 8 * 149) / 8u);
  EXPECT_EQ(p.bundle[11], kInputFirstCell + 1u);
  EXPECT_GT(g.key.image.size(), 20u);
}

// With no input the region's words are zero, and never touched cells have no anchor.
TEST(Run, UntouchedRegionsEndWhereTheyStart) {
  Guest g(straight_line(20));
  const Proved p = prove_and_verify(g, {}, 10);
  EXPECT_EQ(p.bundle[10], g.key.image.back().key);
  EXPECT_EQ(p.bundle[11], kRegionStart[1]);
  EXPECT_EQ(p.bundle[12], kSinkKey);
}

}  // namespace
}  // namespace epochd::testing
