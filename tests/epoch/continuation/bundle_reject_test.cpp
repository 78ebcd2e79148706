// Bundles that are not what the prover made: every word changed, cut, extended, counts out of all
// measure, epochs of other runs. Each is refused, with the error it deserves.
#include <algorithm>
#include <random>

#include "tests/epoch/continuation/bundle_map.hpp"
#include "tests/epoch/continuation/straight_run.hpp"

namespace epochd::testing {
namespace {

using prover::Fp;
using prover::VerifyError;

RunResult verify_with(const VerifyingKey& key, const std::vector<u64>& bundle,
                      bool allow_test_preset = true) {
  const auto scratch = std::make_unique<RunScratch>();
  return verify_run(key, bundle.data(), bundle.size(), {.allow_test_preset = allow_test_preset},
                    *scratch);
}

/// Two epochs, 32 and 8 cycles, over few tables: the smallest bundle with everything in it. Emits 7
/// in the first epoch, exits with 3.
StraightRun& small_run() {
  static StraightRun run(40);
  return run;
}

void expect_error(const std::vector<u64>& bundle, RunError error, u32 index = 0) {
  const RunResult r = verify(small_run().guest, bundle);
  EXPECT_EQ(r.error, error) << "wanted: " << describe(error) << "; got: " << text(r);
  EXPECT_EQ(r.index, index) << text(r);
}

std::vector<u64> changed(size_t word, u64 value) {
  std::vector<u64> bundle = small_run().bundle;
  bundle[word] = value;
  return bundle;
}
size_t statement_word(u32 epoch, size_t word) {
  return BundleMap(small_run().bundle).epochs[epoch].begin + word;
}

TEST(Reject, TheSmallRunItselfIsAccepted) {
  const RunResult r = verify(small_run().guest, small_run().bundle);
  ASSERT_TRUE(r.ok()) << text(r);
  EXPECT_EQ(r.exit_code, 3u);
  const BundleMap map(small_run().bundle);
  EXPECT_EQ(map.epochs.size(), 2u);
  EXPECT_GE(map.sub_proofs.size(), 2u);
}

// --- every word --------------------------------------------------------------------------------

/// What a changed header must meet, written down from docs/machine.md.
std::set<RunError> header_errors(size_t word, u64 value) {
  switch (word) {
    case kMagicWord:
      return {RunError::kBadMagic};
    case kVersionWord:
      return {RunError::kBadVersion};
    case kPresetWord:
      return {RunError::kPreset};
    case kEpochSizeWord:
      return {value < 5 || value > 26 ? RunError::kEpochSize : RunError::kEpochProof};
    case kEpochCountWord:
      return {value < 1 || value >= 1ull << 31 ? RunError::kEpochCount : RunError::kNotFinal};
    case kAnchorCountWord:
      if (value < 1 || value > 1ull << 30) return {RunError::kAnchorCount};
      return {RunError::kGlobalProof, RunError::kTruncated, RunError::kMainRoot};
    case kLastKeyWord:
      return {value < 511 || value >= 0x18000000 ? RunError::kLastKey : RunError::kGlobalProof};
    case kLastKeyWord + 1:
      return {value < 0x17ffffff || value >= 1u << 29 ? RunError::kLastKey
                                                      : RunError::kGlobalProof};
    case kLastKeyWord + 2:
      return {value < 0x7fffffff || value > 0x80000021 ? RunError::kLastKey
                                                       : RunError::kGlobalProof};
    default:
      return {RunError::kProgram};
  }
}

/// Canonical order, four constant tables, at most two instances, the second lower, known chips.
bool list_acceptable(std::vector<u64> entries) {
  std::map<u64, std::vector<u64>> heights;
  for (size_t i = 0; i < entries.size(); ++i) {
    const u64 chip = entries[i] & 0xff, height = entries[i] >> 8;
    if (chip > static_cast<u64>(ChipId::kBoundary) || height < 5 || height > 26) return false;
    if (i > 0 && chip < (entries[i - 1] & 0xff)) return false;
    heights[chip].push_back(height);
  }
  for (const ChipId c : {ChipId::kProgram, ChipId::kRange16, ChipId::kBytes, ChipId::kBoundary}) {
    if (heights[static_cast<u64>(c)].size() != 1) return false;
  }
  const VerifyingKey& key = small_run().guest.key.vk;
  if (heights[static_cast<u64>(ChipId::kProgram)][0] != key.log_program) return false;
  if (heights[static_cast<u64>(ChipId::kRange16)][0] != 16) return false;
  if (heights[static_cast<u64>(ChipId::kBytes)][0] != 16) return false;
  return std::all_of(heights.begin(), heights.end(), [](const auto& entry) {
    const auto& h = entry.second;
    return h.size() == 1 || (h.size() == 2 && h[1] < h[0]);
  });
}

std::set<RunError> statement_errors(const RecordPlace& r, size_t word, u64 value, bool is_final) {
  const std::vector<u64>& w = small_run().bundle;
  const u64 cycles = w[r.begin + kCyclesWord];
  const u64 tables = w[r.begin + kTableCountWord];
  if (word < kExitCodeWord && value >> 32 != 0) return {RunError::kRange};
  switch (word) {
    case kPcInWord:
      return {value == 1 ? RunError::kRange : RunError::kEpochProof};
    case kPcOutWord:
      return {is_final || value == 1 ? RunError::kNotFinal : RunError::kEpochProof};
    case kCyclesWord:
      return {value < 1 || value > 32 ? RunError::kRange : RunError::kEpochProof};
    case kOutInWord:
      return {value + w[r.begin + kOutputCountWord] > 0xffffffff ? RunError::kRange
                                                                 : RunError::kEpochProof};
    case kOutputCountWord:
      if (value > r.end - r.begin - kTableWord - tables) return {RunError::kTruncated};
      return {value > cycles ? RunError::kRange : RunError::kEpochProof};
    case kExitCodeWord:
      return {is_final ? RunError::kEpochProof : RunError::kRange};
    case kTableCountWord:
      return {RunError::kTableList};
    default:
      break;
  }
  if (word < kTableWord + tables) {
    std::vector<u64> list(w.begin() + static_cast<std::ptrdiff_t>(r.begin + kTableWord),
                          w.begin() + static_cast<std::ptrdiff_t>(r.begin + kTableWord + tables));
    list[word - kTableWord] = value;
    return {list_acceptable(list) ? RunError::kEpochProof : RunError::kTableList};
  }
  return {RunError::kEpochProof};
}

/// A record that claims another length: itself cut or mixed with the next one.
std::set<RunError> count_errors(u64 value, u64 honest, size_t left, bool is_epoch) {
  if (value > left) return {RunError::kTruncated};
  // Sub-proofs are all walked for their roots first, and what follows is then no record.
  if (!is_epoch) return {RunError::kGlobalProof, RunError::kTruncated};
  if (value > honest) return {RunError::kEpochProof};
  return {RunError::kEpochProof, RunError::kTruncated, RunError::kTableList};
}

std::set<RunError> errors_of(size_t word, u64 value) {
  const std::vector<u64>& w = small_run().bundle;
  static const BundleMap map(w);
  if (word < kHeaderEnd) return header_errors(word, value);
  for (size_t e = 0; e < map.epochs.size(); ++e) {
    const RecordPlace& r = map.epochs[e];
    if (word == r.count_word) return count_errors(value, w[word], w.size() - r.begin, true);
    if (word < r.end) {
      return statement_errors(r, word - r.begin, value, e + 1 == map.epochs.size());
    }
  }
  for (size_t s = 0; s < map.sub_proofs.size(); ++s) {
    const RecordPlace& r = map.sub_proofs[s];
    // A record cut before its roots is missed when the roots are collected.
    if (word == r.count_word) return count_errors(value, w[word], w.size() - r.begin, false);
    // The first sub-proof is a group of boundaries, which has no main columns and no main root.
    if (word < r.argument && s == 0) return {RunError::kMainRoot};
    if (word < r.end) return {RunError::kGlobalProof};
  }
  return {};
}

/// Verifies the bundle with `value` at each word in turn, on all threads; skips words where it
/// gives nothing. Returns how many were tried.
size_t expect_all_refused(const std::function<std::optional<u64>(size_t word)>& value) {
  const StraightRun& run = small_run();
  const Parallel pool;
  std::atomic<size_t> tried = 0;
  pool.for_ranges(run.bundle.size(), 512, [&](size_t begin, size_t end) {
    std::vector<u64> bundle = run.bundle;
    const auto scratch = std::make_unique<RunScratch>();
    for (size_t word = begin; word < end; ++word) {
      const std::optional<u64> v = value(word);
      if (!v || *v == run.bundle[word]) continue;
      bundle[word] = *v;
      const RunResult r = verify_run(run.guest.key.vk, bundle.data(), bundle.size(),
                                     {.allow_test_preset = true}, *scratch);
      EXPECT_TRUE(errors_of(word, *v).count(r.error) != 0)
          << "word " << word << " = " << *v << ": " << text(r);
      bundle[word] = run.bundle[word];
      ++tried;
    }
  });
  return tried;
}

TEST(Reject, OneBitOfEveryWord) {
  const u64 seed = 20261201;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::vector<u64> flips(small_run().bundle.size());
  std::mt19937_64 rng(seed);
  for (u64& f : flips) f = 1ull << (rng() % 64);
  const size_t tried =
      expect_all_refused([&](size_t i) { return small_run().bundle[i] ^ flips[i]; });
  EXPECT_EQ(tried, small_run().bundle.size());
}

TEST(Reject, EveryBitOfEveryStructuralWord) {
  std::set<size_t> words;
  for (const size_t w : BundleMap(small_run().bundle).boundaries()) words.insert(w);
  for (u32 bit = 0; bit < 64; ++bit) {
    expect_all_refused([&](size_t i) -> std::optional<u64> {
      if (words.count(i) == 0) return std::nullopt;
      return small_run().bundle[i] ^ 1ull << bit;
    });
  }
}

// x and x + p are the same field element; only x is an encoding of it.
TEST(Reject, AliasesOfFieldElements) {
  const size_t tried = expect_all_refused([&](size_t i) -> std::optional<u64> {
    const u64 x = small_run().bundle[i];
    if (x >= 0xffffffff || i < kHeaderEnd) return std::nullopt;
    return x + Fp::kModulus;
  });
  EXPECT_GT(tried, 50u);
}

TEST(Reject, WordsAboveTheModulusInTheFixedPartAreNotCanonical) {
  const StraightRun& run = small_run();
  const BundleMap map(run.bundle);
  const RecordPlace& r = map.epochs[0];
  // LogUp root, then a sum for each table, the quotient root, then openings: field elements but for
  // the roots.
  const size_t sums = r.argument + 4;
  const size_t sums_end = sums + 3 * run.bundle[r.begin + kTableCountWord];
  for (size_t i = sums; i < sums_end + 4 + 300; ++i) {
    if (i >= sums_end && i < sums_end + 4) continue;
    const RunResult result = verify(run.guest, changed(i, Fp::kModulus));
    EXPECT_EQ(result.error, RunError::kEpochProof) << i;
    EXPECT_EQ(result.argument.error, VerifyError::kNotCanonical) << i << ": " << text(result);
  }
}

/// Where the nonce of an epoch's argument stands.
size_t nonce_word(const Guest& g, const EpochRecords& records, const std::vector<u64>& bundle) {
  const EpochStatement s =
      make_statement(records, plan_tables(records, g.key.vk, *g.params.preset));
  const auto layout = std::make_unique<prover::Layout>();
  EXPECT_TRUE(epoch_layout(s, g.params, *layout));
  return BundleMap(bundle).epochs[0].argument + 4 + 3 * s.table_count + 4 +
         3 * layout->opening_count + 4 * layout->fri_step_count +
         (size_t{3} << layout->fri_final_log);
}

// The test preset grinds 0 bits, which only nonce 0 meets; the real ones 20.
TEST(Reject, NoncesThatDoNotMeetTheDifficulty) {
  for (const char* preset : {"test", "proven100"}) {
    Guest g(straight_line(12), preset);
    g.params.epoch_size_log2 = 5;
    const auto epochs = run_epochs(g, {});
    std::vector<u64> bundle = prove_run(g, epochs);
    ASSERT_TRUE(verify(g, bundle).ok());
    const size_t nonce = nonce_word(g, epochs[0], bundle);
    for (const u64 change : {u64{1}, u64{1} << 40, ~u64{0}}) {
      const u64 honest = bundle[nonce];
      bundle[nonce] += change;
      const RunResult r = verify(g, bundle);
      EXPECT_EQ(r.error, RunError::kEpochProof) << text(r);
      EXPECT_EQ(r.argument.error, VerifyError::kGrinding) << text(r);
      bundle[nonce] = honest;
    }
  }
}

// --- lengths -----------------------------------------------------------------------------------

TEST(Reject, TruncationEverywhere) {
  const StraightRun& run = small_run();
  std::vector<size_t> lengths = BundleMap(run.bundle).boundaries();
  std::mt19937_64 rng(7);
  for (int i = 0; i < 300; ++i) lengths.push_back(rng() % run.bundle.size());
  lengths.push_back(run.bundle.size() - 1);
  const auto scratch = std::make_unique<RunScratch>();
  for (const size_t length : lengths) {
    // A copy of exactly this length, so that a reader past the end is seen by a sanitizer.
    const std::vector<u64> cut(run.bundle.begin(),
                               run.bundle.begin() + static_cast<std::ptrdiff_t>(length));
    const RunResult r =
        verify_run(run.guest.key.vk, cut.data(), cut.size(), {.allow_test_preset = true}, *scratch);
    EXPECT_EQ(r.error, RunError::kTruncated) << length << ": " << text(r);
  }
}

TEST(Reject, TrailingWords) {
  for (const u64 extra : {u64{0}, u64{1}, ~u64{0}}) {
    std::vector<u64> bundle = small_run().bundle;
    bundle.push_back(extra);
    expect_error(bundle, RunError::kTrailing);
  }
}

TEST(Reject, AWordTooManyOrTooFewInEachRecord) {
  const StraightRun& run = small_run();
  const BundleMap map(run.bundle);
  const auto try_record = [&](const RecordPlace& r, RunError error, u32 index) {
    for (const int step : {1, -1}) {
      std::vector<u64> bundle = run.bundle;
      const auto end = bundle.begin() + static_cast<std::ptrdiff_t>(r.end);
      bundle[r.count_word] += static_cast<u64>(step);
      if (step > 0) {
        bundle.insert(end, 0);
      } else {
        bundle.erase(end - 1);
      }
      const RunResult result = verify(run.guest, bundle);
      EXPECT_EQ(result.error, error) << text(result);
      EXPECT_EQ(result.index, index) << text(result);
      EXPECT_EQ(result.argument.error, step > 0 ? VerifyError::kTrailing : VerifyError::kTruncated)
          << text(result);
    }
  };
  for (u32 e = 0; e < map.epochs.size(); ++e) {
    try_record(map.epochs[e], RunError::kEpochProof, e);
  }
  for (u32 s = 0; s < map.sub_proofs.size(); ++s) {
    try_record(map.sub_proofs[s], RunError::kGlobalProof, s);
  }
}

TEST(Reject, AbsurdCounts) {
  const BundleMap map(small_run().bundle);
  for (const u64 absurd : {u64{1} << 63, ~u64{0}, u64{1} << 40, u64{1} << 61, (u64{1} << 61) + 1}) {
    SCOPED_TRACE(absurd);
    expect_error(changed(kEpochCountWord, absurd), RunError::kEpochCount);
    expect_error(changed(kAnchorCountWord, absurd), RunError::kAnchorCount);
    for (u32 e = 0; e < 2; ++e) {
      const RecordPlace& r = map.epochs[e];
      expect_error(changed(r.count_word, absurd), RunError::kTruncated, e);
      expect_error(changed(r.begin + kOutputCountWord, absurd), RunError::kRange, e);
      expect_error(changed(r.begin + kTableCountWord, absurd), RunError::kTableList, e);
    }
    for (const RecordPlace& r : map.sub_proofs) {
      expect_error(changed(r.count_word, absurd), RunError::kTruncated);
    }
  }
  // Counts within their bounds, of things that are not there.
  expect_error(changed(kEpochCountWord, kEpochCountMax), RunError::kNotFinal, 1);
  expect_error(changed(kAnchorCountWord, kAnchorsMax), RunError::kTruncated);
  expect_error(changed(statement_word(0, kOutputCountWord), 0xffffffff), RunError::kTruncated);
  expect_error(changed(statement_word(0, kTableCountWord), 64), RunError::kTableList);
}

TEST(Reject, NothingAndNearlyNothing) {
  expect_error({}, RunError::kTruncated);
  expect_error({kBundleMagic}, RunError::kTruncated);
  expect_error({0}, RunError::kBadMagic);
  expect_error(std::vector<u64>(100, 0), RunError::kBadMagic);
}

// --- statements --------------------------------------------------------------------------------

TEST(Reject, StatementsThatClaimSomethingElse) {
  const StraightRun& run = small_run();
  const auto word = [&](u32 epoch, size_t w) { return run.bundle[statement_word(epoch, w)]; };
  const auto try_word = [&](u32 epoch, size_t w, u64 value, RunError error) {
    SCOPED_TRACE(::testing::Message() << "epoch " << epoch << " word " << w << " = " << value);
    expect_error(changed(statement_word(epoch, w), value), error, epoch);
  };
  ASSERT_EQ(word(1, kCyclesWord), 8u);
  try_word(1, kCyclesWord, 9, RunError::kEpochProof);
  try_word(1, kCyclesWord, 7, RunError::kEpochProof);
  try_word(1, kCyclesWord, 8 + Fp::kModulus, RunError::kRange);
  try_word(1, kCyclesWord, 8 + (u64{1} << 32), RunError::kRange);
  try_word(0, kCyclesWord, 33, RunError::kRange);
  try_word(0, kCyclesWord, 0, RunError::kRange);
  try_word(1, kExitCodeWord, 0, RunError::kEpochProof);
  try_word(1, kExitCodeWord, 3 + Fp::kModulus, RunError::kEpochProof);
  try_word(0, kExitCodeWord, 3, RunError::kRange);
  try_word(1, kOutInWord, 0, RunError::kEpochProof);
  try_word(0, kOutInWord, 1, RunError::kEpochProof);
  try_word(0, kPcInWord, word(0, kPcInWord) + 4, RunError::kEpochProof);
  try_word(1, kPcInWord, word(1, kPcInWord) + 4, RunError::kEpochProof);
  try_word(0, kPcOutWord, word(0, kPcOutWord) + 4, RunError::kEpochProof);
  try_word(1, kPcInWord, kHaltPc, RunError::kRange);
  try_word(0, kPcOutWord, kHaltPc, RunError::kNotFinal);
  try_word(1, kPcOutWord, word(1, kPcInWord), RunError::kNotFinal);
  // The output: another word, and the same one as another number of p's.
  const size_t output = kTableWord + word(0, kTableCountWord);
  ASSERT_EQ(word(0, output), 7u);
  try_word(0, output, 8, RunError::kEpochProof);
  try_word(0, output, 7 + Fp::kModulus, RunError::kEpochProof);
  try_word(0, output, 7 + (u64{1} << 32), RunError::kEpochProof);
}

TEST(Reject, OutputsHiddenOrInvented) {
  const StraightRun& run = small_run();
  const BundleMap map(run.bundle);
  const RecordPlace& r = map.epochs[0];
  const size_t output = r.begin + kTableWord + run.bundle[r.begin + kTableCountWord];
  std::vector<u64> hidden = run.bundle;
  hidden.erase(hidden.begin() + static_cast<std::ptrdiff_t>(output));
  hidden[r.begin + kOutputCountWord] = 0;
  --hidden[r.count_word];
  expect_error(hidden, RunError::kEpochProof);
  std::vector<u64> invented = run.bundle;
  invented.insert(invented.begin() + static_cast<std::ptrdiff_t>(output), 7);
  invented[r.begin + kOutputCountWord] = 2;
  ++invented[r.count_word];
  expect_error(invented, RunError::kEpochProof);
}

TEST(Reject, TableListsNoProverSends) {
  const StraightRun& run = small_run();
  const BundleMap map(run.bundle);
  const RecordPlace& r = map.epochs[0];
  const size_t first = r.begin + kTableWord;
  const size_t count = run.bundle[r.begin + kTableCountWord];
  for (size_t t = 0; t < count; ++t) {
    SCOPED_TRACE(t);
    const u64 entry = run.bundle[first + t];
    const bool is_constant = (entry & 0xff) >= static_cast<u64>(ChipId::kProgram);
    std::vector<u64> dropped = run.bundle;
    dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(first + t));
    --dropped[r.begin + kTableCountWord];
    --dropped[r.count_word];
    expect_error(dropped, is_constant ? RunError::kTableList : RunError::kEpochProof);
    std::vector<u64> doubled = run.bundle;
    doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(first + t), entry);
    ++doubled[r.begin + kTableCountWord];
    ++doubled[r.count_word];
    expect_error(doubled, RunError::kTableList);
    if (t > 0) {
      std::vector<u64> swapped = run.bundle;
      std::swap(swapped[first + t], swapped[first + t - 1]);
      expect_error(swapped, RunError::kTableList);
    }
    for (const u64 height : {u64{0}, u64{4}, u64{27}, u64{1} << 32, u64{1} << 55}) {
      expect_error(changed(first + t, (entry & 0xff) | height << 8), RunError::kTableList);
    }
  }
  for (const ChipId chip :
       {ChipId::kBoundaryGlobal, ChipId::kAnchor, ChipId::kImage, ChipId::kCount}) {
    expect_error(changed(first + count - 1, static_cast<u64>(chip) | 5u << 8),
                 RunError::kTableList);
  }
}

// --- keys and presets --------------------------------------------------------------------------

TEST(Reject, AnotherProgramsKey) {
  const StraightRun& run = small_run();
  Guest other(straight_line(41));
  EXPECT_EQ(verify_with(other.key.vk, run.bundle).error, RunError::kProgram);
  // One flipped word of the program, and another entry.
  for (u32 i = 0; i < 5; ++i) {
    VerifyingKey key = run.guest.key.vk;
    if (i == 0) key.entry += 4;
    if (i == 1) key.log_program += 1;
    if (i == 2) key.log_image += 1;
    if (i == 3) key.epoch_root.words[0] ^= 1;
    if (i == 4) key.global_root.words[3] ^= 1;
    EXPECT_EQ(verify_with(key, run.bundle).error, RunError::kProgram) << i;
    // And a bundle whose header names that key: the proof itself does not follow.
    std::vector<u64> renamed = run.bundle;
    std::copy_n(key.digest().words, 4, renamed.begin() + kProgramWord);
    EXPECT_EQ(verify_with(key, renamed).error,
              i == 1 ? RunError::kTableList : RunError::kEpochProof)
        << i;
  }
}

TEST(Reject, PresetsNotAskedForOrNotTheKeys) {
  const StraightRun& run = small_run();
  EXPECT_EQ(verify_with(run.guest.key.vk, run.bundle, false).error, RunError::kTestPreset);
  Guest strong(straight_line(40), "proven100");
  EXPECT_EQ(verify_with(strong.key.vk, run.bundle).error, RunError::kPreset);
  // The header may say so; the proof was made for another.
  std::vector<u64> promoted = run.bundle;
  promoted[kPresetWord] = strong.params.preset->id;
  EXPECT_EQ(verify_with(run.guest.key.vk, promoted).error, RunError::kPreset);
  EXPECT_EQ(verify_with(strong.key.vk, promoted).error, RunError::kProgram);
  std::copy_n(strong.key.vk.digest().words, 4, promoted.begin() + kProgramWord);
  EXPECT_EQ(verify_with(strong.key.vk, promoted).error, RunError::kEpochProof);
}

// --- epochs of this run and of others ----------------------------------------------------------

/// emits input[0] twice, in the first and in the second of three epochs of 32 cycles.
std::vector<u8> emits_its_input() {
  std::vector<u32> code;
  load_input_base(code, test::kT0);
  code.push_back(test::ld(test::kA1, test::kT0, 8));
  emit_register(code, test::kA1);
  while (code.size() < 40) code.push_back(test::kNop);
  emit_register(code, test::kA1);
  while (code.size() < 70) code.push_back(test::kNop);
  exit_with(code, 0);
  return data_elf(code);
}

TEST(Reject, ReorderedRepeatedAndDroppedEpochs) {
  Guest g(emits_its_input());
  g.params.epoch_size_log2 = 5;
  const auto bundle = prove_run(g, run_epochs(g, input_words({11})));
  ASSERT_TRUE(verify(g, bundle).ok());
  EXPECT_EQ(outputs_of(bundle), (std::vector<u64>{11, 11}));
  std::vector<std::vector<u64>> r;
  for (u32 e = 0; e < 3; ++e) r.push_back(epoch_record(bundle, e));
  const auto expect = [&](const std::vector<std::vector<u64>>& records, RunError error, u32 index) {
    const RunResult result = verify(g, with_epochs(bundle, records));
    EXPECT_EQ(result.error, error) << text(result);
    EXPECT_EQ(result.index, index) << text(result);
  };
  // A label is a place in the run, and it is in the transcript.
  expect({r[1], r[0], r[2]}, RunError::kEpochProof, 0);
  expect({r[0], r[0], r[2]}, RunError::kEpochProof, 1);
  expect({r[0], r[1], r[1], r[2]}, RunError::kEpochProof, 2);
  expect({r[0], r[2]}, RunError::kEpochProof, 1);
  expect({r[1], r[2]}, RunError::kEpochProof, 0);
  expect({r[0], r[1]}, RunError::kNotFinal, 1);
  expect({r[2]}, RunError::kEpochProof, 0);
  expect({r[0], r[1], r[2], r[2]}, RunError::kNotFinal, 2);
  expect({r[0], r[2], r[1]}, RunError::kNotFinal, 1);
}

TEST(Reject, EpochsReplayedFromARunWithAnotherInput) {
  Guest g(emits_its_input());
  g.params.epoch_size_log2 = 5;
  const auto ours = prove_run(g, run_epochs(g, input_words({11})));
  const auto theirs = prove_run(g, run_epochs(g, input_words({12})));
  for (u32 replaced = 0; replaced < 3; ++replaced) {
    std::vector<std::vector<u64>> records;
    for (u32 e = 0; e < 3; ++e) records.push_back(epoch_record(e == replaced ? theirs : ours, e));
    // Every epoch stands and the pcs fit: only the memories tell.
    const RunResult r = verify(g, with_epochs(ours, records));
    EXPECT_EQ(r.error, RunError::kGlobalProof) << replaced << ": " << text(r);
  }
  // The other run's global proof does not help.
  const RunResult r = verify(g, with_epochs(theirs, {epoch_record(ours, 0), epoch_record(ours, 1),
                                                     epoch_record(theirs, 2)}));
  EXPECT_EQ(r.error, RunError::kGlobalProof) << text(r);
}

/// Goes one of two ways, by whether input[0] is 0, each of `cycles` instructions in all before its
/// exit: with `merge`, both ways meet again before cycle 32 and only one of them emits.
std::vector<u8> two_ways(bool merge) {
  using namespace test;
  std::vector<u32> code;
  load_input_base(code, kT0);
  code.push_back(ld(kA0, kT0, 8));
  code.push_back(addi(kA7, 0, static_cast<i32>(kSyscallEmit)));
  if (merge) {
    code.push_back(b_type(0x0063, kA0, 0, 12));
    code.push_back(kEcall);
    code.push_back(jal(0, 12));
    code.push_back(kNop);
    code.push_back(jal(0, 4));
    for (u32 i = 0; i < 40; ++i) code.push_back(kNop);
    exit_with(code, 0);
    return data_elf(code);
  }
  code.push_back(b_type(0x0063, kA0, 0, 4 * 44));
  for (u32 way = 0; way < 2; ++way) {
    for (u32 i = 0; i < 40; ++i) code.push_back(kNop);
    exit_with(code, 0);
  }
  return data_elf(code);
}

TEST(Reject, EpochsThatDoNotContinueTheOneBefore) {
  for (const bool merge : {false, true}) {
    Guest g(two_ways(merge));
    g.params.epoch_size_log2 = 5;
    const auto ours = prove_run(g, run_epochs(g, input_words({0})));
    const auto theirs = prove_run(g, run_epochs(g, input_words({5})));
    ASSERT_TRUE(verify(g, ours).ok());
    ASSERT_TRUE(verify(g, theirs).ok());
    const RunResult r =
        verify(g, with_epochs(ours, {epoch_record(ours, 0), epoch_record(theirs, 1)}));
    // Without merging the pc differs, with it the number of words emitted before.
    EXPECT_EQ(r.error, RunError::kChain) << merge << ": " << text(r);
    EXPECT_EQ(r.index, 1u);
  }
}

TEST(Reject, SubProofsSwappedOrOfAnotherRun) {
  Guest g(emits_its_input());
  g.params.epoch_size_log2 = 5;
  const auto ours = prove_run(g, run_epochs(g, input_words({11})));
  const auto theirs = prove_run(g, run_epochs(g, input_words({12})));
  const BundleMap map(ours), their_map(theirs);
  ASSERT_EQ(map.sub_proofs.size(), 3u);
  const auto piece = [](const std::vector<u64>& w, const RecordPlace& r) {
    return std::vector<u64>(w.begin() + static_cast<std::ptrdiff_t>(r.count_word),
                            w.begin() + static_cast<std::ptrdiff_t>(r.end));
  };
  const auto assemble = [&](const std::vector<std::vector<u64>>& subs) {
    std::vector<u64> out(ours.begin(),
                         ours.begin() + static_cast<std::ptrdiff_t>(map.epochs.back().end));
    for (const auto& s : subs) out.insert(out.end(), s.begin(), s.end());
    return out;
  };
  const auto s0 = piece(ours, map.sub_proofs[0]), s1 = piece(ours, map.sub_proofs[1]),
             s2 = piece(ours, map.sub_proofs[2]);
  ASSERT_TRUE(verify(g, assemble({s0, s1, s2})).ok());
  EXPECT_EQ(verify(g, assemble({s1, s0, s2})).error, RunError::kGlobalProof);
  EXPECT_EQ(verify(g, assemble({s0, s0, s2})).error, RunError::kGlobalProof);
  // Roots are absorbed in order, before any sub-proof is checked.
  EXPECT_EQ(verify(g, assemble({s0, s2, s1})).error, RunError::kGlobalProof);
  EXPECT_EQ(verify(g, assemble({s0, s1})).error, RunError::kTruncated);
  EXPECT_EQ(verify(g, assemble({s0, s1, s2, s2})).error, RunError::kTrailing);
  for (u32 i = 0; i < 3; ++i) {
    std::vector<std::vector<u64>> subs{s0, s1, s2};
    subs[i] = piece(theirs, their_map.sub_proofs[i]);
    const RunResult r = verify(g, assemble(subs));
    EXPECT_EQ(r.error, RunError::kGlobalProof) << i << ": " << text(r);
  }
}

}  // namespace
}  // namespace epochd::testing
