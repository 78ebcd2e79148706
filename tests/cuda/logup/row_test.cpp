// The LogUp row kernels' arithmetic on the host, against LogupEval's plain definition: what a
// device thread computes of a row is the same code.
#include "cuda/logup/row.hpp"

#include <gtest/gtest.h>

#include "epoch/chips/airs.hpp"
#include "prover/air/logup_eval.hpp"
#include "prover/field/packed_scalar.hpp"
#include "tests/cuda/logup/random_lookups.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;
using prover::LoweredTable;
using prover::PackedScalar;
using Eval = prover::LogupEval<PackedScalar>;

Fp3 unpack(const prover::Cubic<PackedScalar>& v) {
  return {v.c0.v, v.c1.v, v.c2.v};
}

class LogupRows : public testing::Test, protected RandomLookups {};

TEST_F(LogupRows, FractionsAndConstraintsAreTheDefinitions) {
  u32 differences = 0;
  for (u32 trial = 0; trial < 200; ++trial) {
    const LoweredTable lowered = table(1 + trial % 9);
    std::vector<u64> words;
    LogupProgram program = append_program(lowered, words);
    program.words = words.data();
    ASSERT_EQ(words.size(), program.word_count());
    std::vector<Fp> columns;
    for (u32 c = 0; c < kColumns; ++c) columns.push_back(element());
    std::vector<u64> tile;
    for (u32 s = 0; s < program.slot_count; ++s) {
      tile.push_back(columns[program.columns()[s]].value());
    }
    const prover::TableColumns set{nullptr, columns.data(), 1, 0};
    LogupRow fractions(program, {tile.data(), 1});
    LogupRow constraints(program, {tile.data(), 1});
    ASSERT_EQ(program.pairs, lowered.view().pair_count());
    for (u32 j = 0; j < program.pairs; ++j) {
      const Eval::Fraction want = Eval::pair_fraction(lowered.view(), j, set, 0);
      const LogupRow::Fraction got = fractions.fraction();
      EXPECT_EQ(got.numerator.canonical(), unpack(want.numerator)) << trial << " pair " << j;
      EXPECT_EQ(got.denominator.canonical(), unpack(want.denominator)) << trial << " pair " << j;
      const Fp3 u = cubic();
      const Fp3 constraint = u * unpack(want.denominator) - unpack(want.numerator);
      EXPECT_EQ(constraints.constraint(LooseCubic::of(u)).canonical(), constraint);
    }
    for (u32 k = 0; k < 2 * program.pairs; ++k) {
      if ((program.steps()[k].flags & LogupStep::kFromPrevious) != 0) ++differences;
    }
  }
  EXPECT_GT(differences, 100u) << "no fingerprint was written as a difference";
}

TEST_F(LogupRows, EveryChipFitsTheSharedMemory) {
  u32 chips = 0;
  for (u32 c = 0; c < kChipCount; ++c) {
    prover::TableShape shape;
    shape.air = chips::find_air(static_cast<ChipId>(c));
    if (shape.air == nullptr || shape.air->interaction_count == 0) continue;
    std::vector<u64> words;
    const LogupProgram program = append_program(lower_table(shape, cubic(), cubic()), words);
    const size_t alphas = program.pairs * sizeof(LooseFactor);
    EXPECT_LE(program_and_tile_words(program) * sizeof(u64) + alphas, kLogupSharedBytesMax)
        << shape.air->name;
    ++chips;
  }
  EXPECT_GT(chips, 20u);
}

TEST_F(LogupRows, AdjugateOverNormIsTheInverse) {
  for (u32 trial = 0; trial < 500; ++trial) {
    const Fp3 x = cubic();
    const Adjugate a = Adjugate::of(LooseCubic::of(x));
    const Fp scale = Fp::from_u64(loose::inverse(a.norm));
    EXPECT_EQ(a.adjugate.canonical() * scale, inverse(x));
  }
}

TEST_F(LogupRows, SumsOfManyProductsOfTheLargestValues) {
  LazySum sum(~u64{0});
  sum.add_early(~u64{0});
  Fp want = Fp::from_u64(~u64{0}) + Fp::from_u64(~u64{0});
  for (u32 i = 0; i < 1000; ++i) {
    sum.add(~u64{0}, ~u64{0} - i);
    want += Fp::from_u64(~u64{0}) * Fp::from_u64(~u64{0} - i);
  }
  EXPECT_EQ(loose::canonical(sum.value()), want.value());
  LooseSum small;
  want = Fp::zero();
  for (u32 i = 0; i < 30; ++i) {
    small.add(~u64{0});
    want += Fp::from_u64(~u64{0});
  }
  EXPECT_EQ(loose::canonical(small.value()), want.value());
}

}  // namespace
}  // namespace epochd::cuda
