// Row and pair hashing against the scalar hasher, for widths around block and chunk boundaries.
#include "prover/hash/rows.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "prover/hash/blake3.hpp"
#include "prover/hash/domains.hpp"

namespace epochd::prover {
namespace {

constexpr size_t kRows = 64;

/// Each column in its own allocation, so that nothing relies on a stride.
std::vector<std::vector<Fp>> random_columns(u32 width, size_t rows) {
  std::mt19937_64 rng(width);
  std::vector<std::vector<Fp>> columns(width, std::vector<Fp>(rows));
  for (auto& column : columns) {
    for (Fp& x : column) x = Fp::from_u64(rng());
  }
  return columns;
}

Digest row_digest(const std::vector<std::vector<Fp>>& columns, size_t row, const Blake3Key& key) {
  std::vector<u64> words;
  for (const auto& column : columns) words.push_back(column[row].value());
  return blake3_keyed(key, words.data(), words.size() * sizeof(u64));
}

class Rows : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam());
  }
};

TEST_P(Rows, EqualTheScalarHasher) {
  for (const u32 width :
       {1u,   2u,   7u,   8u,   9u,   16u,  17u,  63u,  64u,   65u,   127u,        128u,
        129u, 255u, 256u, 257u, 384u, 385u, 511u, 640u, 1025u, 1500u, kRowWidthMax}) {
    const auto columns = random_columns(width, kRows);
    std::vector<const Fp*> pointers;
    for (const auto& column : columns) pointers.push_back(column.data());
    std::vector<Digest> out(kRows);
    hash_rows(GetParam(), domains::kLeaf, pointers.data(), width, 0, kRows, out.data());
    for (size_t i = 0; i < kRows; ++i) {
      ASSERT_TRUE(out[i] == row_digest(columns, i, domains::kLeaf))
          << width << " columns, row " << i;
    }
  }
}

TEST_P(Rows, AnyRangeOfRowsMayBeAskedFor) {
  const u32 width = 11;
  const auto columns = random_columns(width, kRows);
  std::vector<const Fp*> pointers;
  for (const auto& column : columns) pointers.push_back(column.data());
  const Digest untouched = {{1, 2, 3, 4}};
  for (const size_t first : {0, 1, 5, 16}) {
    for (const size_t count : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 48}) {
      std::vector<Digest> out(count + 1, untouched);
      hash_rows(GetParam(), domains::kNode, pointers.data(), width, first, count, out.data());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(out[i] == row_digest(columns, first + i, domains::kNode));
      }
      ASSERT_TRUE(out[count] == untouched);
    }
  }
}

TEST_P(Rows, PairsEqualTheScalarHasher) {
  std::mt19937_64 rng(3);
  std::vector<Digest> in(2 * 67);
  for (Digest& d : in) {
    for (u64& w : d.words) w = rng();
  }
  for (const size_t count : {1, 2, 8, 15, 16, 17, 67}) {
    std::vector<Digest> out(count);
    hash_pairs(GetParam(), domains::kNode, in.data(), in.data() + 1, 2, count, out.data());
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(out[i] == blake3_pair(domains::kNode, in[2 * i], in[2 * i + 1]));
    }
    // In place over the left operand, as injection does it.
    std::vector<Digest> joined(in.begin(), in.begin() + static_cast<long>(count));
    hash_pairs(GetParam(), domains::kInject, joined.data(), in.data() + 67, 1, count,
               joined.data());
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(joined[i] == blake3_pair(domains::kInject, in[i], in[67 + i]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Rows, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace epochd::prover
