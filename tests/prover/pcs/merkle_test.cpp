// The tree against a recursive definition, and openings: what append_siblings gives, merkle_root
// accepts, and nothing else.
#include "prover/pcs/merkle.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "prover/hash/blake3.hpp"
#include "prover/hash/domains.hpp"
#include "prover/pcs/merkle_verify.hpp"

namespace epochd::prover {
namespace {

struct HeightSpec {
  u32 log_rows;
  u32 width;
};

/// Random matrices of the given heights and the trees over them.
struct Forest {
  explicit Forest(const std::vector<HeightSpec>& specs) {
    std::mt19937_64 rng(specs.size() * 31 + specs[0].log_rows);
    for (const HeightSpec& spec : specs) {
      HeightColumns height{spec.log_rows, {}};
      for (u32 c = 0; c < spec.width; ++c) {
        std::vector<Fp> column(size_t{1} << spec.log_rows);
        for (Fp& x : column) x = Fp::from_u64(rng());
        columns.push_back(std::move(column));
        height.columns.push_back(columns.back().data());
      }
      heights.push_back(std::move(height));
    }
  }
  u32 log_leaves() const { return heights[0].log_rows; }

  Digest row(const HeightColumns& height, size_t i) const {
    std::vector<u64> words;
    for (const Fp* column : height.columns) words.push_back(column[i].value());
    return blake3_keyed(domains::kLeaf, words.data(), words.size() * sizeof(u64));
  }

  /// Node i of the level with 2^log_nodes nodes, straight from the definition.
  Digest node(u32 log_nodes, size_t i) const {
    if (log_nodes == log_leaves()) return row(heights[0], i);
    Digest d =
        blake3_pair(domains::kNode, node(log_nodes + 1, 2 * i), node(log_nodes + 1, 2 * i + 1));
    for (const HeightColumns& height : heights) {
      if (height.log_rows == log_nodes) d = blake3_pair(domains::kInject, d, row(height, i));
    }
    return d;
  }

  /// What a verifier does: hashes the opened rows, then asks for the root.
  bool recompute(const std::vector<u32>& opened, const std::vector<u64>& words, Digest& root,
                 size_t* left_over = nullptr) const {
    std::vector<u32> indices = opened;
    std::vector<Digest> nodes;
    for (const u32 i : opened) nodes.push_back(row(heights[0], i));
    std::vector<std::vector<Digest>> digests;
    std::vector<MerkleJoin> joins;
    for (size_t h = 1; h < heights.size(); ++h) {
      std::set<u32> rows;
      for (const u32 i : opened) rows.insert(i >> (log_leaves() - heights[h].log_rows));
      digests.emplace_back();
      for (const u32 i : rows) digests.back().push_back(row(heights[h], i));
    }
    for (size_t h = 1; h < heights.size(); ++h) {
      joins.push_back({heights[h].log_rows, digests[h - 1].data()});
    }
    WordCursor cursor{words.data(), words.data() + words.size()};
    const bool ok = merkle_root(log_leaves(), indices.data(), nodes.data(), nodes.size(),
                                joins.data(), joins.size(), cursor, root);
    if (left_over != nullptr) *left_over = static_cast<size_t>(cursor.end - cursor.next);
    return ok;
  }

  std::vector<std::vector<Fp>> columns;
  std::vector<HeightColumns> heights;
};

const std::vector<std::vector<HeightSpec>> kMixes = {
    {{0, 1}},
    {{1, 3}},
    {{1, 3}, {0, 2}},
    {{5, 1}},
    {{6, 4}, {5, 130}, {4, 2}, {3, 1}, {2, 8}, {1, 9}, {0, 1}},
    {{7, 20}, {4, 3}},
    {{9, 129}, {8, 1}, {5, 40}, {0, 7}},
    {{10, 2}, {9, 3}},
};

class Merkle : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam());
  }
  MerkleTree build(const Forest& f) const {
    return MerkleTree::build(GetParam(), f.heights, parallel_);
  }
  Parallel parallel_{2};
};

TEST_P(Merkle, EveryNodeFollowsTheDefinition) {
  for (const auto& mix : kMixes) {
    const Forest f(mix);
    const MerkleTree tree = build(f);
    ASSERT_EQ(tree.log_leaves(), f.log_leaves());
    ASSERT_TRUE(tree.root() == f.node(0, 0)) << "tallest 2^" << f.log_leaves();
    for (u32 l = 0; l <= f.log_leaves(); ++l) {
      const u32 log_nodes = f.log_leaves() - l;
      ASSERT_EQ(tree.level(l).size(), size_t{1} << log_nodes);
      const size_t last = tree.level(l).size() - 1;
      ASSERT_TRUE(tree.level(l)[last] == f.node(log_nodes, last));
    }
  }
}

TEST_P(Merkle, OpeningsGiveTheRootAndUseEveryWord) {
  std::mt19937_64 rng(11);
  for (const auto& mix : kMixes) {
    const Forest f(mix);
    const MerkleTree tree = build(f);
    const u32 leaves = 1u << f.log_leaves();
    for (int trial = 0; trial < 12; ++trial) {
      std::set<u32> chosen;
      const size_t draws = trial == 0 ? 0 : 1 + rng() % (2 * leaves);
      for (size_t i = 0; i < draws; ++i) chosen.insert(static_cast<u32>(rng() % leaves));
      if (trial == 0) {
        for (u32 i = 0; i < leaves; ++i) chosen.insert(i);
      }
      const std::vector<u32> indices(chosen.begin(), chosen.end());
      std::vector<u64> words = {5, 6, 7};  // append must keep what is there
      tree.append_siblings(indices, words);
      ASSERT_EQ(words[2], 7u);
      words.erase(words.begin(), words.begin() + 3);
      if (chosen.size() == leaves) {
        ASSERT_TRUE(words.empty());
      }
      Digest root{};
      size_t left_over = 1;
      ASSERT_TRUE(f.recompute(indices, words, root, &left_over));
      ASSERT_TRUE(root == tree.root());
      ASSERT_EQ(left_over, 0u);
    }
  }
}

TEST_P(Merkle, SiblingsAreNeitherRepeatedNorDerivable) {
  const Forest f({{3, 1}});
  const MerkleTree tree = build(f);
  std::vector<u64> words;
  tree.append_siblings(std::vector<u32>{0, 1, 6}, words);
  // Leaves: the sibling of 6. Above: that of {0,1}, that of {6,7}. Then both halves are known.
  ASSERT_EQ(words.size(), 3u * 4);
  const Digest expected[] = {tree.level(0)[7], tree.level(1)[1], tree.level(1)[2]};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t w = 0; w < 4; ++w) EXPECT_EQ(words[4 * i + w], expected[i].words[w]);
  }
}

TEST_P(Merkle, AnyChangedOrMissingWordIsNoticed) {
  const Forest f({{7, 5}, {6, 2}, {3, 9}, {0, 1}});
  const MerkleTree tree = build(f);
  const std::vector<u32> indices = {0, 3, 17, 18, 64, 65, 127};
  std::vector<u64> words;
  tree.append_siblings(indices, words);
  Digest root{};
  ASSERT_TRUE(f.recompute(indices, words, root));
  for (size_t i = 0; i < words.size(); ++i) {
    std::vector<u64> changed = words;
    changed[i] ^= u64{1} << (i % 64);
    ASSERT_TRUE(f.recompute(indices, changed, root));
    ASSERT_FALSE(root == tree.root()) << "word " << i;
  }
  for (size_t n = 0; n < words.size(); ++n) {
    const std::vector<u64> cut(words.begin(), words.begin() + static_cast<long>(n));
    ASSERT_FALSE(f.recompute(indices, cut, root)) << n << " words";
  }
}

TEST_P(Merkle, AnyChangedOpenedRowIsNoticed) {
  Forest f({{6, 2}, {5, 3}, {2, 1}});
  const MerkleTree tree = build(f);
  const std::vector<u32> indices = {2, 40, 41};
  std::vector<u64> words;
  tree.append_siblings(indices, words);
  Digest root{};
  const u32 shifts[] = {0, 0, 1, 1, 1, 4};
  for (size_t c = 0; c < f.columns.size(); ++c) {
    Fp& cell = f.columns[c][40u >> shifts[c]];
    cell += Fp::one();
    ASSERT_TRUE(f.recompute(indices, words, root));
    EXPECT_FALSE(root == tree.root()) << "column " << c;
    cell -= Fp::one();
  }
  ASSERT_TRUE(f.recompute(indices, words, root));
  EXPECT_TRUE(root == tree.root());
}

TEST_P(Merkle, AnotherIndexSetDoesNotGiveTheRoot) {
  const Forest f({{5, 2}});
  const MerkleTree tree = build(f);
  std::vector<u64> words;
  tree.append_siblings(std::vector<u32>{4}, words);
  Digest root{};
  for (u32 i = 0; i < 32; ++i) {
    const bool ok = f.recompute({i}, words, root);
    EXPECT_TRUE(ok);
    EXPECT_EQ(root == tree.root(), i == 4);
  }
}

TEST(MerkleThreads, RootDoesNotDependOnThreads) {
  const Forest f({{13, 3}, {12, 1}, {6, 2}});
  const Digest expected = MerkleTree::build(Isa::kScalar, f.heights, Parallel(1)).root();
  for (const u32 threads : {1u, 2u, 5u}) {
    EXPECT_TRUE(MerkleTree::build(best_isa(), f.heights, Parallel(threads)).root() == expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Merkle, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace epochd::prover
