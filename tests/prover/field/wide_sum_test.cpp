// WideSum against reducing every product.
#include "prover/field/wide_sum.hpp"

#include <gtest/gtest.h>

#include <random>

namespace epochd::prover {
namespace {

TEST(WideSum, EqualsTheReducedSum) {
  std::mt19937_64 random(7);
  const u64 edges[] = {0, 1, 2, 0xffffffffull, 0x100000000ull, Fp::kModulus - 2, Fp::kModulus - 1};
  WideSum sum;
  Fp expected = Fp::zero();
  for (u32 i = 0; i < 5000; ++i) {
    const Fp a = i % 3 == 0 ? Fp::from_canonical(edges[random() % 7]) : Fp::from_u64(random());
    const Fp b = i % 5 == 0 ? Fp::from_canonical(edges[random() % 7]) : Fp::from_u64(random());
    sum.add(a, b);
    expected += a * b;
    ASSERT_EQ(sum.value(), expected) << "seed 7, product " << i;
  }
}

TEST(WideSum, HoldsManyLargestProducts) {
  const Fp largest = Fp::from_canonical(Fp::kModulus - 1);
  WideSum3 sum;
  for (u32 i = 0; i < 100000; ++i) sum.add({largest, largest, Fp::one()}, largest);
  // (p - 1)^2 = 1.
  EXPECT_EQ(sum.value().c0, Fp::from_u64(100000));
  EXPECT_EQ(sum.value().c1, Fp::from_u64(100000));
  EXPECT_EQ(sum.value().c2, -Fp::from_u64(100000));
}

}  // namespace
}  // namespace epochd::prover
