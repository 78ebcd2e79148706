// Random damage to bundles and verifying keys: the verifier answers, whatever it is given. Worth
// most under AddressSanitizer and UndefinedBehaviorSanitizer; every input is in memory of exactly
// its length, so that one word read past the end is seen.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/epoch/continuation/bundle_map.hpp"
#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd::testing {
namespace {

constexpr u64 kSeed = 0x5eed0026;

struct FuzzRun {
  FuzzRun() : guest(straight_line(40)) {
    guest.params.epoch_size_log2 = 5;
    bundle = prove_run(guest, run_epochs(guest, {}));
  }
  Guest guest;
  std::vector<u64> bundle;
};
const FuzzRun& fuzz_run() {
  static const FuzzRun run;
  return run;
}

class Mutator {
 public:
  explicit Mutator(u64 seed) : rng_(seed), structure_(BundleMap(fuzz_run().bundle).boundaries()) {}

  std::vector<u64> next() {
    std::vector<u64> w = fuzz_run().bundle;
    for (u64 i = 0, n = 1 + below(3); i < n && !w.empty(); ++i) mutate(w);
    w.shrink_to_fit();
    return w;
  }

 private:
  u64 below(u64 n) { return rng_() % n; }
  /// Half of the places are words that counts, lengths and roots stand in.
  size_t place(const std::vector<u64>& w) {
    if (below(2) == 0) return below(w.size());
    return std::min(structure_[below(structure_.size())], w.size() - 1);
  }
  u64 word() {
    const u64 interesting[] = {0,
                               1,
                               2,
                               63,
                               64,
                               65,
                               1ull << 31,
                               0xffffffff,
                               1ull << 32,
                               1ull << 61,
                               (1ull << 61) + 1,
                               1ull << 63,
                               ~0ull,
                               0xffffffff00000001,
                               0xffffffff00000000};
    switch (below(3)) {
      case 0:
        return interesting[below(std::size(interesting))];
      case 1:
        return rng_() >> below(64);
      default:
        return below(5) << 8 | below(30);
    }
  }

  void mutate(std::vector<u64>& w) {
    const auto at = static_cast<std::ptrdiff_t>(place(w));
    const auto length = static_cast<std::ptrdiff_t>(std::min<size_t>(1 + below(40), w.size() - at));
    switch (below(7)) {
      case 0:
        w[static_cast<size_t>(at)] = word();
        break;
      case 1:
        w[static_cast<size_t>(at)] ^= 1ull << below(64);
        break;
      case 2:
        w[static_cast<size_t>(at)] += below(5) - 2;
        break;
      case 3:
        w.erase(w.begin() + at, w.begin() + at + length);
        break;
      case 4: {  // repeated
        const std::vector<u64> piece(w.begin() + at, w.begin() + at + length);
        w.insert(w.begin() + at, piece.begin(), piece.end());
        break;
      }
      case 5: {  // spliced from elsewhere
        const size_t from = below(w.size() - static_cast<size_t>(length) + 1);
        std::copy_n(std::vector<u64>(w).begin() + static_cast<std::ptrdiff_t>(from), length,
                    w.begin() + at);
        break;
      }
      default:
        w.resize(below(w.size() + 1));
        break;
    }
  }

  std::mt19937_64 rng_;
  std::vector<size_t> structure_;
};

TEST(Fuzz, TwentyThousandDamagedBundles) {
  const FuzzRun& run = fuzz_run();
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  constexpr size_t kCount = 20000;
  std::atomic<size_t> refused = 0;
  const Parallel pool;
  pool.for_ranges(kCount, 500, [&](size_t begin, size_t end) {
    Mutator mutator(kSeed + begin);
    const auto scratch = std::make_unique<RunScratch>();
    for (size_t i = begin; i < end; ++i) {
      const std::vector<u64> w = mutator.next();
      const RunResult r =
          verify_run(run.guest.key.vk, w.data(), w.size(), {.allow_test_preset = true}, *scratch);
      EXPECT_EQ(r.ok(), w == run.bundle) << "piece " << begin << ", attempt " << i - begin;
      EXPECT_NE(std::string(describe(r.error)), "unknown error");
      size_t words = 0;
      for_each_output(
          w.data(), w.size(), [](void* n, u64) { ++*static_cast<size_t*>(n); }, &words);
      EXPECT_LE(words, w.size());
      refused += r.ok() ? 0 : 1;
    }
  });
  EXPECT_GT(refused, kCount * 9 / 10);
}

/// A table list within all rules, of chips and heights at random.
std::vector<u64> random_tables(std::mt19937_64& rng, const VerifyingKey& key) {
  std::vector<u64> list;
  for (u64 chip = 0; chip <= static_cast<u64>(ChipId::kBoundary); ++chip) {
    const u32 fixed = fixed_height(static_cast<ChipId>(chip), key);
    const u64 height = fixed != 0 ? fixed : 5 + rng() % 22;
    if (fixed == 0 && chip != static_cast<u64>(ChipId::kBoundary) && rng() % 3 == 0) continue;
    list.push_back(chip | height << 8);
    if (fixed == 0 && chip != static_cast<u64>(ChipId::kBoundary) && height > 5 && rng() % 2 == 0) {
      list.push_back(chip | (5 + rng() % (height - 5)) << 8);
    }
  }
  return list;
}

// Past the statement, into layouts of every shape: the record's words are the honest ones, random
// ones, or zeros.
TEST(Fuzz, StatementsOfEveryShape) {
  const FuzzRun& run = fuzz_run();
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 rng(kSeed);
  const auto scratch = std::make_unique<RunScratch>();
  const BundleMap map(run.bundle);
  for (u32 i = 0; i < 2000; ++i) {
    std::vector<u64> w(run.bundle.begin(), run.bundle.begin() + kHeaderEnd);
    const RecordPlace& r = map.epochs[0];
    const std::vector<u64> tables = random_tables(rng, run.guest.key.vk);
    std::vector<u64> record(run.bundle.begin() + static_cast<std::ptrdiff_t>(r.begin),
                            run.bundle.begin() + static_cast<std::ptrdiff_t>(r.begin + kTableWord));
    record[kTableCountWord] = tables.size();
    record.insert(record.end(), tables.begin(), tables.end());
    record.push_back(7);
    const size_t words = rng() % 60000;
    for (size_t k = 0; k < words; ++k) record.push_back(i % 2 == 0 ? 0 : rng() >> 1);
    w.push_back(record.size());
    w.insert(w.end(), record.begin(), record.end());
    w.shrink_to_fit();
    const RunResult result =
        verify_run(run.guest.key.vk, w.data(), w.size(), {.allow_test_preset = true}, *scratch);
    EXPECT_EQ(result.error, RunError::kEpochProof) << text(result);
  }
}

TEST(Fuzz, PlansOfEveryShape) {
  // Epochs and anchors beyond what is there, keys of every chain end: the plan is made from them.
  const FuzzRun& run = fuzz_run();
  std::mt19937_64 rng(kSeed);
  const auto scratch = std::make_unique<RunScratch>();
  for (u32 i = 0; i < 2000; ++i) {
    std::vector<u64> w = run.bundle;
    w[kAnchorCountWord] = 1 + rng() % (1ull << (rng() % 31));
    for (u32 region = 0; region < kRegionCount; ++region) {
      w[kLastKeyWord + region] =
          kRegionStart[region] + rng() % (kRegionLast[region] - kRegionStart[region] + 1);
    }
    const RunResult r =
        verify_run(run.guest.key.vk, w.data(), w.size(), {.allow_test_preset = true}, *scratch);
    EXPECT_TRUE(r.error == RunError::kGlobalProof || r.error == RunError::kTruncated ||
                r.error == RunError::kMainRoot)
        << text(r);
  }
}

TEST(Fuzz, VerifyingKeys) {
  const FuzzRun& run = fuzz_run();
  const std::vector<u64> honest = encode_verifying_key(run.guest.key.vk);
  const auto decoded = decode_verifying_key(honest);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->digest(), run.guest.key.vk.digest());
  // The checksum, or the length, sees every change.
  for (size_t word = 0; word < honest.size(); ++word) {
    for (u32 bit = 0; bit < 64; ++bit) {
      std::vector<u64> w = honest;
      w[word] ^= 1ull << bit;
      EXPECT_FALSE(decode_verifying_key(w)) << word << ", " << bit;
    }
  }
  for (size_t length = 0; length < honest.size(); ++length) {
    const std::vector<u64> cut(honest.begin(),
                               honest.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(decode_verifying_key(cut)) << length;
  }
  std::vector<u64> longer = honest;
  longer.push_back(0);
  EXPECT_FALSE(decode_verifying_key(longer));
}

// Keys with a right checksum over anything: what decodes is within bounds, and no verifier minds
// it.
TEST(Fuzz, VerifyingKeysWithARightChecksum) {
  const FuzzRun& run = fuzz_run();
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 rng(kSeed);
  const auto scratch = std::make_unique<RunScratch>();
  size_t decoded_count = 0;
  for (u32 i = 0; i < 3000; ++i) {
    std::vector<u64> w = encode_verifying_key(run.guest.key.vk);
    const size_t at = 2 + rng() % 11;
    w[at] = at == 4 ? (rng() % 40 | (rng() % 40) << 32) : rng() >> rng() % 64;
    const prover::Digest sum = prover::blake3_hash(w.data(), 13 * sizeof(u64));
    std::copy_n(sum.words, 4, w.begin() + 13);
    const auto key = decode_verifying_key(w);
    if (!key) continue;
    ++decoded_count;
    EXPECT_GE(key->log_program, 5u);
    EXPECT_LE(key->log_program, 26u);
    EXPECT_GE(key->log_image, 5u);
    EXPECT_LE(key->log_image, 26u);
    EXPECT_NE(prover::find_preset(key->preset_id), nullptr);
    std::vector<u64> bundle = run.bundle;
    std::copy_n(key->digest().words, 4, bundle.begin() + kProgramWord);
    const RunResult r =
        verify_run(*key, bundle.data(), bundle.size(), {.allow_test_preset = true}, *scratch);
    EXPECT_EQ(r.ok(), key->digest() == run.guest.key.vk.digest()) << text(r);
  }
  EXPECT_GT(decoded_count, 500u);
}

}  // namespace
}  // namespace epochd::testing
