#include "epoch/chips/addw/fill.hpp"

#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kAddw, Op::kSubw};
constexpr Op kImmediateOps[] = {Op::kAddw};

/// Rows 0-3 add, 4-7 subtract; row 8 is the immediate form.
RegisterMachine few_rows() {
  RegisterMachine m;
  const u64 values[][2] = {
      {0x500000005, 3}, {0x7fffffff, 1}, {0, 0}, {0x123456789abcdef0ull, 0xfedcba9876543210ull}};
  for (const Op op : kOps) {
    for (const auto& v : values) {
      m.poke(6, v[0]);
      m.poke(7, v[1]);
      m.alu(op, 5, 6, 7, 0);
    }
  }
  m.alu(Op::kAddw, 5, 6, 0, ~0ull);
  return m;
}

TEST(AddwChip, HonestRowsMatchTheReference) {
  RegisterMachine m = every_register_pair(kOps);
  m.expect_matches(build_trace<AddwAir>(m.records(), m.program()));
}

TEST(AddwChip, ImmediateRowsMatchTheReference) {
  const u64 immediates[] = {0, 1, 2047, ~0ull, 0xfffffffffffff800ull};
  RegisterMachine m = every_immediate(kImmediateOps, immediates, true);
  m.expect_matches(build_trace<AddwAir>(m.records(), m.program()));
}

TEST(AddwChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps);
  m.expect_matches(build_trace<AddwAir>(m.records(), m.program()));
}

TEST(AddwChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  expect_every_column_caught(build_trace<AddwAir>(m.records(), m.program()),
                             {0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(AddwChip, ForgedLimbsAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<AddwAir>(m.records(), m.program());
  for (size_t row = 0; row < t.real_rows; ++row) {
    expect_repacking_caught(t, row, AddwAir::kS0, AddwAir::kS1);
  }
}

TEST(AddwChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<AddwAir>(m.records(), m.program());
  ConstraintCoverage<AddwAir> coverage;
  coverage.mutant(t, 0, {{AddwAir::kS0, Fp::from_u64(9)}}, "addw.addw.carry");
  coverage.mutant(t, 4, {{AddwAir::kS0, Fp::from_u64(3)}}, "addw.subw.carry");
  coverage.flags(t, {{AddwAir::kIsAddw, "addw.flag.addw_is_bool"},
                     {AddwAir::kIsSubw, "addw.flag.subw_is_bool"}});
  coverage.mutant(t, 2, {{AddwAir::kIsSubw, Fp::one()}}, "addw.flag.one_hot", Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(AddwChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<AddwAir>(m.records(), m.program()),
                             {{AddwAir::kS0, AddwAir::kS1}});
}

TEST(AddwChip, ShapeIsPinned) {
  expect_shape<AddwAir>(21, 5, 14);
}

}  // namespace
}  // namespace epochd::chips::harness
