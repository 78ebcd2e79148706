#include "epoch/chips/shift/fill.hpp"

#include "tests/epoch/chips/lookup_coverage.hpp"
#include "tests/epoch/chips/shifter_cases.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kSll, Op::kSrl, Op::kSra, Op::kSllw, Op::kSrlw, Op::kSraw};
using Air = ShiftAir;

RegisterMachine few_rows() {
  RegisterMachine m;
  const auto shift = [&](Op op, u64 a, u64 b) {
    m.poke(6, a);
    m.poke(7, b);
    m.alu(op, 5, 6, 7, 0);
  };
  shifter_rows(Op::kSll, Op::kSrl, Op::kSllw, shift);
  for (const Op op : kOps) {
    for (const u64 b : {0ull, 33ull, 0xfffffffffffffff0ull, ~0ull, 0x123456789abcdef0ull}) {
      shift(op, kPattern, b);
    }
  }
  return m;
}

std::vector<size_t> all_rows(const ChipTrace<Air>& t) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < t.real_rows; ++row) rows.push_back(row);
  return rows;
}

TEST(ShiftChip, HonestRowsMatchTheReference) {
  RegisterMachine m = every_register_pair(kOps);
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(ShiftChip, EveryAmountMatchesTheReference) {
  RegisterMachine m;
  std::mt19937_64 rng(kSeed);
  for (const Op op : kOps) {
    for (u64 s = 0; s < 64; ++s) {
      for (const u64 above : {u64{0}, u64{1} << 63, rng()}) {
        m.poke(6, kPattern);
        m.poke(7, (above & ~63ull) | s);
        m.alu(op, 5, 6, 7, 0);
      }
    }
  }
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(ShiftChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps);
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(ShiftChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  const auto t = build_trace<Air>(m.records(), m.program());
  expect_every_column_caught(t, all_rows(t));
}

TEST(ShiftChip, ForgedLimbsAndSignsAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  expect_shifter_forgeries_caught(t);
  for (size_t row = 0; row < t.real_rows; ++row) {
    expect_repacking_caught(t, row, Air::kM0, Air::kM1);
  }
}

/// The row of one shift proves no other: every field filled for amount s', rs2 left as it is.
TEST(ShiftChip, OtherAmountsAreCaught) {
  for (const Op op : kOps) {
    for (const u64 b : {5ull, 0xffffffff00000025ull}) {
      RegisterMachine m;
      m.poke(6, kPattern);
      m.poke(7, b);
      m.alu(op, 5, 6, 7, 0);
      auto t = build_trace<Air>(m.records(), m.program());
      const u64 modulus = op == Op::kSllw || op == Op::kSrlw || op == Op::kSraw ? 32 : 64;
      for (u64 s = 0; s < 64; ++s) {
        if (s % modulus == b % modulus) continue;
        InstructionRecord forged = m.records()[0];
        forged.rs2 = (b & ~63ull) | s;
        auto other = build_trace<Air>(std::vector<InstructionRecord>{forged}, m.program());
        Changes changes;
        for (u32 c = 0; c < Air::kMainWidth; ++c) {
          if (c != Air::kBLo && c != Air::kBHi) changes.push_back({c, other.main(c, 0)});
        }
        const Verdict verdict = judge_changed(t, 0, changes);
        EXPECT_EQ(verdict.violated, std::set<std::string>{"shift.amount.is_low_bits"});
      }
    }
  }
}

TEST(ShiftChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  ConstraintCoverage<Air> coverage;
  cover_shifter(coverage, t, Air::kBLo);
  coverage.mutant(t, kRowLeftBy5, {{Air::kM0, Fp::one()}}, "shift.amount.is_low_bits");
  coverage.flags(
      t, {{Air::kIsSll, "shift.flag.sll_is_bool"}, {Air::kIsSllw, "shift.flag.sllw_is_bool"}});
  coverage.flags(t, {{Air::kIsSrl, "shift.flag.srl_is_bool"},
                     {Air::kIsSra, "shift.flag.sra_is_bool"},
                     {Air::kIsSrlw, "shift.flag.srlw_is_bool"},
                     {Air::kIsSraw, "shift.flag.sraw_is_bool"}});
  // Two flags double is_real, and with it the power and the amount.
  coverage.mutant(t, kRowZeroBy0,
                  {{Air::kIsSllw, Fp::one()},
                   {Air::kPowerLow, Fp::from_u64(2)},
                   {Air::kPower, Fp::from_u64(2)},
                   {Air::kK1, Fp::one()},
                   {Air::kBLo, Fp::from_u64(32)}},
                  "shift.flag.one_hot", Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(ShiftChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<Air>(m.records(), m.program()), {{Air::kU0, Air::kU1},
                                                                          {Air::kU1, Air::kU2},
                                                                          {Air::kV0, Air::kV1},
                                                                          {Air::kV1, Air::kV2},
                                                                          {Air::kRest, Air::kTop},
                                                                          {Air::kM0, Air::kM1}});
}

TEST(ShiftChip, ShapeIsPinned) {
  expect_shape<Air>(43, 25, 22);
}

}  // namespace
}  // namespace epochd::chips::harness
