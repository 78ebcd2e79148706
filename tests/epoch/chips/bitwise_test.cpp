#include "epoch/chips/bitwise/fill.hpp"

#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kOps[] = {Op::kAnd, Op::kOr, Op::kXor};

/// Four rows of each operation, the last an immediate one.
RegisterMachine few_rows() {
  RegisterMachine m;
  const u64 values[][2] = {
      {0, 0}, {0xff00ff00ff00ff00ull, 0xf0f0f0f0f0f0f0f0ull}, {0x123456789abcdef0ull, ~0ull}};
  for (const Op op : kOps) {
    for (const auto& v : values) {
      m.poke(6, v[0]);
      m.poke(7, v[1]);
      m.alu(op, 5, 6, 7, 0);
    }
    m.alu(op, 5, 6, 0, 0xfffffffffffff8f0ull);
  }
  return m;
}

TEST(BitwiseChip, HonestRowsMatchTheReference) {
  RegisterMachine m = every_register_pair(kOps);
  m.expect_matches(build_trace<BitwiseAir>(m.records(), m.program()));
}

TEST(BitwiseChip, ImmediateRowsMatchTheReference) {
  const u64 immediates[] = {0, 1, 2047, ~0ull, 0xfffffffffffff800ull};
  RegisterMachine m = every_immediate(kOps, immediates, true);
  m.expect_matches(build_trace<BitwiseAir>(m.records(), m.program()));
}

TEST(BitwiseChip, AliasedRegistersMatchTheReference) {
  RegisterMachine m = every_aliasing(kOps);
  m.expect_matches(build_trace<BitwiseAir>(m.records(), m.program()));
}

TEST(BitwiseChip, EveryColumnIsCaught) {
  const RegisterMachine m = few_rows();
  expect_every_column_caught(build_trace<BitwiseAir>(m.records(), m.program()),
                             {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

/// Value moved between neighbouring bytes keeps the word; another operation's result does not pass.
TEST(BitwiseChip, ForgedBytesAreCaught) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<BitwiseAir>(m.records(), m.program());
  const Fp half = Fp::from_u64(2).inverse();
  for (size_t row = 0; row < t.real_rows; ++row) {
    for (u32 low = BitwiseAir::kA0; low < BitwiseAir::kWidth; ++low) {
      if ((low - BitwiseAir::kA0) % 4 == 3) continue;
      for (const Fp delta : {Fp::one(), -Fp::one(), half}) {
        const Changes changes = {{low, t.main(low, row) - delta * Fp::from_u64(256)},
                                 {low + 1, t.main(low + 1, row) + delta}};
        EXPECT_TRUE(judge_changed(t, row, changes).caught()) << row << ' ' << low;
      }
    }
    const Fp is_and = t.main(BitwiseAir::kIsAnd, row);
    const Fp is_or = t.main(BitwiseAir::kIsOr, row);
    const Fp is_xor = t.main(BitwiseAir::kIsXor, row);
    EXPECT_TRUE(judge_changed(t, row,
                              {{BitwiseAir::kIsAnd, is_xor},
                               {BitwiseAir::kIsOr, is_and},
                               {BitwiseAir::kIsXor, is_or}})
                    .caught());
  }
}

TEST(BitwiseChip, EveryConstraintIsNeeded) {
  const RegisterMachine m = few_rows();
  auto t = build_trace<BitwiseAir>(m.records(), m.program());
  ConstraintCoverage<BitwiseAir> coverage;
  coverage.flags(t, {{BitwiseAir::kIsAnd, "bitwise.flag.and_is_bool"},
                     {BitwiseAir::kIsOr, "bitwise.flag.or_is_bool"},
                     {BitwiseAir::kIsXor, "bitwise.flag.xor_is_bool"}});
  // AND and OR together would look up XOR.
  coverage.mutant(t, 0, {{BitwiseAir::kIsOr, Fp::one()}}, "bitwise.flag.one_hot",
                  Inputs::kMayChange);
  coverage.expect_complete();
}

TEST(BitwiseChip, EveryLookupIsNeeded) {
  const RegisterMachine m = few_rows();
  expect_every_lookup_needed(build_trace<BitwiseAir>(m.records(), m.program()),
                             {{BitwiseAir::kA0 + 0, BitwiseAir::kA0 + 1, 256},
                              {BitwiseAir::kA0 + 1, BitwiseAir::kA0 + 2, 256},
                              {BitwiseAir::kA0 + 2, BitwiseAir::kA0 + 3, 256},
                              {BitwiseAir::kA0 + 4, BitwiseAir::kA0 + 5, 256},
                              {BitwiseAir::kA0 + 5, BitwiseAir::kA0 + 6, 256},
                              {BitwiseAir::kA0 + 6, BitwiseAir::kA0 + 7, 256}});
}

TEST(BitwiseChip, ShapeIsPinned) {
  expect_shape<BitwiseAir>(39, 4, 20);
}

}  // namespace
}  // namespace epochd::chips::harness
