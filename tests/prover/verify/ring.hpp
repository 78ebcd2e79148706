// A small statement for attacks on the argument: tables of freely chosen heights, each passing
// tuples round in a ring, whose counters cancel over all tables. Proved with the oracle session, so
// that a test can cheat at any step and still follow Fiat-Shamir.
#pragma once

#include <memory>
#include <vector>

#include "prover/prove/prove.hpp"
#include "prover/verify/verify.hpp"
#include "tests/prover/prove/oracle_session.hpp"

namespace epochd::prover::ring {

struct RingAir {
  static constexpr const char* kName = "ring";
  /// kSpare stands in no constraint: a lie about it is FRI's alone to find.
  enum Col : u32 { kA, kB, kIsReal, kCube, kCount, kSpare, kWidth };
  static constexpr u32 kFixedWidth = 0;
  static constexpr u32 kMainWidth = kWidth;
  static constexpr u32 kParams = 0;
  static constexpr u32 kConstraints = 2;
  static constexpr u32 kInteractions = 3;

  template <class C>
  static constexpr void eval(C& c) {
    const auto a = c.local(kA);
    const auto is_real = c.local(kIsReal);
    c.assert_bool(is_real, "ring.real");
    c.assert_eq(c.local(kCube), a * a * a, "ring.cube");
    c.send(u8{1}, "ring.pass", is_real, a);
    c.receive(u8{1}, "ring.take", is_real, c.local(kB));
    c.send(u8{2}, "ring.count", c.local(kCount), c.constant(7), c.constant(9));
  }
};

/// A table that touches no bus: its L must be 0.
struct QuietAir {
  static constexpr const char* kName = "quiet";
  enum Col : u32 { kBit, kWidth };
  static constexpr u32 kFixedWidth = 0;
  static constexpr u32 kMainWidth = kWidth;
  static constexpr u32 kParams = 0;
  static constexpr u32 kConstraints = 1;
  static constexpr u32 kInteractions = 0;

  template <class C>
  static constexpr void eval(C& c) {
    c.assert_bool(c.local(kBit), "quiet.bit");
  }
};

/// 2^7, 2^6, 2^6, 2^5 and the quiet table, 2^5: two tables of one height, in different trees.
inline const std::vector<u32> kHeights = {7, 6, 6, 5};

/// As the presets for use, but with a small final polynomial, so that these heights have two FRI
/// layers (folds by 8 and 4), and little grinding.
constexpr Preset kPreset = {900, "ring", 0, 1, 8, 4, 3, 2, 2, 2, 6, 192};

class Ring {
 public:
  explicit Ring(const Preset& preset = kPreset, std::vector<u32> heights = kHeights);

  const Layout& layout() const { return *layout_; }
  u32 ring_tables() const { return static_cast<u32>(heights_.size()); }
  u32 quiet_table() const { return ring_tables(); }
  /// An honest prover with its base trees built.
  oracle::OracleSession session() const { return *session_; }
  template <ProverSession S>
  std::vector<u64> prove(S& session, TranscriptObserver observer = {}) const {
    Digest roots[kTrees];
    std::vector<u64> words;
    for (u32 i = 0; i < kTrees; ++i) {
      roots[i] = session.commit(i);
      push_digest(words, roots[i]);
    }
    Transcript transcript = begin(roots);
    transcript.observe(observer);
    const Challenges challenges = draw_lookup_challenges(transcript);
    prove_argument(session, transcript, challenges, words);
    return words;
  }
  VerifyResult verify(const std::vector<u64>& words, TranscriptObserver observer = {}) const;
  VerifyResult prove_and_verify(oracle::OracleSession session) const {
    return verify(prove(session));
  }

  static constexpr u32 kTrees = 2;
  static constexpr size_t kRootWords = 4 * kTrees;

 private:
  std::vector<std::vector<oracle::Column>> make_traces() const;
  Transcript begin(const Digest* roots) const;

  Preset preset_;
  std::vector<u32> heights_;
  std::unique_ptr<Layout> layout_;
  std::unique_ptr<oracle::OracleSession> session_;
  std::unique_ptr<VerifyScratch> scratch_ = std::make_unique<VerifyScratch>();
};

}  // namespace epochd::prover::ring
