#include "epoch/chips/compare/fill.hpp"

#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kSlt, Op::kSltu};
constexpr u64 kMin = 1ull << 63;

/// Rows 0-5 signed, 6-11 unsigned, 12 and 13 the immediate forms.
RegisterMachine few_rows() {
  RegisterMachine m;
  const u64 values[][2] = {{0, 0},     {3, 0x500000005}, {~0ull, 1},
                           {1, ~0ull}, {kMin, kMin - 1}, {0x500000005, 3}};
  for (const Op op : kOps) {
    for (const auto& v : values) {
      m.poke(6, v[0]);
      m.poke(7, v[1]);
      m.alu(op, 5, 6, 7, 0);
    }
  }
  m.alu(Op::kSlt, 5, 6, 0, ~0ull);
  m.alu(Op::kSltu, 5, 6, 0, ~0ull);
  return m;
}

TEST(CompareChip, HonestRowsMatchTheReference) {
  RegisterMachine m = every_register_pair(kOps);
  m.expect_matches(build_trace<CompareAir>(m.records(), m.program()));
}

TEST(CompareChip, ImmediateRowsMatchTheReference) {
  const u64 immediates[] = {0, 1, 2047, ~0ull, 0xfffffffffffff800ull};
  RegisterMachine m = every_immediate(kOps, immediates, true);
  m.expect_matches(build_trace<CompareAir>(m.records(), m.program()));
}

TEST(CompareChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps);
  m.expect_matches(build_trace<CompareAir>(m.records(), m.program()));
}

TEST(CompareChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  expect_every_column_caught(build_trace<CompareAir>(m.records(), m.program()),
                             {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
}

/// The opposite answer, with the difference that would go with it: of swapped operands, or the
/// honest one.
TEST(CompareChip, OppositeAnswersAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<CompareAir>(m.records(), m.program());
  for (size_t row = 0; row < t.real_rows; ++row) {
    const InstructionRecord& r = m.records()[row];
    const u64 swapped = r.rs2 + m.program()[row].imm - r.rs1;
    Changes changes = {{CompareAir::kLt, Fp::one() - t.main(CompareAir::kLt, row)}};
    EXPECT_TRUE(judge_changed(t, row, changes).caught()) << row;
    for (u32 i = 0; i < 4; ++i) {
      changes.push_back({CompareAir::kD0 + i, Fp::from_u64(limb16(swapped, i))});
    }
    EXPECT_TRUE(judge_changed(t, row, changes).caught()) << row;
  }
}

TEST(CompareChip, ForgedLimbsAndSignsAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<CompareAir>(m.records(), m.program());
  for (size_t row = 0; row < t.real_rows; ++row) {
    for (const auto& [low, high] :
         std::vector<std::pair<u32, u32>>{{CompareAir::kA2, CompareAir::kA3},
                                          {CompareAir::kB2, CompareAir::kB3},
                                          {CompareAir::kD0, CompareAir::kD1},
                                          {CompareAir::kD2, CompareAir::kD3}}) {
      expect_repacking_caught(t, row, low, high);
    }
    // Both signs flipped keep sign(a) - sign(b) where they were equal; one flipped comes with the
    // answer it would give.
    for (const u32 column : {CompareAir::kASign, CompareAir::kBSign}) {
      const Changes changes = {{column, Fp::one() - t.main(column, row)},
                               {CompareAir::kLt, Fp::one() - t.main(CompareAir::kLt, row)}};
      EXPECT_TRUE(judge_changed(t, row, changes).caught()) << row;
    }
  }
}

TEST(CompareChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<CompareAir>(m.records(), m.program());
  ConstraintCoverage<CompareAir> coverage;
  // Row 1 is 3 < 2^32 * 5 + 5: d = -2^32 * 5 - 2. With 2^-32 = 1 - 2^32 (mod p), an lt or a borrow
  // that is no integer makes room for another difference.
  const Fp one = Fp::one();
  const Fp inv = Fp::from_u64(kInvTwo32);
  const auto cell = [&](u32 column) { return t.main(column, 1); };
  coverage.mutant(t, 1,
                  {{CompareAir::kLt, cell(CompareAir::kLt) + inv},
                   {CompareAir::kD2, cell(CompareAir::kD2) + one}},
                  "compare.result.is_bool");
  coverage.mutant(t, 1,
                  {{CompareAir::kLt, Fp::zero()},
                   {CompareAir::kD0, cell(CompareAir::kD0) + one},
                   {CompareAir::kD2, cell(CompareAir::kD2) - one}},
                  "compare.difference.borrow_lo");
  coverage.mutant(t, 1, {{CompareAir::kD2, cell(CompareAir::kD2) + one}},
                  "compare.difference.high");
  coverage.flags(t, {{CompareAir::kIsSlt, "compare.flag.slt_is_bool"},
                     {CompareAir::kIsSltu, "compare.flag.sltu_is_bool"}});
  coverage.mutant(t, 0, {{CompareAir::kIsSltu, one}}, "compare.flag.one_hot", Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(CompareChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<CompareAir>(m.records(), m.program()),
                             {{CompareAir::kA2, CompareAir::kA3},
                              {CompareAir::kB2, CompareAir::kB3},
                              {CompareAir::kD0, CompareAir::kD1},
                              {CompareAir::kD2, CompareAir::kD3}});
}

TEST(CompareChip, ShapeIsPinned) {
  expect_shape<CompareAir>(27, 6, 20);
}

}  // namespace
}  // namespace epochd::chips::harness
