#include "epoch/chips/addi/fill.hpp"

#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kAddi};
constexpr u64 kLui = 0xffffffff80000000ull;

RegisterMachine few_rows() {
  RegisterMachine m;
  for (const auto& [a, imm] : std::vector<std::pair<u64, u64>>{
           {0x100000005, 3}, {~0ull, 1}, {0, 0}, {0, kLui}, {1ull << 63, ~0ull - 2047}}) {
    m.poke(6, a);
    m.alu(Op::kAddi, 5, 6, 0, imm, true, false);
  }
  return m;
}

TEST(AddiChip, HonestRowsMatchTheReference) {
  const std::vector<u64> immediates = edge_values();
  RegisterMachine m = every_immediate(kOps, immediates, false);
  m.expect_matches(build_trace<AddiAir>(m.records(), m.program()));
}

TEST(AddiChip, AliasedRegistersAndExtremePcsMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps, 0xfffffffffffff800ull, false);
  m.poke_pc(0xfffffffc);  // the pc passed on is 2^32, which no Program row has
  m.alu(Op::kAddi, 5, 0, 0, kLui, true, false);
  const auto trace = build_trace<AddiAir>(m.records(), m.program());
  expect_honest(trace);
  EXPECT_EQ(touches_of_row(trace.view(), trace.real_rows - 1)[1].tuple[0], 1ull << 32);
}

TEST(AddiChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  expect_every_column_caught(build_trace<AddiAir>(m.records(), m.program()), {0, 1, 2, 3, 4});
}

TEST(AddiChip, ForgedLimbsAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<AddiAir>(m.records(), m.program());
  for (const size_t row : {0, 1, 2, 3, 4}) {
    expect_repacking_caught(t, row, AddiAir::kS0, AddiAir::kS1);
    expect_repacking_caught(t, row, AddiAir::kS2, AddiAir::kS3);
  }
}

TEST(AddiChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<AddiAir>(m.records(), m.program());
  ConstraintCoverage<AddiAir> coverage;
  // 2^-32 = 1 - 2^32 (mod p): a fractional carry out of the low words, undone in the high words.
  coverage.mutant(t, 0, {{AddiAir::kS0, Fp::from_u64(9)}, {AddiAir::kS2, Fp::zero()}},
                  "addi.sum.carry_lo");
  coverage.mutant(t, 0, {{AddiAir::kS2, Fp::from_u64(2)}}, "addi.sum.carry_hi");
  coverage.mutant(t, 2, {{AddiAir::kIsReal, Fp::from_u64(2)}}, "addi.flag.is_bool",
                  Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(AddiChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<AddiAir>(m.records(), m.program()),
                             {{AddiAir::kS0, AddiAir::kS1}, {AddiAir::kS2, AddiAir::kS3}});
}

TEST(AddiChip, ShapeIsPinned) {
  expect_shape<AddiAir>(17, 3, 13);
}

}  // namespace
}  // namespace epochd::chips::harness
