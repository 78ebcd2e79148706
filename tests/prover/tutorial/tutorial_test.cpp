// Proofs of the tutorial's statement: accepted, byte-identical on every instruction set and thread
// count, and refused where the statement is false.
#include <gtest/gtest.h>

#include "prover/air/describe.hpp"
#include "prover/air/trace_check.hpp"
#include "prover/transcript/stage_log.hpp"
#include "tests/prover/tutorial/airs.hpp"
#include "tests/prover/tutorial/machine.hpp"

namespace epochd::prover::tutorial {
namespace {

constexpr u64 kSeed = 20261201;

std::vector<Isa> isas() {
  std::vector<Isa> out;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (isa_supported(isa)) out.push_back(isa);
  }
  return out;
}

/// 200 terms in alu 1 (2^8 rows), 20 in alu 2 (2^5), nibbles 2^8, sum 2^9: two tables of one
/// height, and three heights.
Witness witness() {
  return random_witness(kSeed, 220, 200);
}
constexpr u32 kLogSum = 9;

struct Proof {
  std::vector<u64> words;
  Digest nibbles_root;
  StageLog log;
};

void make_proof(const Preset& preset, const Witness& w, Isa isa, u32 threads, Proof& out) {
  const Parallel pool(threads);
  const CpuBackend backend(isa, pool);
  const Statement statement = make_statement(preset, w, kLogSum);
  const auto layout = make_layout(statement);
  CpuSession session(backend, *layout);
  const auto nibbles = make_nibbles(backend, preset.log_blowup);
  fill(session, w, nibbles);
  out.nibbles_root = nibbles->tree.root();
  out.words = prove(session, statement, out.log.observer());
}

class TutorialProof : public testing::TestWithParam<const char*> {
 protected:
  const Preset& preset() const {
    for (const Preset& p : kPresets) {
      if (std::string(p.name) == GetParam()) return p;
    }
    ADD_FAILURE() << "no preset " << GetParam();
    return kPresets[0];
  }
};

TEST_P(TutorialProof, IsAcceptedAndTheSameOnEveryInstructionSetAndThreadCount) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const Witness w = witness();
  const Statement statement = make_statement(preset(), w, kLogSum);
  Proof reference;
  make_proof(preset(), w, Isa::kScalar, 1, reference);
  StageLog verifier_log;
  const VerifyResult r =
      verify(statement, reference.nibbles_root, reference.words, verifier_log.observer());
  EXPECT_TRUE(r.ok()) << describe(r.error) << ", detail " << r.detail;
  EXPECT_EQ(first_difference(reference.log, verifier_log), "")
      << "prover and verifier disagree on the transcript";

  for (const Isa isa : isas()) {
    for (const u32 threads : {1u, 2u}) {
      if (isa == Isa::kScalar && threads == 1) continue;
      SCOPED_TRACE(std::string(isa_name(isa)) + ", threads " + std::to_string(threads));
      Proof other;
      make_proof(preset(), w, isa, threads, other);
      EXPECT_EQ(first_difference(reference.log, other.log), "") << "first stage that differs";
      EXPECT_EQ(reference.words, other.words);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, TutorialProof, testing::Values("test", "proven100", "proven128"),
                         [](const auto& info) { return std::string(info.param); });

class TutorialStatement : public testing::Test {
 protected:
  TutorialStatement() : w_(witness()), statement_(make_statement(kTest, w_, kLogSum)) {
    make_proof(kTest, w_, Isa::kScalar, 1, proof_);
  }
  static const Preset& kTest;
  Witness w_;
  Statement statement_;
  Proof proof_;
};
const Preset& TutorialStatement::kTest = *find_preset(100);

TEST_F(TutorialStatement, SumIsWhatPlainIntegersSay) {
  i64 sum = 0;
  for (const Term& t : w_.terms) {
    const i64 v = t.is_mul ? i64{t.a} * i64{t.b} : static_cast<i64>(u32{t.a} ^ u32{t.b});
    sum += t.is_negative ? -v : v;
  }
  EXPECT_EQ(statement_.total, Fp::from_i64(sum));
  EXPECT_EQ(statement_.term_count, 220u);
}

TEST_F(TutorialStatement, AnotherTotalCountHeightOrFixedTableIsRefused) {
  Statement wrong_total = statement_;
  wrong_total.total += Fp::one();
  EXPECT_FALSE(verify(wrong_total, proof_.nibbles_root, proof_.words).ok());
  Statement wrong_count = statement_;
  ++wrong_count.term_count;
  EXPECT_FALSE(verify(wrong_count, proof_.nibbles_root, proof_.words).ok());
  for (u32 t = 0; t < kTableCount; ++t) {
    Statement wrong_height = statement_;
    ++wrong_height.log_heights[t];
    EXPECT_FALSE(verify(wrong_height, proof_.nibbles_root, proof_.words).ok()) << t;
  }
  Digest other_root = proof_.nibbles_root;
  other_root.words[0] ^= 1;
  EXPECT_FALSE(verify(statement_, other_root, proof_.words).ok());
}

/// A prover who claims another total and follows the protocol to the letter.
TEST_F(TutorialStatement, AFalseTotalDoesNotBalance) {
  Statement wrong = statement_;
  wrong.total += Fp::one();
  const Parallel pool(1);
  const CpuBackend backend(Isa::kScalar, pool);
  const auto layout = make_layout(wrong);
  CpuSession session(backend, *layout);
  fill(session, w_, make_nibbles(backend, kTest.log_blowup));
  const VerifyResult r = verify(wrong, proof_.nibbles_root, prove(session, wrong));
  EXPECT_EQ(r.error, VerifyError::kLookupSum);
}

TEST_F(TutorialStatement, TheTraceCheckerFindsNothingAndNamesTheUnbalancedEnds) {
  const Parallel pool(1);
  const CpuBackend backend(Isa::kScalar, pool);
  const auto layout = make_layout(statement_);
  CpuSession session(backend, *layout);
  fill(session, w_, make_nibbles(backend, kTest.log_blowup));
  std::vector<Violation> violations;
  BusBalance balance;
  for (u32 t = 0; t < kTableCount; ++t) {
    const TableShape& shape = layout->shape.tables[t];
    TraceView view{
        shape.air, session.trace_columns(t), {shape.params[0]}, size_t{1} << shape.log_height};
    if (t == kNibbles) check_trace<NibblesAir>(view, violations);
    if (t == kSum) check_trace<SumAir>(view, violations);
    if (t == kAlu1 || t == kAlu2) check_trace<AluAir>(view, violations);
    add_interactions(view, balance);
  }
  EXPECT_TRUE(violations.empty()) << violations.front().constraint;
  // What is left are the ends of the chain, which the verifier supplies.
  const u64 bus = static_cast<u64>(Bus::kTotal);
  const BusBalance ends = {{{bus, 0, 0}, -Fp::one()},
                           {{bus, 220, statement_.total.value()}, Fp::one()}};
  EXPECT_EQ(balance, ends);
}

}  // namespace
}  // namespace epochd::prover::tutorial
