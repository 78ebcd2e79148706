#include "epoch/chips/divrem/fill.hpp"

#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

using Air = DivremAir;
using Division = Fill<Air>::Division;
constexpr Op kOps[] = {Op::kDiv,  Op::kDivu,  Op::kRem,  Op::kRemu,
                       Op::kDivw, Op::kDivuw, Op::kRemw, Op::kRemuw};
constexpr u64 kMin = 1ull << 63;
constexpr u64 kAllOnes = 0xffffffffffffffffull;
constexpr u64 kMinW = 0xffffffff80000000ull;

u64 minus(u64 x) {
  return 0 - x;
}

/// A row a forger fills: values may be negative, nothing is canonical.
struct ForgedRow {
  std::map<u32, Fp> cells;
  void set(u32 column, u64 value) { cells[column] = Fp::from_i64(static_cast<i64>(value)); }
};

/// One honest instruction, and forgeries of it.
class OneDivision {
 public:
  OneDivision(Op op, u64 a, u64 b)
      : honest_(Fill<Air>::divide(op, a, b)), machine_(rows(op, a, b)) {}

  const Division& honest() const { return honest_; }
  ChipTrace<Air> trace() const { return build_trace<Air>(machine_.records(), machine_.program()); }
  /// The cells another division would fill, with further changes on top (relative to those).
  Changes forged(const Division& v, const Changes& deltas = {}) const {
    ForgedRow row;
    Fill<Air>::fill_division(row, v);
    for (const auto& [column, delta] : deltas) row.cells[column] += delta;
    return {row.cells.begin(), row.cells.end()};
  }
  Verdict judge(const Division& v) const {
    ChipTrace<Air> t = trace();
    return judge_changed(t, 0, forged(v));
  }

 private:
  static RegisterMachine rows(Op op, u64 a, u64 b) {
    RegisterMachine m;
    m.poke(6, a);
    m.poke(7, b);
    m.alu(op, 5, 6, 7, 0);
    return m;
  }
  Division honest_;
  RegisterMachine machine_;
};

RegisterMachine few_rows() {
  RegisterMachine m;
  const u64 values[][2] = {{100, 7},         {minus(100), 7},
                           {100, minus(7)},  {minus(100), minus(7)},
                           {5, 0},           {minus(5), 0},
                           {kMin, kAllOnes}, {kMinW, kAllOnes},
                           {0, minus(3)},    {kMin, 1},
                           {1, kMin},        {0xfedcba9876543210ull, 0x0000badf00ddeadbull}};
  for (const Op op : kOps) {
    for (const auto& v : values) {
      m.poke(6, v[0]);
      m.poke(7, v[1]);
      m.alu(op, 5, 6, 7, 0);
    }
  }
  return m;
}

TEST(DivremChip, HonestRowsMatchTheReference) {
  RegisterMachine m = every_register_pair(kOps);
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(DivremChip, SmallAndExtremeSignedRowsMatchTheReference) {
  const u64 values[] = {0,        1,         kAllOnes,     2,          minus(2),   3,
                        minus(3), 7,         minus(7),     kMin,       kMin + 1,   kMin - 1,
                        kMinW,    kMinW + 1, minus(kMinW), 0x80000000, 0xffffffff, 0x100000000};
  RegisterMachine m;
  for (const Op op : kOps) {
    for (const u64 a : values) {
      for (const u64 b : values) {
        m.poke(6, a);
        m.poke(7, b);
        m.alu(op, 5, 6, 7, 0);
      }
    }
  }
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(DivremChip, RandomRowsMatchTheReference) {
  RegisterMachine m;
  std::mt19937_64 rng(kSeed);
  for (u32 i = 0; i < 4000; ++i) {
    const u64 a = rng() >> (rng() % 64);
    const u64 b = rng() >> (rng() % 64);
    m.poke(6, rng() % 2 == 0 ? a : minus(a));
    m.poke(7, rng() % 2 == 0 ? b : minus(b));
    m.alu(kOps[i % 8], 5, 6, 7, 0);
  }
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(DivremChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps);
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(DivremChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  const auto t = build_trace<Air>(m.records(), m.program());
  std::vector<size_t> rows;
  for (size_t row = 0; row < t.real_rows; ++row) rows.push_back(row);
  expect_every_column_caught(t, rows);
}

TEST(DivremChip, ForgedLimbsAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  for (size_t row = 0; row < t.real_rows; ++row) {
    for (const u32 first : {Air::kN0, Air::kN2, Air::kD0, Air::kD2, Air::kQ0, Air::kQ2, Air::kR0,
                            Air::kR2, Air::kT0, Air::kT2, Air::kC0, Air::kC1, Air::kC2}) {
      expect_repacking_caught(t, row, first, first + 1);
    }
  }
}

// Rule 12 of machine.md section 8, each part by itself.

/// Every other quotient near the honest one, with the remainder that keeps n = q d + r.
TEST(DivremChip, RemaindersOutOfBoundAreCaught) {
  for (const Op op : {Op::kDivu, Op::kRemu, Op::kDiv, Op::kRem}) {
    for (const auto& [a, b] : std::vector<std::pair<u64, u64>>{{100, 7}, {99, 100}, {7, 7}}) {
      const OneDivision one(op, a, b);
      for (const i64 step : {-2, -1, 1}) {
        Division v = one.honest();
        v.q += static_cast<u64>(step);
        v.r -= static_cast<u64>(step) * b;
        v.q_negative = static_cast<i64>(v.q) < 0;
        v.r_negative = static_cast<i64>(v.r) < 0;
        EXPECT_TRUE(one.judge(v).caught()) << static_cast<u32>(op) << ' ' << a << ' ' << step;
      }
    }
  }
}

/// REM(-7, 3) = +2 by Q = -3, and the like: right but for the remainder's sign. REM(-7, 3) = +1 and
/// DIV(1, -1) = +1 satisfy no identity.
TEST(DivremChip, RemaindersOfTheWrongSignAreCaught) {
  for (const Op op : {Op::kDiv, Op::kRem, Op::kDivw, Op::kRemw}) {
    for (const auto& [a, b, q, r] :
         std::vector<std::array<u64, 4>>{{minus(7), 3, minus(3), 2},
                                         {minus(7), minus(3), 3, 2},
                                         {7, 3, 3, minus(2)},
                                         {7, minus(3), minus(3), minus(2)}}) {
      const OneDivision one(op, a, b);
      Division v = one.honest();
      v.q = q;
      v.r = r;
      v.q_negative = q >> 63 != 0;
      v.r_negative = r >> 63 != 0;
      EXPECT_EQ(one.judge(v).violated, std::set<std::string>{"divrem.remainder.sign_is_dividends"});
    }
  }
  const OneDivision rem(Op::kRem, minus(7), 3);
  const OneDivision div(Op::kDiv, 1, kAllOnes);
  for (const bool q_negative : {false, true}) {
    for (const bool r_negative : {false, true}) {
      Division v = rem.honest();
      v.r = 1;
      v.q_negative = q_negative;
      v.r_negative = r_negative;
      EXPECT_TRUE(rem.judge(v).caught());
      v = div.honest();
      v.q = 1;
      v.q_negative = q_negative;
      v.r_negative = r_negative;
      EXPECT_TRUE(div.judge(v).caught());
    }
  }
}

/// MIN / -1 = MIN rem 0, and nothing else, whatever the sign bits claim.
TEST(DivremChip, OverflowHasOneAnswer) {
  for (const auto& [op, min] : std::vector<std::pair<Op, u64>>{
           {Op::kDiv, kMin}, {Op::kRem, kMin}, {Op::kDivw, kMinW}, {Op::kRemw, kMinW}}) {
    const OneDivision one(op, min, kAllOnes);
    EXPECT_EQ(one.honest().q, minus(min));
    EXPECT_EQ(one.honest().r, 0u);
    for (const u64 q : {minus(min), u64{0}, kAllOnes, u64{1}, kMin - 1, min}) {
      for (const u64 r : {u64{0}, min, kAllOnes}) {
        for (u32 signs = 0; signs < 4; ++signs) {
          Division v = one.honest();
          v.q = q;
          v.r = r;
          v.q_negative = (signs & 1) != 0;
          v.r_negative = (signs & 2) != 0;
          const bool same = q == one.honest().q && r == 0 && signs == 0;
          EXPECT_EQ(one.judge(v).caught(), !same) << q << ' ' << r << ' ' << signs;
        }
      }
    }
  }
}

/// n / 0 = -1 rem n, and nothing else.
TEST(DivremChip, DivisionByZeroHasOneAnswer) {
  for (const Op op : kOps) {
    for (const u64 a : {u64{0}, u64{5}, minus(5), kMin, kMinW}) {
      const OneDivision one(op, a, 0);
      for (const u64 q : {u64{0}, u64{1}, kAllOnes, kAllOnes - 1, u64{0xffffffff}}) {
        for (const u64 r : {one.honest().n, u64{1}, u64{0}}) {
          for (u32 signs = 0; signs < 4; ++signs) {
            Division v = one.honest();
            v.q = q;
            v.r = r;
            v.q_negative = (signs & 1) != 0;
            v.r_negative = (signs & 2) != 0;
            const bool same = q == kAllOnes && r == v.n && !v.q_negative &&
                              v.r_negative == one.honest().r_negative;
            EXPECT_EQ(one.judge(v).caught(), !same) << q << ' ' << r << ' ' << signs;
          }
        }
      }
      // z = 0 beside a zero divisor: no remainder is below it.
      ChipTrace<Air> t = one.trace();
      for (const u64 q : {u64{0}, u64{7}}) {
        Division v = one.honest();
        v.q = q;
        EXPECT_TRUE(judge_changed(t, 0, one.forged(v, {{Air::kDIsZero, -Fp::one()}})).caught());
      }
    }
  }
}

/// A wrong quotient with a remainder taken mod 2^64 or mod p is caught by the 128-bit identity.
TEST(DivremChip, IdentityHoldsOverAllBits) {
  std::mt19937_64 rng(kSeed);
  for (const Op op : {Op::kDiv, Op::kDivu, Op::kRem, Op::kRemu}) {
    for (u32 i = 0; i < 50; ++i) {
      const OneDivision one(op, rng(), rng() >> 20);
      for (u32 signs = 0; signs < 4; ++signs) {
        Division v = one.honest();
        v.q = rng();
        v.r = v.n - v.q * v.d;  // right mod 2^64
        v.q_negative = (signs & 1) != 0;
        v.r_negative = (signs & 2) != 0;
        EXPECT_TRUE(one.judge(v).caught());
        v = one.honest();
        v.q = (Fp::from_u64(v.n) * Fp::from_u64(v.d).inverse()).value();
        v.r = 0;  // n = q d (mod p)
        EXPECT_EQ(one.judge(v).caught(), v.q != one.honest().q);
      }
    }
  }
}

// Mutants that only one constraint sees. 2^-32 = 1 - 2^32 (mod p), so a carry off by 2^-32 moves
// one unit in its own word and, times 2^32, one word's worth in the next.

class DivremConstraints : public ::testing::Test {
 protected:
  static constexpr Fp kOne = Fp::one();
  static constexpr Fp kInv = Fp::from_canonical(kInvTwo32);
  static constexpr Fp kInv16 = Fp::from_canonical(kInvTwo16);

  /// The honest row with some cells moved.
  void moved(const OneDivision& one, const Changes& deltas, const std::string& label,
             Inputs inputs = Inputs::kSame) {
    other(one, one.honest(), deltas, label, inputs);
  }
  /// The row of another division with some cells moved.
  void other(const OneDivision& one, const Division& v, const Changes& deltas,
             const std::string& label, Inputs inputs = Inputs::kSame) {
    ChipTrace<Air> t = one.trace();
    Changes changes = one.forged(v);
    for (const auto& [column, delta] : deltas) {
      const auto at = std::find_if(changes.begin(), changes.end(),
                                   [c = column](const auto& x) { return x.first == c; });
      if (at != changes.end()) {
        at->second += delta;
      } else {
        changes.push_back({column, t.main(column, 0) + delta});
      }
    }
    coverage_.mutant(t, 0, changes, label, inputs);
  }

  void flags_and_operands();
  void identity_and_carries();
  void remainder_and_zero();

  ConstraintCoverage<Air> coverage_;
};

void DivremConstraints::flags_and_operands() {
  const OneDivision zero_by_two(Op::kDiv, 0, 2);
  ChipTrace<Air> t = zero_by_two.trace();
  coverage_.flags(t, {{Air::kIsDiv, "divrem.flag.div_is_bool"},
                      {Air::kIsDivu, "divrem.flag.divu_is_bool"},
                      {Air::kIsRem, "divrem.flag.rem_is_bool"},
                      {Air::kIsRemu, "divrem.flag.remu_is_bool"},
                      {Air::kIsDivw, "divrem.flag.divw_is_bool"},
                      {Air::kIsDivuw, "divrem.flag.divuw_is_bool"},
                      {Air::kIsRemw, "divrem.flag.remw_is_bool"},
                      {Air::kIsRemuw, "divrem.flag.remuw_is_bool"}});
  // Two flags double is_real, and with it what C2 is raised by and the 1 of the bound.
  moved(zero_by_two, {{Air::kIsRem, kOne}, {Air::kT0, -kOne}, {Air::kC2, Fp::from_u64(2)}},
        "divrem.flag.one_hot", Inputs::kMayChange);

  // A W operand with bits above its word.
  const OneDivision words(Op::kRemuw, 100, 7);
  Division v = Fill<Air>::divide(Op::kRemu, 100 + (1ull << 35), 7);
  v.is_word = true;
  other(words, v, {}, "divrem.operand.n_high");
  v = Fill<Air>::divide(Op::kRemu, 100, 7 + (1ull << 35));
  v.is_word = true;
  other(words, v, {}, "divrem.operand.d_high");
  const OneDivision divu(Op::kDivu, 100, 7);
  moved(divu, {{Air::kRdLo, kOne}}, "divrem.result.low");
  moved(divu, {{Air::kRdHi, kOne}}, "divrem.result.high");
}

void DivremConstraints::identity_and_carries() {
  // A quotient does not show its remainder: one more, and one less below the divisor.
  const OneDivision small(Op::kDivu, 100, 7);
  moved(small, {{Air::kR0, kOne}, {Air::kT0, -kOne}}, "divrem.identity.limbs01");
  const OneDivision wide(Op::kDivu, 100, 5ull << 40);
  moved(wide, {{Air::kR2, kOne}, {Air::kT2, -kOne}}, "divrem.identity.limbs23");
  // Q - 2^64 beside a divisor of one word: the other word's equation does not see it.
  moved(small, {{Air::kQNegative, kOne}}, "divrem.identity.limbs45");
  moved(wide, {{Air::kQNegative, kOne}}, "divrem.identity.limbs67");

  // 5 = 0 * d + (5 + 2^64 - 2^32 + 1): the remainder is off by p.
  const OneDivision by_max(Op::kDivu, 5, kAllOnes);
  Division v = by_max.honest();
  v.r = 5 + Fp::kModulus;
  Changes carry = {{Air::kC0High, kInv * kInv16}};
  {
    ForgedRow row;
    Fill<Air>::fill_carries(row, v);
    carry.push_back({Air::kC1, -row.cells[Air::kC1]});
    carry.push_back({Air::kC0, -row.cells[Air::kC0]});
    carry.push_back({Air::kC2, Fp::from_u64(2) - row.cells[Air::kC2]});
    carry.push_back({Air::kC2High, -row.cells[Air::kC2High]});
    carry.push_back({Air::kC1High, -row.cells[Air::kC1High]});
    carry.push_back({Air::kC1Higher, -row.cells[Air::kC1Higher]});
  }
  other(by_max, v, carry, "divrem.carry.c0_high_is_bool");

  // 2^32 + 5 = -2^64 (2^32 - 1) + 5 (mod p), by Q = 0 - 2^64.
  for (const bool higher : {false, true}) {
    const OneDivision one(Op::kDivu, (1ull << 32) + 5, 0xffffffff);
    v = one.honest();
    v.q = 0;
    v.q_negative = true;
    v.r = 5;
    const Fp unit = higher ? kInv16 * Fp::from_u64(2).inverse() : kInv16;
    ForgedRow row;
    Fill<Air>::fill_carries(row, v);
    const Changes changes = {
        {Air::kC0, -row.cells[Air::kC0]},
        {Air::kC0High, -row.cells[Air::kC0High]},
        {Air::kC1, -row.cells[Air::kC1]},
        {Air::kC1High, (higher ? Fp::zero() : -kInv * unit) - row.cells[Air::kC1High]},
        {Air::kC1Higher, (higher ? -kInv * unit : Fp::zero()) - row.cells[Air::kC1Higher]},
        {Air::kC2, Fp::from_u64(2) - row.cells[Air::kC2]},
        {Air::kC2High, -row.cells[Air::kC2High]}};
    other(one, v, changes,
          higher ? "divrem.carry.c1_higher_is_bool" : "divrem.carry.c1_high_is_bool");
  }

  // d = p: Q - 2^64 changes nothing mod p, if the carry C2 or the sign may be any field element.
  const OneDivision by_p(Op::kDivu, 5, Fp::kModulus);
  moved(by_p, {{Air::kQNegative, kOne}, {Air::kC2High, -kInv * kInv16}},
        "divrem.carry.c2_high_is_ternary");
  moved(by_p, {{Air::kQNegative, -Fp::from_u64(1ull << 32)}, {Air::kC2, kOne}},
        "divrem.quotient.negative_is_bool");
}

void DivremConstraints::remainder_and_zero() {
  // -2^50 / 2^40 = 2^56 - 2^10 by R = -2^96, from sr = 2^32: (3) sees |R| = 2^96 = -1 (mod p).
  const OneDivision exact(Op::kDiv, minus(1ull << 50), 1ull << 40);
  Division v = exact.honest();
  v.q = (1ull << 56) - (1ull << 10);
  v.q_negative = false;
  other(exact, v,
        {{Air::kRNegative, Fp::from_u64(1ull << 32)},
         {Air::kC2, -kOne},
         {Air::kT0, Fp::one() - Fp::from_u64(1u << 16)},
         {Air::kT1, Fp::one() - Fp::from_u64(1u << 16)},
         {Air::kT2, kOne},
         {Air::kTBorrow, Fp::zero()}},
        "divrem.remainder.negative_is_bool");
  const OneDivision rem(Op::kRem, minus(7), 3);
  v = rem.honest();
  v.q = minus(3);
  v.r = 2;
  v.r_negative = false;
  other(rem, v, {}, "divrem.remainder.sign_is_dividends");

  const OneDivision by_zero(Op::kDivu, 5, 0);
  moved(by_zero, {{Air::kDIsZero, -kInv}, {Air::kT2, -kOne}}, "divrem.zero.is_bool");
  moved(by_zero, {{Air::kQ0, -kOne}, {Air::kRdLo, -kOne}}, "divrem.zero.quotient_low");
  moved(by_zero, {{Air::kQ2, -kOne}, {Air::kRdHi, -kOne}}, "divrem.zero.quotient_high");
  moved(by_zero, {{Air::kQNegative, kOne}}, "divrem.zero.quotient_sign");
  ChipTrace<Air> t = by_zero.trace();
  const Fp ffff = Fp::from_u64(0xffff);
  coverage_.mutant(t, t.real_rows,
                   {{Air::kDIsZero, kOne},
                    {Air::kQ0, ffff},
                    {Air::kQ1, ffff},
                    {Air::kQ2, ffff},
                    {Air::kQ3, ffff},
                    {Air::kT3, Fp::from_u64(kTwo16)}},
                   "divrem.zero.is_real");
  // 0 = (2^64 - 1) * -1 + (2^64 - 1), with the bound raised by 2^64.
  const OneDivision zero(Op::kRem, 0, kAllOnes);
  v = zero.honest();
  v.q = kAllOnes;
  v.r = kAllOnes;
  other(zero, v, {{Air::kDIsZero, kOne}}, "divrem.zero.divisor");

  const OneDivision small(Op::kDivu, 100, 7);
  moved(small, {{Air::kT0, kOne}}, "divrem.bound.low");
  moved(small, {{Air::kT2, kOne}}, "divrem.bound.high");
  moved(small, {{Air::kTBorrow, kInv}, {Air::kT0, kOne}, {Air::kT2, ffff}, {Air::kT3, ffff}},
        "divrem.bound.borrow_is_ternary");
}

TEST_F(DivremConstraints, EveryOneIsNeeded) {
  flags_and_operands();
  identity_and_carries();
  remainder_and_zero();
  coverage_.expect_complete();
}

TEST(DivremChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<Air>(m.records(), m.program()),
                             {{Air::kN0, Air::kN1},
                              {Air::kN2, Air::kN3},
                              {Air::kD0, Air::kD1},
                              {Air::kD2, Air::kD3},
                              {Air::kQ0, Air::kQ1},
                              {Air::kQ2, Air::kQ3},
                              {Air::kR0, Air::kR1},
                              {Air::kR2, Air::kR3},
                              {Air::kT0, Air::kT1},
                              {Air::kT2, Air::kT3},
                              {Air::kC0, Air::kC0High},
                              {Air::kC1, Air::kC1High},
                              {Air::kC2, Air::kC2High}});
}

TEST(DivremChip, ShapeIsPinned) {
  expect_shape<Air>(59, 33, 35);
}

}  // namespace
}  // namespace epochd::chips::harness
