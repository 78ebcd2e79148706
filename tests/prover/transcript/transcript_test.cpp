// The transcript against its definition (docs/protocol.md section 2), and what it must tell apart.
#include "prover/transcript/transcript.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "prover/hash/domains.hpp"
#include "prover/transcript/stage_log.hpp"

namespace epochd::prover {
namespace {

Transcript fresh() {
  return Transcript("epochd test", 1, "transcript");
}

/// state | first 24 bytes of BLAKE3(label) | count: the 64-byte header, byte by byte.
std::vector<u8> header(const Digest& state, const std::string& label, u64 count) {
  std::vector<u8> h(64);
  std::memcpy(h.data(), state.words, 32);
  const Digest tag = blake3_hash(label.data(), label.size());
  std::memcpy(h.data() + 32, tag.words, 24);
  std::memcpy(h.data() + 56, &count, 8);
  return h;
}

TEST(Transcript, StartsFromNameVersionAndKind) {
  std::vector<u8> input(24);
  const u64 numbers[3] = {11, 1, 10};
  std::memcpy(input.data(), numbers, 24);
  for (const char c : std::string("epochd testtranscript")) input.push_back(static_cast<u8>(c));
  EXPECT_EQ(fresh().state(), blake3_keyed(domains::kAbsorb, input.data(), input.size()));
  EXPECT_NE(Transcript("epochd test", 2, "transcript").state(), fresh().state());
  // The same letters, cut elsewhere.
  EXPECT_NE(Transcript("epochd testt", 1, "ranscript").state(), fresh().state());
}

TEST(Transcript, AbsorbsAHeaderAndTheDataInPlace) {
  for (const size_t words : {0u, 1u, 3u, 8u, 129u, 1000u}) {
    std::vector<u64> data(words);
    for (size_t i = 0; i < words; ++i) data[i] = i * 0x9e3779b97f4a7c15ull;
    Transcript t = fresh();
    std::vector<u8> input = header(t.state(), "some/label", 8 * words);
    const u8* bytes = reinterpret_cast<const u8*>(data.data());
    input.insert(input.end(), bytes, bytes + 8 * words);
    t.absorb_words("some/label", data.data(), words);
    EXPECT_EQ(t.state(), blake3_keyed(domains::kAbsorb, input.data(), input.size())) << words;
  }
}

TEST(Transcript, DrawsThreeWordsAnElementAndThenItsNextState) {
  Transcript t = fresh();
  const std::vector<u8> input = header(t.state(), "draw", 5);
  Blake3 hasher = Blake3::keyed(domains::kDraw);
  hasher.update(input.data(), input.size());
  u64 stream[64];
  hasher.finalize(0, stream, sizeof stream);
  Fp3 drawn[5];
  t.draw("draw", drawn, 5);
  size_t next = 0;
  const auto element = [&] {
    while (stream[next] >= Fp::kModulus) ++next;
    return Fp::from_canonical(stream[next++]);
  };
  for (const Fp3& v : drawn) {
    EXPECT_EQ(v.c0, element());
    EXPECT_EQ(v.c1, element());
    EXPECT_EQ(v.c2, element());
  }
  const Digest state = {{stream[next], stream[next + 1], stream[next + 2], stream[next + 3]}};
  EXPECT_EQ(t.state(), state);
}

/// One word in 2^32 is no field element. This transcript, found by search, draws one first.
TEST(Transcript, WordsThatAreNoElementsAreSkipped) {
  constexpr u64 kFound = 907987132;
  Transcript t = fresh();
  t.absorb_words("n", &kFound, 1);
  const std::vector<u8> input = header(t.state(), "draw", 2);
  Blake3 hasher = Blake3::keyed(domains::kDraw);
  hasher.update(input.data(), input.size());
  u64 stream[11];
  hasher.finalize(0, stream, sizeof stream);
  ASSERT_GE(stream[0], Fp::kModulus)
      << "search again: the definition of the transcript has changed";
  Fp3 drawn[2];
  t.draw("draw", drawn, 2);
  EXPECT_EQ(drawn[0].c0.value(), stream[1]);
  EXPECT_EQ(drawn[0].c2.value(), stream[3]);
  EXPECT_EQ(drawn[1].c2.value(), stream[6]);
  EXPECT_EQ(t.state(), (Digest{{stream[7], stream[8], stream[9], stream[10]}}));
}

TEST(Transcript, IndicesAreLowBitsOfRawWords) {
  for (const u32 bits : {1u, 6u, 27u, 29u}) {
    Transcript t = fresh();
    const std::vector<u8> input = header(t.state(), "queries", 261);
    Blake3 hasher = Blake3::keyed(domains::kDraw);
    hasher.update(input.data(), input.size());
    std::vector<u64> stream(265);
    hasher.finalize(0, stream.data(), 8 * stream.size());
    std::vector<u32> indices(261);
    t.draw_indices("queries", bits, indices.data(), indices.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      EXPECT_EQ(indices[i], stream[i] & ((u64{1} << bits) - 1));
    }
    EXPECT_EQ(t.state(), (Digest{{stream[261], stream[262], stream[263], stream[264]}}));
  }
}

TEST(Transcript, GrindingIsAHashBelowItsBound) {
  const Digest state = fresh().state();
  for (const u32 bits : {1u, 4u, 8u, 20u}) {
    u32 accepted = 0;
    for (u64 nonce = 0; nonce < 4096; ++nonce) {
      const u64 input[5] = {state.words[0], state.words[1], state.words[2], state.words[3], nonce};
      const u64 first = blake3_keyed(domains::kGrind, input, sizeof input).words[0];
      EXPECT_EQ(Transcript::grind_ok(state, nonce, bits), first >> (64 - bits) == 0);
      accepted += Transcript::grind_ok(state, nonce, bits) ? 1 : 0;
    }
    EXPECT_LE(accepted, (4096u >> bits) * 2 + 8);
  }
  EXPECT_TRUE(Transcript::grind_ok(state, 0, 0));
  EXPECT_FALSE(Transcript::grind_ok(state, 1, 0));
  EXPECT_FALSE(Transcript::grind_ok(state, ~u64{0}, 0));
}

TEST(Transcript, EveryDifferenceInWhatWasSaidShows) {
  const u64 w[4] = {1, 2, 3, 4};
  std::set<std::vector<u64>> states;
  size_t count = 0;
  const auto add = [&](const Transcript& t) {
    states.insert({t.state().words, t.state().words + 4});
    ++count;
  };
  const auto said = [&](const auto&... steps) {
    Transcript t = fresh();
    (steps(t), ...);
    add(t);
  };
  const auto absorb = [&](const char* label, size_t first, size_t n) {
    return [=, &w](Transcript& t) { t.absorb_words(label, w + first, n); };
  };
  const auto draw = [](const char* label, size_t n) {
    return [=](Transcript& t) {
      std::vector<Fp3> v(n);
      t.draw(label, v.data(), n);
    };
  };
  said();
  said(absorb("a", 0, 0));
  said(absorb("a", 0, 1));
  said(absorb("b", 0, 1));
  said(absorb("a", 0, 2));
  said(absorb("a", 0, 1), absorb("a", 1, 1));
  said(absorb("a", 1, 1), absorb("a", 0, 1));
  said(absorb("a", 0, 1), absorb("a", 1, 3));
  said(absorb("a", 0, 3), absorb("a", 3, 1));
  said(draw("a", 1));
  said(draw("b", 1));
  said(draw("a", 2));
  said(draw("a", 1), draw("a", 1));
  said(absorb("a", 0, 1), draw("a", 1));
  said(draw("a", 1), absorb("a", 0, 1));
  for (const u64 index : {0, 1, 2}) add(fresh().fork("fork", index));
  EXPECT_EQ(states.size(), count);
}

/// Histories that differ far back, longer than any internal block, stay different.
TEST(Transcript, LongHistoriesAreNotForgotten) {
  std::vector<u64> a(1000);
  std::vector<u64> b = a;
  b[0] = 1;
  Transcript x = fresh();
  Transcript y = fresh();
  x.absorb_words("a", a.data(), a.size());
  y.absorb_words("a", b.data(), b.size());
  for (u32 i = 0; i < 100; ++i) {
    x.absorb_words("same", a.data(), a.size());
    y.absorb_words("same", a.data(), a.size());
  }
  EXPECT_NE(x.draw("challenge"), y.draw("challenge"));
}

TEST(Transcript, ForksLeaveTheirOriginAlone) {
  Transcript t = fresh();
  const Digest before = t.state();
  Transcript f = t.fork("sub", 3);
  (void)f.draw("a");
  EXPECT_EQ(t.state(), before);
  const u64 three = 3;
  t.absorb_words("sub", &three, 1);
  EXPECT_EQ(t.fork("x", 1).state(), fresh().fork("sub", 3).fork("x", 1).state());
}

class StageLogs : public testing::Test {
 protected:
  static void say(Transcript& t, const char* label, u64 word) { t.absorb_words(label, &word, 1); }
  StageLog a_;
  StageLog b_;
};

TEST_F(StageLogs, NameTheFirstDifferenceAndItsNumber) {
  Transcript x = fresh();
  Transcript y = fresh();
  x.observe(a_.observer());
  y.observe(b_.observer());
  for (const auto& [t, third] : {std::pair{&x, 7u}, std::pair{&y, 8u}}) {
    say(*t, "root", 1);
    say(*t, "layer", 1);
    say(*t, "layer", 2);
    say(*t, "layer", third);
    say(*t, "end", 1);
  }
  ASSERT_EQ(a_.stages().size(), 5u);
  EXPECT_EQ(a_.stages()[4].state, x.state());
  EXPECT_EQ(a_.name(1), "layer");
  EXPECT_EQ(first_difference(a_, b_), "layer 2");
  EXPECT_EQ(first_difference(a_, a_), "");
}

TEST_F(StageLogs, NoticeLabelsAndMissingStages) {
  Transcript x = fresh();
  Transcript y = fresh();
  x.observe(a_.observer());
  y.observe(b_.observer());
  say(x, "same", 1);
  say(y, "same", 1);
  EXPECT_EQ(first_difference(a_, b_), "");
  say(x, "more", 1);
  EXPECT_EQ(first_difference(a_, b_), "more");
  EXPECT_EQ(first_difference(b_, a_), "more");
  say(y, "other", 1);
  EXPECT_EQ(first_difference(a_, b_), "more");
}

}  // namespace
}  // namespace epochd::prover
