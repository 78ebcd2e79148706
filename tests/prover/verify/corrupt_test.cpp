// Corrupted proofs: every word changed in every way that is cheap to think of, every length, and
// which check finds it. Words that were absorbed change all later challenges, so that what breaks
// first varies; words opened after the last challenge break one known check.
#include <gtest/gtest.h>

#include <random>

#include "prover/transcript/stage_log.hpp"
#include "tests/prover/tutorial/machine.hpp"
#include "tests/prover/verify/ring.hpp"

namespace epochd::prover::ring {
namespace {

using oracle::OracleSession;
using oracle::Region;
using oracle::RegionSpan;

/// No grinding: else nearly every flip of an absorbed word would stop there.
constexpr Preset without_grinding() {
  Preset p = kPreset;
  p.grinding_bits = 0;
  return p;
}

class Corrupt : public testing::Test {
 protected:
  struct Good {
    Ring ring{without_grinding()};
    OracleSession session = ring.session();
    std::vector<u64> words = ring.prove(session);
  };
  static const Good& good() {
    static const Good g;
    return g;
  }
  const Layout& layout() const { return good().ring.layout(); }
  const std::vector<u64>& words() const { return good().words; }
  static VerifyResult verify(const std::vector<u64>& words) { return good().ring.verify(words); }
  VerifyResult with(size_t at, u64 value) const {
    std::vector<u64> changed = words();
    changed[at] = value;
    return verify(changed);
  }

  /// The parts of a proof before the query data, in order, and the stage that absorbs each.
  struct Part {
    const char* label;
    size_t begin, end;
    bool is_field;
  };
  std::vector<Part> fixed_parts() const {
    std::vector<Part> parts;
    size_t at = 0;
    const auto add = [&](const char* label, size_t count, bool is_field) {
      parts.push_back({label, at, at + count, is_field});
      at += count;
    };
    // The base roots are absorbed by the caller: the challenges drawn from them are the first
    // stage the log sees.
    add("lookup/gamma beta", Ring::kRootWords, false);
    add("lookup/root", 4, false);
    add("lookup/sums", 3 * size_t{layout().shape.table_count}, true);
    add("quotient/root", 4, false);
    add("openings", 3 * size_t{layout().opening_count}, true);
    for (u32 s = 0; s < layout().fri_step_count; ++s) {
      add(s == 0 ? "fri/layer" : "fri/layer 1", 4, false);
    }
    add("fri/final", size_t{3} << layout().fri_final_log, true);
    add("grind", 1, false);
    return parts;
  }
  /// The check that finds a changed word of the query data.
  bool is_expected(const RegionSpan& r, const VerifyResult& result) const {
    const u32 steps = layout().fri_step_count;
    switch (r.region) {
      case Region::kRows:
        return result.error == VerifyError::kFriLayer && result.detail == 0;
      case Region::kSiblings:
        return result.error == VerifyError::kMerkleBase && result.detail == r.index;
      case Region::kFriRows:
        // The value itself is compared if it was queried; else its fold with the next layer.
        if (result.error == VerifyError::kFriFinal) return r.index + 1 == steps;
        return result.error == VerifyError::kFriLayer &&
               (result.detail == r.index || result.detail == r.index + 1);
      case Region::kFriSiblings:
        return result.error == VerifyError::kMerkleFri && result.detail == r.index;
    }
    return false;
  }
  static bool is_field(Region r) { return r == Region::kRows || r == Region::kFriRows; }
};

TEST_F(Corrupt, TheProofIsGoodAndItsPartsAreAllOfIt) {
  EXPECT_TRUE(verify(words()).ok());
  const auto& regions = good().session.regions;
  EXPECT_EQ(fixed_parts().back().end, regions.front().begin);
  for (size_t i = 1; i < regions.size(); ++i) EXPECT_EQ(regions[i - 1].end, regions[i].begin);
  EXPECT_EQ(regions.back().end, words().size());
  EXPECT_EQ(regions.size(), 2 * (layout().tree_count + layout().fri_step_count));
}

/// Every element that is sent before the queries: the first stage of the verifier's transcript that
/// it changes is the one that absorbs it, so every later challenge depends on it, and none before.
TEST_F(Corrupt, EveryAbsorbedWordMovesTheNextStateAndNoEarlierOne) {
  StageLog honest;
  EXPECT_TRUE(good().ring.verify(words(), honest.observer()).ok());
  for (const Part& part : fixed_parts()) {
    for (size_t at = part.begin; at < part.end; ++at) {
      std::vector<u64> changed = words();
      changed[at] ^= 1;
      StageLog log;
      EXPECT_FALSE(good().ring.verify(changed, log.observer()).ok());
      // A nonce without its work (here: any but 0) is refused before it is absorbed: the log ends.
      EXPECT_EQ(first_difference(honest, log), part.label) << "word " << at;
    }
  }
}

/// The lowest, middle and top bit of every word, and every fourth, from another one in each word.
std::vector<u32> bits_of(size_t at) {
  std::vector<u32> bits = {0, 31, 63};
  for (u32 bit = static_cast<u32>(at % 4); bit < 64; bit += 4) bits.push_back(bit);
  return bits;
}

TEST_F(Corrupt, EveryWordWithBitsFlipped) {
  const size_t query_data = good().session.regions.front().begin;
  for (size_t at = 0; at < query_data; ++at) {
    for (const u32 bit : bits_of(at)) {
      EXPECT_FALSE(with(at, words()[at] ^ u64{1} << bit).ok()) << "word " << at << " bit " << bit;
    }
  }
  for (const RegionSpan& r : good().session.regions) {
    for (size_t at = r.begin; at < r.end; ++at) {
      for (const u32 bit : bits_of(at)) {
        const u64 changed = words()[at] ^ u64 { 1 } << bit;
        const VerifyResult result = with(at, changed);
        if (is_field(r.region) && !Fp::is_canonical(changed)) {
          EXPECT_EQ(result.error, VerifyError::kNotCanonical) << "word " << at;
        } else {
          EXPECT_TRUE(is_expected(r, result))
              << "word " << at << " bit " << bit << ": " << describe(result.error) << ", detail "
              << result.detail;
        }
      }
    }
  }
}

/// p, 2^64 - 1 and value + p are other encodings, or none, of field elements.
TEST_F(Corrupt, EveryFieldWordOutsideTheField) {
  const auto check = [&](size_t at) {
    std::vector<u64> others = {Fp::kModulus, ~u64{0}};
    if (words()[at] <= ~u64{0} - Fp::kModulus) others.push_back(words()[at] + Fp::kModulus);
    for (const u64 value : others) {
      EXPECT_EQ(with(at, value).error, VerifyError::kNotCanonical) << "word " << at;
    }
  };
  size_t aliased = 0;
  const auto check_all = [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) {
      aliased += words()[at] <= ~u64{0} - Fp::kModulus ? 1 : 0;
      check(at);
    }
  };
  for (const Part& part : fixed_parts()) {
    if (part.is_field) check_all(part.begin, part.end);
  }
  for (const RegionSpan& r : good().session.regions) {
    if (is_field(r.region)) check_all(r.begin, r.end);
  }
  EXPECT_GT(aliased, 0u) << "no word was small enough for value + p to fit";
}

TEST_F(Corrupt, EveryDigestWordReplaced) {
  for (const RegionSpan& r : good().session.regions) {
    if (is_field(r.region)) continue;
    for (size_t at = r.begin; at < r.end; ++at) {
      for (const u64 value : {Fp::kModulus, ~u64{0}, u64{0}}) {
        EXPECT_TRUE(is_expected(r, with(at, value))) << "word " << at;
      }
    }
  }
  for (const Part& part : fixed_parts()) {
    if (part.is_field) continue;
    for (size_t at = part.begin; at < part.end; ++at) {
      for (const u64 value : {Fp::kModulus, ~u64{0}}) EXPECT_FALSE(with(at, value).ok());
    }
  }
}

TEST_F(Corrupt, EveryLength) {
  for (size_t length = 0; length < words().size(); ++length) {
    // A copy of exactly this size, so that a read past its end is one an address sanitizer sees.
    const std::vector<u64> cut(words().begin(), words().begin() + static_cast<long>(length));
    EXPECT_EQ(verify(cut).error, VerifyError::kTruncated) << length;
  }
  for (const size_t extra : {1u, 2u, 3u, 4u, 100u}) {
    for (const u64 value : {u64{0}, u64{1}, ~u64{0}}) {
      std::vector<u64> longer = words();
      longer.insert(longer.end(), extra, value);
      EXPECT_EQ(verify(longer).error, VerifyError::kTrailing) << extra;
    }
  }
}

/// One element more or less anywhere shifts all that follows.
TEST_F(Corrupt, ElementsInsertedOrRemoved) {
  for (size_t at = 0; at < words().size(); at += 5) {
    for (const size_t count : {1u, 3u, 4u}) {
      std::vector<u64> more = words();
      more.insert(more.begin() + static_cast<long>(at), count, u64{1});
      EXPECT_FALSE(verify(more).ok()) << at;
      if (at + count > words().size()) continue;
      std::vector<u64> fewer = words();
      const auto first = fewer.begin() + static_cast<long>(at);
      fewer.erase(first, first + static_cast<long>(count));
      EXPECT_FALSE(verify(fewer).ok()) << at;
    }
  }
}

/// A fifth coefficient of the final polynomial stands where the nonce should.
TEST_F(Corrupt, CoefficientAppended) {
  const size_t end = fixed_parts().back().begin;
  for (const u64 value : {u64{0}, u64{1}}) {
    std::vector<u64> longer = words();
    longer.insert(longer.begin() + static_cast<long>(end), {value, 0, 0});
    EXPECT_EQ(verify(longer).error, value == 0 ? VerifyError::kTrailing : VerifyError::kGrinding);
  }
}

TEST_F(Corrupt, WordsElementsAndDigestsSwapped) {
  for (const size_t distance : {1u, 3u, 4u, 18u}) {
    for (size_t at = 0; at + distance < words().size(); ++at) {
      if (words()[at] == words()[at + distance]) continue;
      std::vector<u64> swapped = words();
      std::swap(swapped[at], swapped[at + distance]);
      EXPECT_FALSE(verify(swapped).ok()) << at << " and " << at + distance;
    }
  }
}

TEST_F(Corrupt, RandomBytesAreRefused) {
  constexpr u64 kSeed = 5;
  std::mt19937_64 random(kSeed);
  for (u32 round = 0; round < 200; ++round) {
    std::vector<u64> noise(random() % (2 * words().size()));
    for (u64& w : noise) w = random() % Fp::kModulus;
    EXPECT_FALSE(verify(noise).ok()) << "seed " << kSeed << " round " << round;
  }
}

/// The same for a proof of the CPU backend with fixed columns and a preset for use, sampled.
TEST(CorruptTutorial, SampledWordsOfAProven100Proof) {
  constexpr u64 kSeed = 6;
  std::mt19937_64 random(kSeed);
  const Parallel pool(1);
  const CpuBackend backend(best_isa(), pool);
  const Preset& preset = kPresets[0];
  const tutorial::Witness witness = tutorial::random_witness(kSeed, 60, 40);
  const tutorial::Statement statement = tutorial::make_statement(preset, witness);
  const auto layout = tutorial::make_layout(statement);
  CpuSession session(backend, *layout);
  const auto nibbles = tutorial::make_nibbles(backend, preset.log_blowup);
  tutorial::fill(session, witness, nibbles);
  const std::vector<u64> words = tutorial::prove(session, statement);
  EXPECT_TRUE(tutorial::verify(statement, nibbles->tree.root(), words).ok());
  for (u32 round = 0; round < 200; ++round) {
    std::vector<u64> changed = words;
    const size_t at = random() % words.size();
    changed[at] ^= u64{1} << random() % 64;
    EXPECT_FALSE(tutorial::verify(statement, nibbles->tree.root(), changed).ok())
        << "seed " << kSeed << " word " << at;
  }
}

/// Heights small enough that FRI commits nothing: R itself is compared with the coefficients.
TEST(CorruptFlat, WithoutFriLayersOpenedRowsContradictTheFinalPolynomial) {
  Preset preset = without_grinding();
  preset.log_final = 6;
  const Ring ring(preset, {5, 5});
  ASSERT_EQ(ring.layout().fri_step_count, 0u);
  OracleSession session = ring.session();
  const std::vector<u64> words = ring.prove(session);
  EXPECT_TRUE(ring.verify(words).ok());
  for (const RegionSpan& r : session.regions) {
    for (size_t at = r.begin; at < r.end; ++at) {
      std::vector<u64> changed = words;
      changed[at] ^= 1;
      if (r.region == Region::kRows && !Fp::is_canonical(changed[at])) continue;
      const VerifyResult result = ring.verify(changed);
      EXPECT_EQ(result.error,
                r.region == Region::kRows ? VerifyError::kFriFinal : VerifyError::kMerkleBase);
      EXPECT_EQ(result.detail, r.region == Region::kRows ? 0 : r.index);
    }
  }
}

TEST(VerifyErrors, EachHasItsOwnMessage) {
  std::vector<std::string> seen;
  for (u32 e = 0; e <= static_cast<u32>(VerifyError::kZeroDenominator); ++e) {
    seen.push_back(describe(static_cast<VerifyError>(e)));
    EXPECT_NE(seen.back(), "unknown error");
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

}  // namespace
}  // namespace epochd::prover::ring
