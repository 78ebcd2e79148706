#include "epoch/chips/shift_imm/fill.hpp"

#include "tests/epoch/chips/lookup_coverage.hpp"
#include "tests/epoch/chips/shifter_cases.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kSlli, Op::kSrli, Op::kSrai, Op::kSlliw, Op::kSrliw, Op::kSraiw};
using Air = ShiftImmAir;

u32 amount_end(Op op) {
  return op == Op::kSlliw || op == Op::kSrliw || op == Op::kSraiw ? 32 : 64;
}

RegisterMachine few_rows() {
  RegisterMachine m;
  const auto shift = [&](Op op, u64 a, u32 s) {
    m.poke(6, a);
    m.alu(op, 5, 6, 0, s, true, false);
  };
  shifter_rows(Op::kSlli, Op::kSrli, Op::kSlliw, shift);
  for (const Op op : kOps) {
    for (const u32 s : {0, 1, 16, 31, 47, 63}) {
      if (static_cast<u32>(s) < amount_end(op)) shift(op, kPattern, s);
    }
  }
  return m;
}

std::vector<size_t> all_rows(const ChipTrace<Air>& t) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < t.real_rows; ++row) rows.push_back(row);
  return rows;
}

TEST(ShiftImmChip, EveryAmountMatchesTheReference) {
  RegisterMachine m;
  for (const Op op : kOps) {
    for (const u64 a : edge_values()) {
      m.poke(6, a);
      for (u32 s = 0; s < amount_end(op); ++s) m.alu(op, 5, 6, 0, s, true, false);
    }
  }
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(ShiftImmChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps, 13, false);
  m.expect_matches(build_trace<Air>(m.records(), m.program()));
}

TEST(ShiftImmChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  const auto t = build_trace<Air>(m.records(), m.program());
  expect_every_column_caught(t, all_rows(t));
}

TEST(ShiftImmChip, ForgedLimbsAndSignsAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  expect_shifter_forgeries_caught(t);
}

TEST(ShiftImmChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<Air>(m.records(), m.program());
  ConstraintCoverage<Air> coverage;
  cover_shifter(coverage, t, Air::kAmount);
  coverage.mutant(t, kRowLeftBy5, {{Air::kAmount, Fp::from_u64(6)}},
                  "shift_imm.amount.is_immediate", Inputs::kMayChange);
  coverage.flags(t, {{Air::kIsSlli, "shift_imm.flag.slli_is_bool"},
                     {Air::kIsSlliw, "shift_imm.flag.slliw_is_bool"}});
  coverage.flags(t, {{Air::kIsSrli, "shift_imm.flag.srli_is_bool"},
                     {Air::kIsSrai, "shift_imm.flag.srai_is_bool"},
                     {Air::kIsSrliw, "shift_imm.flag.srliw_is_bool"},
                     {Air::kIsSraiw, "shift_imm.flag.sraiw_is_bool"}});
  // Two flags double is_real, and with it the power and the amount.
  coverage.mutant(t, kRowZeroBy0,
                  {{Air::kIsSlliw, Fp::one()},
                   {Air::kPowerLow, Fp::from_u64(2)},
                   {Air::kPower, Fp::from_u64(2)},
                   {Air::kK1, Fp::one()},
                   {Air::kAmount, Fp::from_u64(32)}},
                  "shift_imm.flag.one_hot", Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(ShiftImmChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<Air>(m.records(), m.program()), {{Air::kU0, Air::kU1},
                                                                          {Air::kU1, Air::kU2},
                                                                          {Air::kV0, Air::kV1},
                                                                          {Air::kV1, Air::kV2},
                                                                          {Air::kRest, Air::kTop}});
}

TEST(ShiftImmChip, ShapeIsPinned) {
  expect_shape<Air>(38, 25, 17);
}

}  // namespace
}  // namespace epochd::chips::harness
