// The CPU backend against the oracle prover: every stage with fixed challenges, then whole proofs.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "prover/pcs/fri_fold.hpp"
#include "prover/transcript/stage_log.hpp"
#include "tests/prover/prove/oracle_session.hpp"
#include "tests/prover/tutorial/airs.hpp"
#include "tests/prover/tutorial/machine.hpp"

namespace epochd::prover::oracle {
namespace {

constexpr u64 kSeed = 77;

Fp3 challenge(u64 seed) {
  std::mt19937_64 random(seed);
  const auto next = [&] { return Fp::from_u64(random()); };
  const Fp a = next();
  const Fp b = next();
  return {a, b, next()};
}

/// The test preset at both blowups: few queries, everything else as in the presets for use.
Preset preset(u32 log_blowup) {
  Preset p = *find_preset(100);
  p.log_blowup = log_blowup;
  return p;
}

struct Case {
  u32 log_blowup;
  u32 log_sum;
};

class Oracle : public testing::TestWithParam<Case> {
 protected:
  Oracle()
      : pool_(2),
        backend_(best_isa(), pool_),
        preset_(preset(GetParam().log_blowup)),
        witness_(tutorial::random_witness(kSeed, 150, 120)),
        statement_(tutorial::make_statement(preset_, witness_, GetParam().log_sum)),
        layout_(tutorial::make_layout(statement_)),
        cpu_(backend_, *layout_),
        nibbles_(tutorial::make_nibbles(backend_, preset_.log_blowup)) {
    tutorial::fill(cpu_, witness_, nibbles_);
  }

  OracleSession make_oracle() const {
    std::vector<std::vector<Column>> traces;
    for (u32 t = 0; t < tutorial::kTableCount; ++t) {
      const size_t rows = size_t{1} << layout_->shape.tables[t].log_height;
      traces.emplace_back();
      for (const Fp* c : cpu_.trace_columns(t)) traces.back().emplace_back(c, c + rows);
    }
    return OracleSession(*layout_,
                         {&evaluate_air<tutorial::AluAir>, &evaluate_air<tutorial::AluAir>,
                          &evaluate_air<tutorial::NibblesAir>, &evaluate_air<tutorial::SumAir>},
                         traces);
  }

  Parallel pool_;
  CpuBackend backend_;
  Preset preset_;
  tutorial::Witness witness_;
  tutorial::Statement statement_;
  std::unique_ptr<Layout> layout_;
  CpuSession cpu_;
  std::shared_ptr<const FixedTree> nibbles_;
};

TEST_P(Oracle, EveryStageAgreesUnderFixedChallenges) {
  OracleSession oracle = make_oracle();
  for (u32 tree = 0; tree < tutorial::kTreeCount; ++tree) {
    EXPECT_EQ(cpu_.commit(tree), oracle.commit(tree)) << "base tree " << tree;
  }
  std::vector<Fp3> sums(tutorial::kTableCount);
  std::vector<Fp3> expected_sums(tutorial::kTableCount);
  cpu_.logup(challenge(1), challenge(2), sums);
  oracle.logup(challenge(1), challenge(2), expected_sums);
  EXPECT_EQ(sums, expected_sums);
  EXPECT_EQ(cpu_.commit(layout_->logup_tree()), oracle.commit(layout_->logup_tree()));

  cpu_.quotient(challenge(3));
  oracle.quotient(challenge(3));
  EXPECT_EQ(cpu_.commit(layout_->quotient_tree()), oracle.commit(layout_->quotient_tree()));

  std::vector<Fp3> openings(layout_->opening_count);
  std::vector<Fp3> expected_openings(layout_->opening_count);
  cpu_.open(challenge(4), openings);
  oracle.open(challenge(4), expected_openings);
  EXPECT_EQ(openings, expected_openings);

  cpu_.deep(challenge(5));
  oracle.deep(challenge(5));
  for (u32 step = 0; step < layout_->fri_step_count; ++step) {
    EXPECT_EQ(cpu_.fri_commit(), oracle.fri_commit()) << "layer " << step;
    cpu_.fri_fold(challenge(6 + step));
    oracle.fri_fold(challenge(6 + step));
  }
  std::vector<Fp3> final(size_t{1} << layout_->fri_final_log);
  std::vector<Fp3> expected_final(final.size());
  cpu_.fri_final(final);
  oracle.fri_final(expected_final);
  EXPECT_EQ(final, expected_final);
  // An honest last word has no coefficients beyond those sent.
  for (size_t i = final.size(); i < oracle.final_coefficients.size(); ++i) {
    EXPECT_TRUE(is_zero(oracle.final_coefficients[i])) << i;
  }

  // Every row of every matrix and layer: opening all indices leaves no sibling to send.
  std::vector<u32> all(size_t{1} << layout_->log_domain());
  std::iota(all.begin(), all.end(), 0u);
  std::vector<u64> words;
  std::vector<u64> expected_words;
  cpu_.gather(all, words);
  oracle.gather(all, expected_words);
  EXPECT_EQ(words, expected_words);
}

TEST_P(Oracle, WholeProofsAreByteIdentical) {
  OracleSession oracle = make_oracle();
  StageLog log;
  StageLog expected_log;
  const std::vector<u64> words = tutorial::prove(cpu_, statement_, log.observer());
  const std::vector<u64> expected = tutorial::prove(oracle, statement_, expected_log.observer());
  EXPECT_EQ(first_difference(log, expected_log), "") << "first stage that differs";
  EXPECT_EQ(words, expected);
  const VerifyResult r = tutorial::verify(statement_, nibbles_->tree.root(), expected);
  EXPECT_TRUE(r.ok()) << describe(r.error);
}

TEST_P(Oracle, LookupsAreCountedAsPlainLoopsCountThem) {
  std::vector<u64> products(1u << tutorial::kLogNibbles);
  std::vector<u64> xors(products.size());
  for (const tutorial::Term& t : witness_.terms) {
    const u32 a[2] = {t.a & 15u, u32{t.a} >> 4};
    const u32 b[2] = {t.b & 15u, u32{t.b} >> 4};
    for (u32 i = 0; i < 2; ++i) {
      for (u32 j = 0; j < 2; ++j) {
        if (t.is_mul) ++products[a[i] + 16 * b[j]];
        if (!t.is_mul && i == j) ++xors[a[i] + 16 * b[j]];
      }
    }
  }
  const std::vector<const Fp*> columns = cpu_.trace_columns(tutorial::kNibbles);
  const Fp* const* counts = columns.data() + tutorial::NibblesAir::kFixedWidth;
  for (size_t row = 0; row < products.size(); ++row) {
    EXPECT_EQ(counts[tutorial::NibblesAir::kProductCount][row].value(), products[row]) << row;
    EXPECT_EQ(counts[tutorial::NibblesAir::kXorCount][row].value(), xors[row]) << row;
  }
}

// sum 2^9: one fold by 8. sum 2^10: folds by 8 and 2. nibbles is the tallest: one fold by 4.
INSTANTIATE_TEST_SUITE_P(Shapes, Oracle,
                         testing::Values(Case{1, 9}, Case{2, 9}, Case{1, 10}, Case{1, 8}),
                         [](const auto& info) {
                           return "Blowup" + std::to_string(1u << info.param.log_blowup) + "Log" +
                                  std::to_string(info.param.log_sum);
                         });

/// FriFold against the definition: values of P at the points of one leaf fold to sum beta^j P_j at
/// the leaf's point.
TEST(FriFold, FoldsEveryLeafToTheCombinationOfItsParts) {
  for (u32 log_word = 1; log_word <= 7; ++log_word) {
    for (u32 k = 1; k <= kLogFoldMax && k <= log_word; ++k) {
      SCOPED_TRACE(std::to_string(log_word) + " by " + std::to_string(k));
      std::vector<Fp3> p(size_t{1} << log_word);
      for (size_t i = 0; i < p.size(); ++i) p[i] = challenge(1000 * log_word + i);
      const Fp3 beta = challenge(k);
      const FriFold fold(log_word, k, beta);
      for (u64 leaf = 0; leaf < p.size() >> k; ++leaf) {
        Fp3 values[kFoldMax];
        Fp y;
        for (u64 v = 0; v < (u64{1} << k); ++v) {
          y = Fp::two_adic_root(log_word).pow(reverse_index((leaf << k) + v, log_word));
          values[v] = evaluate(p, fp3(y));
        }
        // Every point of the leaf has the same 2^k-th power.
        const Fp3 x = fp3(y.pow(u64{1} << k));
        Fp3 expected{};
        Fp3 power = fp3_one();
        for (size_t j = 0; j < (size_t{1} << k); ++j, power *= beta) {
          std::vector<Fp3> part;
          for (size_t i = j; i < p.size(); i += size_t{1} << k) part.push_back(p[i]);
          expected += power * evaluate(part, x);
        }
        EXPECT_EQ(fold.apply(leaf, values), expected) << "leaf " << leaf;
      }
    }
  }
}

}  // namespace
}  // namespace epochd::prover::oracle
