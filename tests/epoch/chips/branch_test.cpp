// beq and blt against the reference, and every way to take the wrong branch.
#include "epoch/chips/beq/fill.hpp"
#include "epoch/chips/blt/fill.hpp"
#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"
#include "tests/epoch/chips/memory_machine.hpp"

namespace epochd::chips::harness {
namespace {

constexpr u32 kTarget = 0x20000;
const Fp kOne = Fp::one();

Fp fp(u64 v) {
  return Fp::from_u64(v);
}

MemoryMachine every_branch(std::span<const Op> ops) {
  MemoryMachine m;
  for (const Op op : ops) {
    for (const u64 a : edge_values()) {
      for (const u64 b : edge_values()) {
        m.poke(6, a);
        m.poke(7, b);
        m.branch(op, 6, 7, kTarget);
      }
    }
    for (const u32 rs1 : {0u, 1u}) {
      for (const u32 rs2 : {0u, 1u}) m.branch(op, rs1, rs2, 0xbffffffc);
    }
    m.poke_pc(0xbffffffc);
    m.branch(op, 1, 2, kTarget);
  }
  return m;
}

/// One row an entry.
struct Case {
  Op op;
  u64 a, b;
};
template <class Air>
ChipTrace<Air> rows_of(std::span<const Case> cases) {
  MemoryMachine m;
  for (const Case& c : cases) {
    m.poke(6, c.a);
    m.poke(7, c.b);
    m.branch(c.op, 6, 7, kTarget);
  }
  return build_trace<Air>(m.records(), m.program());
}

TEST(BeqChip, HonestRowsMatchTheReference) {
  const Op ops[] = {Op::kBeq, Op::kBne};
  const MemoryMachine m = every_branch(ops);
  m.expect_matches(build_trace<BeqAir>(m.records(), m.program()));
}

TEST(BltChip, HonestRowsMatchTheReference) {
  const Op ops[] = {Op::kBlt, Op::kBge, Op::kBltu, Op::kBgeu};
  const MemoryMachine m = every_branch(ops);
  m.expect_matches(build_trace<BltAir>(m.records(), m.program()));
}

constexpr u64 kA = 0x123456789abcdef0;
/// The last two pairs differ by p: equal as one field element, not as two words.
constexpr Case kBeqCases[] = {{Op::kBeq, kA, kA},          {Op::kBeq, kA, kA + 1},
                              {Op::kBne, kA, kA},          {Op::kBne, kA, kA + (1ull << 32)},
                              {Op::kBeq, Fp::kModulus, 0}, {Op::kBne, 0, Fp::kModulus}};

TEST(BeqChip, EveryColumnIsCaught) {
  // With a = b nothing is inverted, and q_inv multiplies 0.
  expect_every_column_caught(
      rows_of<BeqAir>(kBeqCases), {0, 1, 2, 3, 4, 5},
      {{BeqAir::kQInv, "q_inv multiplies q = 0 where the operands are equal",
        [](const std::vector<Fp>& row) { return row[BeqAir::kEq] == Fp::one(); }}});
}

TEST(BeqChip, EveryConstraintIsNeeded) {
  auto t = rows_of<BeqAir>(kBeqCases);
  ConstraintCoverage<BeqAir> coverage;
  const size_t padding = t.real_rows;
  const Fp pc = t.main(BeqAir::kPc, 0);
  coverage.mutant(t, padding, {{BeqAir::kIsBeq, -kOne}, {BeqAir::kIsBne, kOne}},
                  "beq.flag.beq_is_bool");
  coverage.mutant(t, padding, {{BeqAir::kIsBeq, kOne}, {BeqAir::kIsBne, -kOne}},
                  "beq.flag.bne_is_bool");
  // Row 1 is a BEQ not taken: as both instructions at once it goes to the target.
  coverage.forged(t, 1,
                  {{BeqAir::kIsBne, kOne},
                   {BeqAir::kQInv, t.main(BeqAir::kQInv, 1) * fp(2)},
                   {BeqAir::kNextPc, fp(kTarget)}},
                  "beq.flag.one_hot");
  coverage.mutant(t, 1, {{BeqAir::kEq, kOne}, {BeqAir::kQInv, {}}, {BeqAir::kNextPc, fp(kTarget)}},
                  "beq.eq.no_difference");
  coverage.mutant(t, 0, {{BeqAir::kEq, {}}, {BeqAir::kNextPc, pc + fp(4)}},
                  "beq.eq.difference_inverts");
  coverage.mutant(t, 0, {{BeqAir::kNextPc, pc + fp(4)}}, "beq.next_pc");
  coverage.expect_complete();
}

TEST(BeqChip, EveryLookupIsNeeded) {
  LookupCoverage<BeqAir> coverage(rows_of<BeqAir>(kBeqCases));
  coverage.stale(BeqAir::kTRs1, BeqAir::kTs, kSubRs1);
  coverage.stale(BeqAir::kTRs2, BeqAir::kTs, kSubRs2);
  coverage.expect_complete();
}

TEST(BeqChip, FlippedBranchesAreCaught) {
  auto t = rows_of<BeqAir>(kBeqCases);
  for (size_t row = 0; row < t.real_rows; ++row) {
    const Fp fall_through = t.main(BeqAir::kPc, row) + fp(4);
    const Fp flipped = t.main(BeqAir::kNextPc, row) == fp(kTarget) ? fall_through : fp(kTarget);
    EXPECT_TRUE(judge_changed(t, row, {{BeqAir::kNextPc, flipped}}).caught());
    for (const Fp q_inv : {Fp::zero(), kOne, t.main(BeqAir::kQInv, row)}) {
      const Fp eq = kOne - t.main(BeqAir::kEq, row);
      EXPECT_TRUE(
          judge_changed(t, row,
                        {{BeqAir::kNextPc, flipped}, {BeqAir::kEq, eq}, {BeqAir::kQInv, q_inv}})
              .caught())
          << row;
    }
  }
}

TEST(BeqChip, TheFormVanishesOnlyAtZero) {
  // 7 is not a square modulo p, by Euler's criterion.
  EXPECT_EQ(fp(BeqAir::kNonSquare).pow((Fp::kModulus - 1) / 2), -kOne);
}

constexpr Case kBltCases[] = {{Op::kBlt, ~0ull, 1}, {Op::kBge, ~0ull, 1}, {Op::kBltu, ~0ull, 1},
                              {Op::kBgeu, 1, 2},    {Op::kBlt, 1, 1},     {Op::kBge, 5, 3},
                              {Op::kBltu, 3, 5},    {Op::kBgeu, kA, kA},  {Op::kBltu, 1, 0}};

TEST(BltChip, EveryColumnIsCaught) {
  expect_every_column_caught(rows_of<BltAir>(kBltCases), {0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(BltChip, EveryConstraintIsNeeded) {
  auto t = rows_of<BltAir>(kBltCases);
  const size_t padding = t.real_rows;
  const std::pair<u32, const char*> flags[] = {{BltAir::kIsBlt, "blt.flag.blt_is_bool"},
                                               {BltAir::kIsBge, "blt.flag.bge_is_bool"},
                                               {BltAir::kIsBltu, "blt.flag.bltu_is_bool"},
                                               {BltAir::kIsBgeu, "blt.flag.bgeu_is_bool"}};
  ConstraintCoverage<BltAir> coverage;
  for (u32 i = 0; i < 4; ++i) {
    // One flag -1 and its signed or unsigned twin 1: the row is silent but for their difference.
    coverage.forged(t, padding, {{flags[i].first, -kOne}, {flags[i ^ 2].first, kOne}},
                    flags[i].second);
  }
  coverage.forged(t, padding, {{BltAir::kTs, kOne}, {BltAir::kIsBlt, kOne}, {BltAir::kIsBge, kOne}},
                  "blt.flag.one_hot");
  const auto fall_through = [&](size_t row) { return t.main(BltAir::kPc, row) + fp(4); };
  // Row 2 is BLTU -1, 1 (not taken, less = 0), row 6 BLTU 3, 5 (taken, less = 1).
  coverage.mutant(t, 2, {{BltAir::kATop, kOne}}, "blt.sign.a_top_unused");
  coverage.mutant(t, 2, {{BltAir::kBTop, kOne}}, "blt.sign.b_top_unused");
  coverage.mutant(t, 2, {{BltAir::kASign, kOne}, {BltAir::kNextPc, fp(kTarget)}},
                  "blt.sign.a_sign_unused");
  coverage.mutant(t, 6, {{BltAir::kBSign, kOne}, {BltAir::kNextPc, fall_through(6)}},
                  "blt.sign.b_sign_unused");
  // Row 8 is BLTU 1, 0: a carry of 2^32 - 1 = -1 / 2^32 makes 1 < 0 of the difference 2^32.
  coverage.mutant(t, 8, {{BltAir::kD0, {}}, {BltAir::kD2, kOne}, {BltAir::kNextPc, fp(kTarget)}},
                  "blt.difference.carry");
  const Fp less = fp(kTwo32).inverse();
  coverage.mutant(t, 8,
                  {{BltAir::kD2, kOne},
                   {BltAir::kNextPc, fall_through(8) + less * (fp(kTarget) - fall_through(8))}},
                  "blt.difference.borrow");
  coverage.mutant(t, 8, {{BltAir::kNextPc, fp(kTarget)}}, "blt.next_pc");
  coverage.expect_complete();
}

TEST(BltChip, EveryLookupIsNeeded) {
  auto t = rows_of<BltAir>(kBltCases);
  LookupCoverage<BltAir> coverage(t);
  coverage.stale(BltAir::kTRs1, BltAir::kTs, kSubRs1);
  coverage.stale(BltAir::kTRs2, BltAir::kTs, kSubRs2);
  // Row 0 is BLT -1, 1, taken: with either sign wrong it is not.
  const Fp fall_through = t.main(BltAir::kPc, 0) + fp(4);
  coverage.mutant(0, {{BltAir::kASign, {}}, {BltAir::kNextPc, fall_through}});
  coverage.mutant(0, {{BltAir::kBSign, kOne}, {BltAir::kNextPc, fall_through}});
  // Top limbs of the same sign with too much or too little below them.
  coverage.mutant(0, {{BltAir::kATop, t.main(BltAir::kATop, 0) - kOne}});
  coverage.mutant(0, {{BltAir::kBTop, t.main(BltAir::kBTop, 0) + kOne}});
  coverage.repacked({BltAir::kD0, BltAir::kD1});
  coverage.repacked({BltAir::kD2, BltAir::kD3});
  coverage.expect_complete();
}

TEST(BltChip, SwappedSignsAreCaught) {
  auto t = rows_of<BltAir>(kBltCases);
  // BLT -1, 1 read as unsigned: the sign of -1 denied, the branch not taken.
  const Fp fall_through = t.main(BltAir::kPc, 0) + fp(4);
  expect_objects(judge_changed(t, 0, {{BltAir::kASign, {}}, {BltAir::kNextPc, fall_through}}),
                 "rs1.sign");
  // A half-integer top limb pretending to a smaller sign.
  expect_objects(judge_changed(t, 0,
                               {{BltAir::kATop, t.main(BltAir::kATop, 0) * fp(2).inverse()},
                                {BltAir::kASign, {}},
                                {BltAir::kNextPc, fall_through}}),
                 "rs1.sign");
}

TEST(BranchChips, ShapesArePinned) {
  expect_shape<BeqAir>(16, 6, 9);
  expect_shape<BltAir>(24, 12, 17);
}

}  // namespace
}  // namespace epochd::chips::harness
