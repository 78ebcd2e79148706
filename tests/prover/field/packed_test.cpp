// Every pack operation against plain 128-bit arithmetic, on edge values and random ones, for each
// instruction set of this CPU.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "prover/core/cpu_features.hpp"
#include "tests/prover/field/packed_ops.hpp"

namespace epochd::prover {
namespace {

u64 mod(u128 x) {
  return static_cast<u64>(x % Fp::kModulus);
}

u64 times_power_of_2(u64 a, u32 exponent) {
  for (u32 i = 0; i < exponent; ++i) a = mod(static_cast<u128>(a) * 2);
  return a;
}

/// The oracle: schoolbook arithmetic modulo p, not Fp's.
u64 expected(PackOp op, u64 a, u64 b) {
  constexpr u64 p = Fp::kModulus;
  switch (op) {
    case PackOp::kAdd:
    case PackOp::kAddAssign:
      return mod(static_cast<u128>(a) + b);
    case PackOp::kSub:
    case PackOp::kSubAssign:
      return mod(static_cast<u128>(a) + p - b);
    case PackOp::kMul:
    case PackOp::kMulAssign:
      return mod(static_cast<u128>(a) * b);
    case PackOp::kNegate:
      return mod(p - a);
    case PackOp::kTimes12:
      return times_power_of_2(a, 12);
    case PackOp::kTimes24:
      return times_power_of_2(a, 24);
    case PackOp::kTimes36:
      return times_power_of_2(a, 36);
    case PackOp::kTimes48:
      return times_power_of_2(a, 48);
    case PackOp::kTimes60:
      return times_power_of_2(a, 60);
    case PackOp::kTimes72:
      return times_power_of_2(a, 72);
    case PackOp::kTimes84:
      return times_power_of_2(a, 84);
    case PackOp::kBroadcast:
      break;
  }
  return a;
}

std::vector<u64> edge_values() {
  constexpr u64 p = Fp::kModulus;
  std::vector<u64> v;
  for (const u64 center : {u64{0}, u64{1} << 16, u64{1} << 31, u64{1} << 32, u64{1} << 40,
                           u64{1} << 48, u64{1} << 63, p - (u64{1} << 32), p / 2, p - 1}) {
    for (u64 d = 0; d < 4; ++d) {
      for (const u64 x : {center + d, center - d}) {
        if (x < p) v.push_back(x);
      }
    }
  }
  return v;
}

struct Operands {
  std::vector<Fp> a, b;
};

Operands operands() {
  Operands o;
  for (const u64 x : edge_values()) {
    for (const u64 y : edge_values()) {
      o.a.push_back(Fp::from_canonical(x));
      o.b.push_back(Fp::from_canonical(y));
    }
  }
  std::mt19937_64 rng(7);
  for (int i = 0; i < 100000; ++i) {
    o.a.push_back(Fp::from_u64(rng()));
    // Sparse values, where carries between the 32-bit halves are rare or certain.
    o.b.push_back(Fp::from_u64(rng() & (rng() << (rng() % 64))));
  }
  while (o.a.size() % 8 != 0) {
    o.a.push_back(Fp::one());
    o.b.push_back(Fp::one());
  }
  return o;
}

class Packed : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam());
    if (GetParam() == Isa::kAvx512) {
      pack_ = packed_avx512_ops();
    } else {
      pack_ = GetParam() == Isa::kAvx2 ? packed_avx2_ops() : packed_scalar_ops();
    }
  }
  PackUnderTest pack_{};
};

TEST_P(Packed, OperationsGiveCanonicalResults) {
  const Operands o = operands();
  const size_t n = o.a.size();
  std::vector<Fp> out(n);
  for (int i = 0; i < static_cast<int>(PackOp::kBroadcast); ++i) {
    const PackOp op = static_cast<PackOp>(i);
    pack_.op(op, o.a.data(), o.b.data(), out.data(), n);
    for (size_t k = 0; k < n; ++k) {
      ASSERT_EQ(out[k].value(), expected(op, o.a[k].value(), o.b[k].value()))
          << "op " << i << " of " << o.a[k].value() << " and " << o.b[k].value();
    }
  }
}

TEST_P(Packed, ScalarFieldAgreesWithTheOracle) {
  const Operands o = operands();
  for (size_t k = 0; k < o.a.size(); ++k) {
    const Fp a = o.a[k];
    const Fp b = o.b[k];
    ASSERT_EQ((a + b).value(), expected(PackOp::kAdd, a.value(), b.value()));
    ASSERT_EQ((a - b).value(), expected(PackOp::kSub, a.value(), b.value()));
    ASSERT_EQ((a * b).value(), expected(PackOp::kMul, a.value(), b.value()));
    ASSERT_EQ((-a).value(), expected(PackOp::kNegate, a.value(), b.value()));
  }
}

TEST_P(Packed, BroadcastFillsEveryLane) {
  const std::vector<Fp> a(16, Fp::from_canonical(Fp::kModulus - 3));
  std::vector<Fp> out(16);
  pack_.op(PackOp::kBroadcast, a.data(), a.data(), out.data(), out.size());
  EXPECT_TRUE(out == a);
}

TEST_P(Packed, CubicExtensionWorksOverPacks) {
  const Operands o = operands();
  const size_t n = o.a.size() / 24 * 8;
  std::vector<Fp> out(3 * n);
  pack_.cubic_mul(o.a.data(), o.b.data(), out.data(), n);
  for (size_t i = 0; i < n; ++i) {
    u64 x[3];
    u64 y[3];
    for (size_t c = 0; c < 3; ++c) {
      x[c] = o.a[c * n + i].value();
      y[c] = o.b[c * n + i].value();
    }
    const auto mul = [](u64 s, u64 t) { return static_cast<u128>(mod(static_cast<u128>(s) * t)); };
    const u64 c0 = mod(mul(x[0], y[0]) + 2 * mul(x[1], y[2]) + 2 * mul(x[2], y[1]));
    const u64 c1 = mod(mul(x[0], y[1]) + mul(x[1], y[0]) + 2 * mul(x[2], y[2]));
    const u64 c2 = mod(mul(x[0], y[2]) + mul(x[1], y[1]) + mul(x[2], y[0]));
    ASSERT_EQ(out[i].value(), c0);
    ASSERT_EQ(out[n + i].value(), c1);
    ASSERT_EQ(out[2 * n + i].value(), c2);
  }
}

// All p - 1 with the most terms is the largest sum there is.
TEST_P(Packed, SumsOfProductsAreReducedRight) {
  std::mt19937_64 rng(11);
  for (const bool constants : {false, true}) {
    for (const u32 terms : {0u, 1u, 2u, 3u, 7u, kSumTermsMax - 1, kSumTermsMax}) {
      for (int round = 0; round < 20; ++round) {
        std::vector<Fp> a(8 * terms + 8);
        std::vector<Fp> b(a.size());
        for (size_t i = 0; i < a.size(); ++i) {
          const bool largest = round == 0 || (round < 10 && rng() % 4 != 0);
          a[i] = Fp::from_u64(largest ? Fp::kModulus - 1 : rng());
          b[i] = Fp::from_u64(largest ? Fp::kModulus - 1 - rng() % 2 : rng() >> rng() % 64);
        }
        Fp out[8];
        pack_.sum_of_products(constants, a.data(), b.data(), terms, out);
        for (size_t l = 0; l < 8; ++l) {
          u64 sum = 0;
          for (size_t t = 0; t < terms; ++t) {
            const u64 factor = b[8 * t + (constants ? 0 : l)].value();
            sum = mod(sum + static_cast<u128>(a[8 * t + l].value()) * factor);
          }
          ASSERT_EQ(out[l].value(), sum) << terms << " terms, lane " << l;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Packed, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace epochd::prover
