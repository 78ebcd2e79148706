// What the transcript binds: multiplicities chosen after gamma and beta, sums and openings moved
// about so that the equations that follow still hold, violations that would cancel.
#include "epoch/chips/all_airs.hpp"
#include "tests/epoch/forge/cancel.hpp"

namespace epochd::testing {
namespace {

using namespace chips;  // the columns of every chip
using prover::Challenges;
using prover::Fp3;
using prover::VerifyError;

/// Emits 11, exits 0.
std::vector<u32> emit_eleven() {
  return binary_program(op_word(0x33), 5, 6);
}
constexpr u64 kLie = 12;

/// Pays for whatever is wrong with the epoch, under these challenges.
void cancel_everything(prover::CpuSession& session, const EpochStatement& statement,
                       const Challenges& c) {
  TablesReport report;
  check_tables(session, report);
  add_epoch_terms(statement, report.balance);
  cancel(report.balance, c, session);
}

// Multiplicities from after the challenge: the sums vanish, the committed columns are others.
TEST(ForgeBinding, MultiplicitiesChosenAfterGammaAndBeta) {
  Attack a(emit_eleven());
  a.epochs[0].public_values.outputs[0] = kLie;
  a.expect_refused_by({{}, {"Output"}});
  a.forgery.epochs[1].late = cancel_everything;
  const Attempt attempt = a.run();
  EXPECT_EQ(attempt.epochs[0].buses(), std::set<std::string>{"Output"});
  EXPECT_EQ(attempt.result.error, RunError::kEpochProof) << text(attempt.result);
  EXPECT_EQ(attempt.result.argument.error, VerifyError::kQuotient) << text(attempt.result);
  EXPECT_EQ(attempt.result.argument.detail, 16u);
}

/// The argument in an epoch record, checked under given challenges.
prover::VerifyResult verify_under(const Guest& g, const EpochRecords& records,
                                  const std::vector<u64>& record, const Challenges& c) {
  const auto tables = plan_tables(records, g.key.vk, *g.params.preset);
  const EpochStatement s = make_statement(records, tables);
  const auto layout = std::make_unique<prover::Layout>();
  EXPECT_TRUE(epoch_layout(s, g.params, *layout));
  const u64* at = record.data() + 1 + 7 + s.table_count + s.output_count;
  const auto digest = [&](const u64* w) { return prover::Digest{{w[0], w[1], w[2], w[3]}}; };
  const prover::Digest roots[kEpochTreeCount] = {g.key.vk.epoch_root, digest(at), digest(at + 4)};
  prover::Transcript transcript = epoch_transcript(g.params, g.key.vk.digest(), s, roots);
  (void)prover::draw_lookup_challenges(transcript);
  Fp3 public_sum, sum;
  EXPECT_TRUE(epoch_public_sum(s, c.gamma, c.beta, public_sum));
  const size_t left = static_cast<size_t>(record.data() + record.size() - (at + 8));
  const prover::ArgumentInput input{layout.get(), at + 8, left,       roots,
                                    c.gamma,      c.beta, &public_sum};
  const auto scratch = std::make_unique<prover::VerifyScratch>();
  return prover::verify_argument(input, transcript, *scratch, sum);
}

// A forger who knew gamma and beta beforehand would succeed: it is their coming after the roots
// that refuses him, and nothing else.
TEST(ForgeBinding, ChallengesKnownBeforehand) {
  const Challenges known{{fp(3), fp(1), fp(4)}, {fp(1), fp(5), fp(9)}};
  Attack a(emit_eleven());
  a.epochs[0].public_values.outputs[0] = kLie;
  EpochForgery& forgery = a.forgery.epochs[1];
  forgery.frozen = known;
  forgery.before_commit = [&](prover::CpuSession& session, const std::vector<TableInstance>& t) {
    cancel_everything(session, make_statement(a.epochs[0], t), known);
  };
  const ForgedEpoch forged = forge_epoch(a.g, a.epochs[0], forgery);
  EXPECT_TRUE(verify_under(a.g, a.epochs[0], forged.proof.record, known).ok());
  const Attempt attempt = a.run();
  EXPECT_EQ(attempt.result.error, RunError::kEpochProof) << text(attempt.result);
  EXPECT_EQ(attempt.result.argument.error, VerifyError::kLookupSum) << text(attempt.result);
}

// A table's sum is part of its accumulator's constraint: what one table gives another must lack.
TEST(ForgeBinding, SumsMovedBetweenTables) {
  for (const bool balanced : {true, false}) {
    Attack a(emit_eleven());
    a.forgery.epochs[1].sums = [&](std::span<Fp3> sums) {
      sums[0] += prover::fp3_one();
      if (balanced) sums[1] = sums[1] - prover::fp3_one();
    };
    const Attempt attempt = a.run();
    EXPECT_TRUE(attempt.epochs[0].clean());
    EXPECT_EQ(attempt.result.error, RunError::kEpochProof) << text(attempt.result);
    EXPECT_EQ(attempt.result.argument.error,
              balanced ? VerifyError::kQuotient : VerifyError::kLookupSum)
        << text(attempt.result);
  }
}

// The two parts of a quotient moved against each other: the identity at zeta still holds, the
// columns do not have these values.
TEST(ForgeBinding, OpeningsThatKeepTheQuotientIdentity) {
  for (const u32 height : {16u, 5u}) {
    Attack a(emit_eleven());
    a.forgery.epochs[1].openings = [&](const prover::Layout& layout, Fp3 zeta,
                                       std::span<Fp3> openings) {
      const u32 h = layout.height_index(height);
      ASSERT_NE(h, prover::kNone);
      const prover::Segment& q = layout.segments[layout.quotient_segment[h]];
      openings[q.opening(0, 0)] += prover::fp3_one();
      openings[q.opening(3, 0)] = openings[q.opening(3, 0)] - inverse(pow(zeta, u64{1} << height));
    };
    const Attempt attempt = a.run();
    EXPECT_EQ(attempt.result.error, RunError::kEpochProof) << text(attempt.result);
    EXPECT_EQ(attempt.result.argument.error, VerifyError::kFriLayer) << text(attempt.result);
    EXPECT_EQ(attempt.result.argument.detail, 0u);
  }
}

TEST(ForgeBinding, OneOpeningChanged) {
  Attack a(emit_eleven());
  a.forgery.epochs[1].openings = [](const prover::Layout&, Fp3, std::span<Fp3> openings) {
    openings[0] += prover::fp3_one();
  };
  const Attempt attempt = a.run();
  EXPECT_EQ(attempt.result.argument.error, VerifyError::kQuotient) << text(attempt.result);
}

// Two tables of one height, the same row and the same place in the list of constraints, values v
// and -v: were alpha's powers to start anew for each table, they would cancel.
TEST(ForgeBinding, ViolationsOfTwoTablesThatCancel) {
  std::vector<u32> code;
  code.push_back(test::b_type(0x63, 0, 0, 4));
  exit_with(code, 0);
  Attack a(code);
  const auto label = [](ChipId chip, u32 i) { return find_air(chip)->constraint_labels[i]; };
  ASSERT_STREQ(label(ChipId::kBeq, 4), "beq.eq.difference_inverts");
  ASSERT_STREQ(label(ChipId::kEcall, 4), "ecall.next_pc");
  const Fp v = fp(0x123456789abcdef);
  a.cell_at_row(ChipId::kBeq, 31, BeqAir::kEq, v);
  a.cell_at_row(ChipId::kEcall, 31, EcallAir::kNextPc, v);
  const Attempt attempt = a.run();
  expect_epoch_refused(attempt, 0, {{"beq.eq.difference_inverts", "ecall.next_pc"}, {}});
  EXPECT_EQ(attempt.result.argument.detail, 5u);
}

// The final epoch's flag and the label are places in the run, absorbed by the verifier itself.
TEST(ForgeBinding, ProvedForAnotherPlaceInTheRun) {
  Attack a(emit_eleven());
  a.forgery.epochs[1].statement = [](EpochStatement& s) { s.label = 2; };
  const Attempt label = a.run();
  EXPECT_EQ(label.result.error, RunError::kEpochProof) << text(label.result);
  a.forgery.epochs[1].statement = [](EpochStatement& s) { s.is_final = false; };
  const Attempt final = a.run();
  EXPECT_EQ(final.epochs[0].buses(), std::set<std::string>{"Exit"});
  EXPECT_EQ(final.result.error, RunError::kEpochProof) << text(final.result);
}

// A table left out takes its sends and receives with it; an empty one brings nothing.
TEST(ForgeBinding, TablesLeftOut) {
  Attack a(emit_eleven());
  a.records(ChipId::kEcall).clear();
  a.expect_refused_by({{}, {"State", "Memory", "Output", "Exit"}});
}

}  // namespace
}  // namespace epochd::testing
