// Cheating provers: each lies at one step of the protocol and follows it, Fiat-Shamir included,
// from there on. The verifier must name the check that the lie breaks. docs/soundness.md lists the
// public faults these stand for.
#include <gtest/gtest.h>

#include "tests/prover/verify/ring.hpp"

namespace epochd::prover::ring {
namespace {

using oracle::OracleSession;
using oracle::Stage;

constexpr u32 kTwinA = 1;  ///< the two tables of height 2^6
constexpr u32 kTwinB = 2;
constexpr u32 kShortest = 3;

class Liar : public testing::Test {
 protected:
  static const Ring& ring() {
    static const Ring r;
    return r;
  }
  const Layout& layout() const { return ring().layout(); }
  u32 height(u32 table) const { return layout().shape.tables[table].log_height; }

  /// A session that runs `lie` when `stage` (and tree or layer `index`) has its result.
  static OracleSession lying(Stage stage, u32 index, std::function<void(OracleSession&)> lie) {
    OracleSession s = ring().session();
    s.tamper = [=](OracleSession& session, Stage at, u32 i) {
      if (at == stage && i == index) lie(session);
    };
    return s;
  }
  void expect(OracleSession session, VerifyError error, u32 detail) const {
    const VerifyResult r = ring().prove_and_verify(std::move(session));
    EXPECT_EQ(r.error, error) << describe(r.error) << ", detail " << r.detail;
    EXPECT_EQ(r.detail, detail);
  }
  /// Changes a main column of a table before it is committed.
  static void set_trace(OracleSession& s, u32 table, u32 column, size_t row, Fp value) {
    const Layout& l = s.layout();
    s.traces[table][column][row] = value;
    s.coefficients[l.main_segment[table]][column] =
        oracle::interpolate(s.traces[table][column], Fp::one());
    s.is_built[l.shape.tables[table].main_tree] = false;
  }
  /// Adds c * x^degree to a column's polynomial before it is committed; its values on H stay where
  /// the term is cancelled there.
  static void add_term(OracleSession& s, u32 table, u32 column, size_t degree, Fp c) {
    const Layout& l = s.layout();
    oracle::Column& f = s.coefficients[l.main_segment[table]][column];
    if (f.size() <= degree) f.resize(degree + 1);
    f[degree] += c;
    s.is_built[l.shape.tables[table].main_tree] = false;
  }
  u32 opening(u32 table, u32 column) const {
    return layout().segments[layout().main_segment[table]].opening(column, 0);
  }
};

TEST_F(Liar, AnHonestProverIsBelieved) {
  const VerifyResult r = ring().prove_and_verify(ring().session());
  EXPECT_TRUE(r.ok()) << describe(r.error) << ", detail " << r.detail;
  EXPECT_EQ(layout().fri_step_count, 2u);
}

TEST_F(Liar, TraceCellBreaksTheQuotientOfItsHeight) {
  for (u32 t = 0; t < ring().ring_tables(); ++t) {
    // First, last and a middle row, of real and of padding content.
    const size_t rows = size_t{1} << height(t);
    for (const size_t row : {size_t{0}, rows / 2 - 1, rows - 1}) {
      SCOPED_TRACE("table " + std::to_string(t) + " row " + std::to_string(row));
      OracleSession s = ring().session();
      const Fp old = s.traces[t][RingAir::kCube][row];
      set_trace(s, t, RingAir::kCube, row, old + Fp::one());
      expect(std::move(s), VerifyError::kQuotient, height(t));
    }
  }
  OracleSession s = ring().session();
  set_trace(s, ring().quiet_table(), QuietAir::kBit, 4, Fp::from_u64(2));
  expect(std::move(s), VerifyError::kQuotient, kLogHeightMin);
}

TEST_F(Liar, SelectorOfTwoMinusOneOrOneHalfBreaksTheQuotient) {
  for (const Fp value : {Fp::from_u64(2), -Fp::one(), Fp::from_u64(2).inverse()}) {
    OracleSession s = ring().session();
    // a = b in this row, so that the bus stays balanced whatever the selector says.
    set_trace(s, 0, RingAir::kB, 100, s.traces[0][RingAir::kA][100]);
    set_trace(s, 0, RingAir::kIsReal, 100, value);
    expect(std::move(s), VerifyError::kQuotient, height(0));
  }
}

TEST_F(Liar, MultiplicityUnbalancesTheBuses) {
  for (u32 t = 0; t < ring().ring_tables(); ++t) {
    OracleSession s = ring().session();
    set_trace(s, t, RingAir::kCount, 5, s.traces[t][RingAir::kCount][5] + Fp::one());
    expect(std::move(s), VerifyError::kLookupSum, kNone);
  }
}

TEST_F(Liar, MissingTupleUnbalancesTheBuses) {
  OracleSession s = ring().session();
  set_trace(s, kShortest, RingAir::kB, 0, Fp::from_u64(1));
  expect(std::move(s), VerifyError::kLookupSum, kNone);
}

TEST_F(Liar, LookupSumsMustAddUp) {
  for (u32 t = 0; t < ring().ring_tables(); ++t) {
    expect(lying(Stage::kLogup, 0, [t](OracleSession& s) { s.sums[t] += fp3_one(); }),
           VerifyError::kLookupSum, kNone);
  }
}

TEST_F(Liar, LookupSumsMovedBetweenTablesBreakAQuotient) {
  const auto move = [](u32 from, u32 to) {
    return [=](OracleSession& s) {
      s.sums[from] -= fp3_one();
      s.sums[to] += fp3_one();
    };
  };
  expect(lying(Stage::kLogup, 0, move(kTwinA, kTwinB)), VerifyError::kQuotient, height(kTwinA));
  expect(lying(Stage::kLogup, 0, move(kShortest, 0)), VerifyError::kQuotient, height(0));
  expect(lying(Stage::kLogup, 0, move(kShortest, kTwinA)), VerifyError::kQuotient, height(kTwinA));
}

TEST_F(Liar, TableWithoutInteractionsHasNoSum) {
  const u32 quiet = ring().quiet_table();
  expect(lying(Stage::kLogup, 0,
               [quiet](OracleSession& s) {
                 s.sums[quiet] += fp3_one();
                 s.sums[0] -= fp3_one();
               }),
         VerifyError::kLookupSum, quiet);
}

TEST_F(Liar, AccumulatorOrPairColumnBreaksTheQuotient) {
  for (u32 t = 0; t < ring().ring_tables(); ++t) {
    const u32 segment = layout().logup_segment[t];
    for (u32 c = 0; c < layout().segments[segment].width; ++c) {
      // x^3 is not constant, so it is no mere restart of the accumulator, which has no fixed start.
      expect(lying(Stage::kLogup, 0,
                   [=](OracleSession& s) { s.coefficients[segment][c][3] += Fp::one(); }),
             VerifyError::kQuotient, height(t));
    }
  }
}

TEST_F(Liar, AccumulatorMayStartAnywhere) {
  const u32 segment = layout().logup_segment[0];
  const u32 last = layout().segments[segment].width - 1;
  const VerifyResult r = ring().prove_and_verify(lying(
      Stage::kLogup, 0, [=](OracleSession& s) { s.coefficients[segment][last][0] += Fp::one(); }));
  EXPECT_TRUE(r.ok()) << describe(r.error);
}

TEST_F(Liar, QuotientCoefficient) {
  for (u32 h = 0; h < layout().height_count; ++h) {
    const u32 segment = layout().quotient_segment[h];
    for (u32 c = 0; c < kQuotientWidth; ++c) {
      expect(lying(Stage::kQuotient, 0,
                   [=](OracleSession& s) { s.coefficients[segment][c][2] += Fp::one(); }),
             VerifyError::kQuotient, layout().heights[h]);
    }
  }
}

TEST_F(Liar, EveryOpening) {
  u32 spare = 0;
  for (u32 i = 0; i < layout().segment_count; ++i) {
    const Segment& segment = layout().segments[i];
    for (u32 j = segment.first_opening; j < segment.first_opening + segment.opening_count(); ++j) {
      SCOPED_TRACE("opening " + std::to_string(j));
      const bool is_spare =
          segment.part == Part::kMain && j - segment.first_opening == RingAir::kSpare;
      spare += is_spare ? 1 : 0;
      expect(lying(Stage::kOpen, 0, [j](OracleSession& s) { s.openings[j] += fp3_one(); }),
             is_spare ? VerifyError::kFriFinal : VerifyError::kQuotient,
             is_spare ? 0 : segment.log_height);
    }
  }
  EXPECT_EQ(spare, ring().ring_tables());
}

TEST_F(Liar, FriWordOfEveryLayer) {
  const auto add_one = [](OracleSession& s) {
    for (Fp3& v : s.word) v += fp3_one();
  };
  // The lie is of low degree: only comparison with the layer before can find it.
  expect(lying(Stage::kDeep, 0, add_one), VerifyError::kFriLayer, 0);
  expect(lying(Stage::kFold, 0, add_one), VerifyError::kFriLayer, 1);
  expect(lying(Stage::kFold, 1, add_one), VerifyError::kFriFinal, 0);
}

TEST_F(Liar, EveryFinalCoefficient) {
  for (size_t i = 0; i < size_t{1} << layout().fri_final_log; ++i) {
    expect(lying(Stage::kFinal, 0, [i](OracleSession& s) { s.final_coefficients[i] += fp3_one(); }),
           VerifyError::kFriFinal, 0);
  }
}

TEST_F(Liar, RootOfEveryTreeAndLayer) {
  const auto other_root = [](OracleSession& s) { s.root.words[3] ^= 1; };
  for (u32 tree = 0; tree < layout().tree_count; ++tree) {
    expect(lying(Stage::kCommit, tree, other_root), VerifyError::kMerkleBase, tree);
  }
  for (u32 step = 0; step < layout().fri_step_count; ++step) {
    expect(lying(Stage::kFriCommit, step, other_root), VerifyError::kMerkleFri, step);
  }
}

TEST_F(Liar, NonceWithoutItsWork) {
  OracleSession s = ring().session();
  s.tamper = [](OracleSession& session, Stage stage, u32) {
    if (stage != Stage::kGrind) return;
    while (Transcript::grind_ok(session.grind_state, session.nonce, kPreset.grinding_bits)) {
      ++session.nonce;
    }
  };
  expect(std::move(s), VerifyError::kGrinding, 0);

  Preset free = kPreset;
  free.grinding_bits = 0;
  const Ring without_work(free);
  OracleSession spare = without_work.session();
  spare.tamper = [](OracleSession& session, Stage stage, u32) {
    if (stage == Stage::kGrind) session.nonce = 1;
  };
  EXPECT_EQ(without_work.prove_and_verify(spare).error, VerifyError::kGrinding);
}

/// The prover opens other rows than it is asked for: their siblings, so that all counts agree.
TEST_F(Liar, ChosenQueriesAreNotTheVerifiers) {
  class Chooser : public OracleSession {
   public:
    explicit Chooser(OracleSession s) : OracleSession(std::move(s)) {}
    void gather(std::span<const u32> queries, std::vector<u64>& words) {
      std::vector<u32> chosen;
      for (const u32 q : queries) chosen.push_back(q ^ 1);
      OracleSession::gather(sorted_unique(chosen), words);
    }
  };
  Chooser s(ring().session());
  const VerifyResult r = ring().verify(ring().prove(s));
  EXPECT_EQ(r.error, VerifyError::kFriLayer) << describe(r.error);
  EXPECT_EQ(r.detail, 0u);
}

// --- degrees -----------------------------------------------------------------------------------

TEST_F(Liar, ColumnOfTooHighDegreeInATableOfAnyHeight) {
  for (u32 t = 0; t < ring().ring_tables(); ++t) {
    // x^(N+1) makes a DEEP quotient of degree N, lifted to exactly the degree FRI stops below.
    for (const size_t excess : {size_t{1}, size_t{3}, (size_t{1} << height(t)) - 1}) {
      SCOPED_TRACE("table " + std::to_string(t) + " excess " + std::to_string(excess));
      OracleSession s = ring().session();
      add_term(s, t, RingAir::kSpare, (size_t{1} << height(t)) + excess, Fp::one());
      expect(std::move(s), VerifyError::kFriFinal, 0);
    }
  }
}

/// Dividing by x - z loses one degree, so a column of degree exactly N passes; its values on H are
/// still N field elements, and the DEEP error counts n + 1 (docs/soundness.md).
TEST_F(Liar, ColumnOfDegreeNIsWithinTheBoundThatIsAccountedFor) {
  for (u32 t = 0; t < ring().ring_tables(); ++t) {
    OracleSession s = ring().session();
    add_term(s, t, RingAir::kSpare, size_t{1} << height(t), Fp::one());
    EXPECT_TRUE(ring().prove_and_verify(std::move(s)).ok());
  }
}

/// Columns of two tables of one height whose excess cancels in their plain sum.
TEST_F(Liar, HighDegreePartsOfEqualHeightDoNotCancel) {
  const size_t degree = (size_t{1} << height(kTwinA)) + 5;
  OracleSession s = ring().session();
  add_term(s, kTwinA, RingAir::kSpare, degree, Fp::from_u64(11));
  add_term(s, kTwinB, RingAir::kSpare, degree, -Fp::from_u64(11));
  OracleSession without_randomness = s;
  expect(std::move(s), VerifyError::kFriFinal, 0);

  // With every power of delta 1 they would cancel: R would be of low degree.
  (void)ring().prove(without_randomness);
  without_randomness.deep(fp3_one());
  std::vector<Fp3> final(size_t{1} << layout().log_domain());
  without_randomness.fri_final(final);
  const size_t bound = size_t{1} << layout().log_height_max();
  for (size_t i = bound; i < final.size(); ++i) EXPECT_TRUE(is_zero(final[i])) << i;
}

/// Excess degree in the second quotient part, which the identity at zeta cannot see.
TEST_F(Liar, QuotientPartOfTooHighDegree) {
  for (u32 h = 0; h < layout().height_count; ++h) {
    const u32 segment = layout().quotient_segment[h];
    const size_t n = size_t{1} << layout().heights[h];
    OracleSession s = lying(Stage::kQuotient, 0, [=](OracleSession& session) {
      // q0 + x^N q1 stays what it was: x^(N+2) moves from the second part to the first.
      auto& q = session.coefficients[segment];
      q[0].resize(2 * n);
      q[0][n + 2] += q[3][2];
      q[3][2] = Fp::zero();
    });
    expect(std::move(s), VerifyError::kFriFinal, 0);
  }
}

// --- frozen challenges -------------------------------------------------------------------------
// An attack that works if some element is not absorbed: the challenges are recorded from a first
// run, and the element is then chosen so that they satisfy the check. The real verifier draws
// others.

TEST_F(Liar, LookupSumsChosenAfterZeta) {
  OracleSession s = ring().session();
  set_trace(s, kTwinA, RingAir::kCount, 5, s.traces[kTwinA][RingAir::kCount][5] + Fp::one());
  EXPECT_EQ(ring().verify(ring().prove(s)).error, VerifyError::kLookupSum);

  // Solve for L's of the twins: the total must vanish, the folded constraint of their height at
  // zeta must stay. It is affine in each L; its slope is found by adding 1.
  Fp3 total{};
  for (const Fp3& l : s.sums) total += l;
  const u32 h = layout().height_index(height(kTwinA));
  const auto folded_with = [&](u32 table, Fp3 add) {
    OracleSession moved = s;
    moved.sums[table] += add;
    return moved.folded_height(h, s.zeta);
  };
  const Fp3 base = s.folded_height(h, s.zeta);
  const Fp3 slope_a = folded_with(kTwinA, fp3_one()) - base;
  const Fp3 slope_b = folded_with(kTwinB, fp3_one()) - base;
  // a + b = -total, slope_a a + slope_b b = 0.
  const Fp3 a = total * slope_b * inverse(slope_a - slope_b);
  const Fp3 b = -total - a;
  OracleSession forged = s;
  forged.sums[kTwinA] += a;
  forged.sums[kTwinB] += b;
  Fp3 forged_total{};
  for (const Fp3& l : forged.sums) forged_total += l;
  EXPECT_TRUE(is_zero(forged_total));
  for (u32 i = 0; i < layout().height_count; ++i) {
    EXPECT_TRUE(forged.quotient_identity_holds(i, s.zeta)) << "the frozen attack is not one";
  }

  const std::vector<Fp3> sums = forged.sums;
  OracleSession attack = ring().session();
  set_trace(attack, kTwinA, RingAir::kCount, 5,
            attack.traces[kTwinA][RingAir::kCount][5] + Fp::one());
  attack.tamper = [&](OracleSession& session, Stage stage, u32) {
    if (stage == Stage::kLogup) session.sums = sums;
  };
  expect(std::move(attack), VerifyError::kQuotient, height(kTwinA));
}

TEST_F(Liar, OpeningsExchangedSoThatTheirCombinationIsUnchanged) {
  OracleSession honest = ring().session();
  (void)ring().prove(honest);
  const u32 i = opening(kTwinA, RingAir::kSpare);
  const u32 j = opening(kTwinB, RingAir::kSpare);
  const Fp3 shift = inverse(pow(honest.delta, j) * inverse(pow(honest.delta, i)));
  const auto lie = [=](OracleSession& s) {
    s.openings[i] += fp3_one();
    s.openings[j] -= shift;
  };
  // With the recorded delta, R is the honest one: nothing after the openings would notice.
  OracleSession frozen = honest;
  frozen.deep(honest.delta);
  const std::vector<Fp3> honest_word = frozen.word;
  lie(frozen);
  frozen.deep(honest.delta);
  EXPECT_EQ(frozen.word, honest_word);

  expect(lying(Stage::kOpen, 0, lie), VerifyError::kFriFinal, 0);
}

/// A final polynomial fitted to the folded word of other beta's.
TEST_F(Liar, FinalPolynomialOfAnotherRun) {
  OracleSession honest = ring().session();
  (void)ring().prove(honest);
  const std::vector<Fp3> other = honest.final_coefficients;
  OracleSession s = ring().session();
  s.tamper = [&](OracleSession& session, Stage stage, u32) {
    // Another spare cell, the same final polynomial.
    if (stage == Stage::kFinal) session.final_coefficients = other;
  };
  set_trace(s, 0, RingAir::kSpare, 0, Fp::zero());
  expect(std::move(s), VerifyError::kFriFinal, 0);
}

}  // namespace
}  // namespace epochd::prover::ring
