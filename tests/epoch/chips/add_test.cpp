#include "epoch/chips/add/fill.hpp"

#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"
#include "tests/epoch/chips/register_machine.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kAdd, Op::kSub};

/// A few rows of each operation; {op, a, b} in order.
RegisterMachine few_rows() {
  RegisterMachine m;
  const u64 values[][2] = {{0x100000005, 3}, {~0ull, 1}, {0, 0}};
  for (const Op op : kOps) {
    for (const auto& v : values) {
      m.poke(6, v[0]);
      m.poke(7, v[1]);
      m.alu(op, 5, 6, 7, 0);
    }
  }
  return m;
}

TEST(AddChip, HonestRowsMatchTheReference) {
  RegisterMachine m = every_register_pair(kOps);
  m.expect_matches(build_trace<AddAir>(m.records(), m.program()));
}

TEST(AddChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps);
  m.expect_matches(build_trace<AddAir>(m.records(), m.program()));
}

TEST(AddChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  expect_every_column_caught(build_trace<AddAir>(m.records(), m.program()), {0, 1, 2, 3, 4, 5});
}

TEST(AddChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<AddAir>(m.records(), m.program());
  ConstraintCoverage<AddAir> coverage;
  // Rows 0 and 3 are (2^32 + 5) +- 3. With 2^-32 = 1 - 2^32 (mod p) a carry out of the low words
  // that is no integer can be undone in the high words: row 0's low word + 1, its high word - 1.
  coverage.mutant(t, 0, {{AddAir::kS0, Fp::from_u64(9)}, {AddAir::kS2, Fp::zero()}},
                  "add.add.carry_lo");
  coverage.mutant(t, 0, {{AddAir::kS2, Fp::from_u64(2)}}, "add.add.carry_hi");
  coverage.mutant(t, 3, {{AddAir::kS0, Fp::one()}, {AddAir::kS2, Fp::from_u64(2)}},
                  "add.sub.carry_lo");
  coverage.mutant(t, 3, {{AddAir::kS2, Fp::from_u64(2)}}, "add.sub.carry_hi");
  coverage.flags(
      t, {{AddAir::kIsAdd, "add.flag.add_is_bool"}, {AddAir::kIsSub, "add.flag.sub_is_bool"}});
  coverage.mutant(t, 2, {{AddAir::kIsSub, Fp::one()}}, "add.flag.one_hot", Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(AddChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<AddAir>(m.records(), m.program()),
                             {{AddAir::kS0, AddAir::kS1}, {AddAir::kS2, AddAir::kS3}});
}

TEST(AddChip, ShapeIsPinned) {
  expect_shape<AddAir>(20, 7, 16);
}

}  // namespace
}  // namespace epochd::chips::harness
