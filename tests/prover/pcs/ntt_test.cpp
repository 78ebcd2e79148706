// Transforms against definitions: Horner's rule at the points the documentation names. Every
// instruction set and thread count must give the scalar kernels' bytes.
#include "prover/pcs/ntt.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace epochd::prover {
namespace {

constexpr u64 kSeed = 2026;

std::vector<Fp> random_fps(size_t n, u64 seed) {
  std::mt19937_64 rng(seed);
  std::vector<Fp> v(n);
  for (Fp& x : v) x = Fp::from_u64(rng());
  // Edge values, so that corrections at the ends of the range are exercised.
  for (size_t i = 0; i < n; i += 5)
    v[i] = Fp::from_canonical(i % 2 == 0 ? Fp::kModulus - 1 : i % 3);
  return v;
}

u64 bitrev(u64 x, u32 bits) {
  u64 r = 0;
  for (u32 i = 0; i < bits; ++i) {
    r = r << 1 | (x & 1);
    x >>= 1;
  }
  return r;
}

Fp horner(const Fp* coefficients, size_t n, Fp x) {
  Fp y = Fp::zero();
  for (size_t i = n; i-- > 0;) y = y * x + coefficients[i];
  return y;
}

/// The point of entry i of a bit-reversed coset evaluation.
Fp coset_point(u64 i, u32 log_m) {
  return Fp::generator() * Fp::two_adic_root(log_m).pow(bitrev(i, log_m));
}

/// Recursive radix-2 evaluation on <root>, natural order: the textbook, independent of the kernels.
std::vector<Fp> evaluate(const std::vector<Fp>& coefficients, Fp root) {
  const size_t n = coefficients.size();
  if (n == 1) return coefficients;
  std::vector<Fp> even(n / 2);
  std::vector<Fp> odd(n / 2);
  for (size_t i = 0; i < n / 2; ++i) {
    even[i] = coefficients[2 * i];
    odd[i] = coefficients[2 * i + 1];
  }
  even = evaluate(even, root.square());
  odd = evaluate(odd, root.square());
  std::vector<Fp> out(n);
  Fp x = Fp::one();
  for (size_t i = 0; i < n / 2; ++i) {
    out[i] = even[i] + x * odd[i];
    out[i + n / 2] = even[i] - x * odd[i];
    x *= root;
  }
  return out;
}

class Ntt : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam());
  }
  Isa isa() const { return GetParam(); }
  Parallel parallel_{2};
};

struct Shape {
  u32 log_n;
  u32 log_blowup;
  u32 columns;
  size_t pad;  ///< elements between columns

  size_t n() const { return size_t{1} << log_n; }
  size_t m() const { return n() << log_blowup; }
  size_t in_stride() const { return n() + pad; }
  size_t out_stride() const { return m() + pad; }
};

/// Checks entries `step` apart of every column, and that the gaps between columns were left alone.
void expect_lde(const Shape& s, const std::vector<Fp>& coefficients, const std::vector<Fp>& out,
                size_t step) {
  for (u32 col = 0; col < s.columns; ++col) {
    const Fp* column = out.data() + col * s.out_stride();
    for (size_t i = 0; i < s.m(); i += step) {
      ASSERT_EQ(column[i].value(), horner(coefficients.data() + col * s.in_stride(), s.n(),
                                          coset_point(i, s.log_n + s.log_blowup))
                                       .value())
          << "2^" << s.log_n << " rows, blowup 2^" << s.log_blowup << ", column " << col
          << ", entry " << i;
    }
    for (size_t i = s.m(); i < s.out_stride(); ++i) ASSERT_EQ(column[i].value(), 99u);
  }
}

void check_lde(Isa isa, const Parallel& parallel, const Shape& s, size_t step) {
  const std::vector<Fp> coefficients = random_fps(s.columns * s.in_stride(), kSeed + s.log_n);
  std::vector<Fp> in(coefficients.size());
  for (u32 col = 0; col < s.columns; ++col) {
    const Fp* c = coefficients.data() + col * s.in_stride();
    const std::vector<Fp> values =
        evaluate(std::vector<Fp>(c, c + s.n()), Fp::two_adic_root(s.log_n));
    std::copy(values.begin(), values.end(), in.begin() + static_cast<long>(col * s.in_stride()));
  }
  const std::vector<Fp> blank(s.columns * s.out_stride(), Fp::from_canonical(99));
  std::vector<Fp> out = blank;
  coset_lde(isa, in.data(), s.in_stride(), out.data(), s.out_stride(), s.columns, s.log_n,
            s.log_blowup, parallel);
  expect_lde(s, coefficients, out, step);

  std::vector<Fp> again = blank;
  coset_lde_from_coefficients(isa, coefficients.data(), s.in_stride(), again.data(), s.out_stride(),
                              s.columns, s.log_n, s.log_blowup, parallel);
  ASSERT_TRUE(again == out);
}

TEST_P(Ntt, LdeOfEverySmallSizeMatchesHorner) {
  for (u32 log_n = 0; log_n <= 7; ++log_n) {
    for (u32 log_blowup = 0; log_blowup <= 3; ++log_blowup) {
      for (const u32 columns : {1u, 2u, 7u, 8u, 9u, 17u}) {
        check_lde(isa(), parallel_, {log_n, log_blowup, columns, columns % 3}, 1);
      }
    }
  }
}

TEST_P(Ntt, LdeOfMiddleSizesMatchesHorner) {
  for (u32 log_n = 8; log_n <= 12; ++log_n) {
    for (const u32 columns : {1u, 11u}) {
      check_lde(isa(), parallel_, {log_n, 1 + log_n % 2, columns, 3}, 53);
    }
  }
}

TEST_P(Ntt, LdeOfLargeSizesMatchesHornerAtSamples) {
  check_lde(isa(), parallel_, {16, 1, 5, 8}, 8191);
  check_lde(isa(), parallel_, {18, 1, 1, 0}, 65521);
  check_lde(isa(), parallel_, {19, 2, 1, 0}, 1048573);
}

TEST_P(Ntt, InterpolationInvertsHorner) {
  for (u32 log_m = 0; log_m <= 12; ++log_m) {
    const size_t m = size_t{1} << log_m;
    const size_t stride = m + log_m % 4;
    for (const u32 columns : {1u, 3u, 9u}) {
      const std::vector<Fp> coefficients = random_fps(columns * stride, kSeed + log_m);
      std::vector<Fp> data(columns * stride, Fp::from_canonical(99));
      for (u32 col = 0; col < columns; ++col) {
        std::vector<Fp> scaled(m);
        for (size_t i = 0; i < m; ++i) {
          scaled[i] = coefficients[col * stride + i] * Fp::generator().pow(i);
        }
        const std::vector<Fp> values = evaluate(scaled, Fp::two_adic_root(log_m));
        for (size_t i = 0; i < m; ++i) data[col * stride + i] = values[bitrev(i, log_m)];
      }
      coset_interpolate_bitrev(isa(), data.data(), stride, columns, log_m, parallel_);
      for (size_t i = 0; i < data.size(); ++i) {
        const bool gap = i % stride >= m;
        ASSERT_EQ(data[i].value(), gap ? 99u : coefficients[i].value())
            << "2^" << log_m << ", " << columns << " columns, element " << i;
      }
    }
  }
}

TEST_P(Ntt, InterpolationInvertsTheExtensionOfLargeSizes) {
  for (const u32 log_n : {15u, 18u}) {
    const size_t n = size_t{1} << log_n;
    const std::vector<Fp> coefficients = random_fps(n, kSeed);
    std::vector<Fp> data(2 * n);
    coset_lde_from_coefficients(isa(), coefficients.data(), n, data.data(), 2 * n, 1, log_n, 1,
                                parallel_);
    for (const size_t i : {size_t{0}, n - 1, n, 2 * n - 1}) {
      ASSERT_EQ(data[i].value(), horner(coefficients.data(), n, coset_point(i, log_n + 1)).value());
    }
    coset_interpolate_bitrev(isa(), data.data(), 2 * n, 1, log_n + 1, parallel_);
    for (size_t i = 0; i < 2 * n; ++i) {
      ASSERT_EQ(data[i].value(), i < n ? coefficients[i].value() : 0u);
    }
  }
}

TEST_P(Ntt, BytesDoNotDependOnInstructionSetOrThreads) {
  for (const Shape s : {Shape{5, 1, 10, 0}, Shape{9, 1, 13, 1}, Shape{13, 1, 70, 0},
                        Shape{14, 3, 3, 2}, Shape{17, 0, 2, 0}}) {
    const std::vector<Fp> in = random_fps(s.columns * s.in_stride(), kSeed);
    std::vector<Fp> expected(s.columns * s.out_stride());
    coset_lde(Isa::kScalar, in.data(), s.in_stride(), expected.data(), s.out_stride(), s.columns,
              s.log_n, s.log_blowup, Parallel(1));
    for (const u32 threads : {1u, 3u, 8u}) {
      std::vector<Fp> out(expected.size());
      coset_lde(isa(), in.data(), s.in_stride(), out.data(), s.out_stride(), s.columns, s.log_n,
                s.log_blowup, Parallel(threads));
      ASSERT_TRUE(out == expected) << "2^" << s.log_n << " rows, " << threads << " threads";
    }
  }
}

TEST(InterpolateBitrev, MatchesHornerOnThePlainSubgroup) {
  for (u32 log_m = 0; log_m <= 10; ++log_m) {
    const size_t m = size_t{1} << log_m;
    const std::vector<Fp> coefficients = random_fps(m, kSeed);
    std::vector<Fp> values(m);
    for (size_t i = 0; i < m; ++i) {
      values[i] = horner(coefficients.data(), m, Fp::two_adic_root(log_m).pow(bitrev(i, log_m)));
    }
    interpolate_bitrev(values.data(), log_m);
    EXPECT_TRUE(values == coefficients) << "2^" << log_m;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Ntt, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace epochd::prover
