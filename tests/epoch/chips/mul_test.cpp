#include "epoch/chips/mul/fill.hpp"

#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kMul, Op::kMulh, Op::kMulhu, Op::kMulhsu, Op::kMulw};
using Air = MulAir;
constexpr u64 kMin = 1ull << 63;
constexpr u64 kA = 0xfedcba9876543210ull;
constexpr u64 kB = 0x8badf00ddeadbeefull;
constexpr size_t kRowMul = 0, kRowZero = 1, kRowsPerOp = 6, kRowMulhu = 2 * kRowsPerOp;

/// kRowsPerOp rows of each operation, in the order of kOps.
RegisterMachine few_rows() {
  RegisterMachine m;
  const u64 values[][2] = {{kA, kB}, {0, 0}, {kMin, kMin}, {~0ull, ~0ull}, {~0ull, 1}, {3, kMin}};
  for (const Op op : kOps) {
    for (const auto& v : values) {
      m.poke(6, v[0]);
      m.poke(7, v[1]);
      m.alu(op, 5, 6, 7, 0);
    }
  }
  return m;
}

TEST(MulChip, HonestRowsMatchTheReference) {
  RegisterMachine m = every_register_pair(kOps);
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(MulChip, RandomRowsMatchTheReference) {
  RegisterMachine m;
  std::mt19937_64 rng(kSeed);
  for (u32 i = 0; i < 4000; ++i) {
    m.poke(6, rng() >> (rng() % 64));
    m.poke(7, 0 - (rng() >> (rng() % 64)));
    m.alu(kOps[i % 5], 5, 6 + i % 2, 7 - i % 2, 0);
  }
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(MulChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps);
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(MulChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  const auto t = build_trace<Air>(m.records(), m.program());
  std::vector<size_t> rows;
  for (size_t row = 0; row < t.real_rows; ++row) rows.push_back(row);
  expect_every_column_caught(t, rows);
}

TEST(MulChip, ForgedLimbsAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  for (size_t row = 0; row < t.real_rows; ++row) {
    for (const u32 first : {Air::kA0, Air::kA2, Air::kB0, Air::kB2, Air::kP0, Air::kP2, Air::kP4,
                            Air::kP6, Air::kC0, Air::kC1, Air::kC2}) {
      expect_repacking_caught(t, row, first, first + 1);
    }
    // A product limb 2^16 too large against the carry above it.
    expect_repacking_caught(t, row, Air::kP1, Air::kC0);
    expect_repacking_caught(t, row, Air::kP3, Air::kC1);
    expect_repacking_caught(t, row, Air::kP5, Air::kC2);
  }
}

/// 0 * 0 = p, with the carries that make every product equation hold in the field.
TEST(MulChip, ZeroTimesZeroIsNotTheModulus) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  // e0: 1 + 2^32 C0 = 0 by C0 = -2^-32 = 2^32 - 1. e1: C0 = 0xffffffff + 2^32 C1 by C1 = 0.
  const Changes changes = {{Air::kP0, Fp::one()},
                           {Air::kP2, Fp::from_u64(0xffff)},
                           {Air::kP3, Fp::from_u64(0xffff)},
                           {Air::kRLo, Fp::one()},
                           {Air::kRHi, Fp::from_u64(0xffffffff)},
                           {Air::kC0, Fp::from_u64(0xffff)},
                           {Air::kC0High, Fp::from_u64(0xffff)}};
  const Verdict verdict = judge_changed(t, kRowZero, changes);
  EXPECT_EQ(verdict.violated, std::set<std::string>{"mul.carry.c0_high_is_bool"});
  EXPECT_TRUE(verdict.bad_lookups.empty());
}

/// The high half of one signedness under another's flags.
TEST(MulChip, OtherSignednessIsCaught) {
  const Op high[] = {Op::kMulh, Op::kMulhu, Op::kMulhsu};
  for (const Op op : high) {
    for (const Op other : high) {
      RegisterMachine m;
      m.poke(6, kA);
      m.poke(7, kB);
      m.alu(op, 5, 6, 7, 0);
      std::vector<ProgramRow> program = m.program();
      program[0].op = other;
      if (other == op) continue;
      auto t = build_trace<Air>(m.records(), m.program());
      auto forged = build_trace<Air>(m.records(), program);
      Changes changes;
      for (u32 c = Air::kPc; c < Air::kMainWidth; ++c) changes.push_back({c, forged.main(c, 0)});
      EXPECT_FALSE(judge_changed(t, 0, changes).violated.empty());
    }
  }
}

TEST(MulChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  ConstraintCoverage<Air> coverage;
  const Fp one = Fp::one();
  const Fp inv = Fp::from_u64(kInvTwo32);  // = 1 - 2^32
  const Fp step16 = Fp::from_u64(kInvTwo16);
  const auto changed = [&](size_t row, std::vector<std::pair<u32, Fp>> deltas) {
    for (auto& [column, value] : deltas) value += t.main(column, row);
    return deltas;
  };
  // A carry off by 2^-32 lets the word below change by one; since 2^-32 = 1 - 2^32, the word above
  // and its carry make up for it.
  const size_t high = kRowMulhu;
  coverage.mutant(t, high,
                  changed(high, {{Air::kP0, -one},
                                 {Air::kC0High, inv * step16},
                                 {Air::kP2, one},
                                 {Air::kC1, -one},
                                 {Air::kP4, -one},
                                 {Air::kRLo, -one}}),
                  "mul.carry.c0_high_is_bool");
  for (const bool higher : {false, true}) {
    const Fp unit = higher ? step16 * Fp::from_u64(2).inverse() : step16;
    coverage.mutant(t, high,
                    changed(high, {{Air::kP2, -one},
                                   {higher ? Air::kC1Higher : Air::kC1High, inv * unit},
                                   {Air::kP4, one},
                                   {Air::kC2, -one},
                                   {Air::kP6, -one},
                                   {Air::kRLo, one},
                                   {Air::kRHi, -one}}),
                    higher ? "mul.carry.c1_higher_is_bool" : "mul.carry.c1_high_is_bool");
  }
  coverage.mutant(t, high,
                  changed(high, {{Air::kP4, -one},
                                 {Air::kC2High, inv * step16},
                                 {Air::kP6, one},
                                 {Air::kBorrow, one},
                                 {Air::kRLo, -one},
                                 {Air::kRHi, one}}),
                  "mul.carry.c2_high_is_ternary");
  coverage.mutant(t, high, changed(high, {{Air::kBorrow, inv}, {Air::kP6, one}, {Air::kRHi, one}}),
                  "mul.carry.borrow_is_bool");
  coverage.mutant(t, high, changed(high, {{Air::kP0, one}}), "mul.product.limbs01");
  coverage.mutant(t, high, changed(high, {{Air::kP2, one}}), "mul.product.limbs23");
  coverage.mutant(t, kRowMul, changed(kRowMul, {{Air::kP4, one}}), "mul.product.limbs45");
  coverage.mutant(t, kRowMul, changed(kRowMul, {{Air::kP6, one}}), "mul.product.limbs67");
  coverage.mutant(t, high, changed(high, {{Air::kRLo, one}}), "mul.result.low");
  coverage.mutant(t, high, changed(high, {{Air::kRHi, one}}), "mul.result.high");
  coverage.flags(t, {{Air::kIsMul, "mul.flag.mul_is_bool"},
                     {Air::kIsMulh, "mul.flag.mulh_is_bool"},
                     {Air::kIsMulhu, "mul.flag.mulhu_is_bool"},
                     {Air::kIsMulhsu, "mul.flag.mulhsu_is_bool"},
                     {Air::kIsMulw, "mul.flag.mulw_is_bool"}});
  // Two flags double is_real, and with it what C2 is raised by.
  coverage.mutant(t, kRowZero, {{Air::kIsMulh, one}, {Air::kC2, Fp::from_u64(4)}},
                  "mul.flag.one_hot", Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(MulChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<Air>(m.records(), m.program()),
                             {{Air::kA0, Air::kA1},
                              {Air::kA2, Air::kA3},
                              {Air::kB0, Air::kB1},
                              {Air::kB2, Air::kB3},
                              {Air::kP0, Air::kP1},
                              {Air::kP2, Air::kP3},
                              {Air::kP4, Air::kP5},
                              {Air::kP6, Air::kP7},
                              {Air::kC0, Air::kC0High},
                              {Air::kC1, Air::kC1High},
                              {Air::kC2, Air::kC2High}});
}

TEST(MulChip, ShapeIsPinned) {
  expect_shape<Air>(44, 17, 31);
}

}  // namespace
}  // namespace epochd::chips::harness
