// Device row hashing, trees, grinding and gathers against the CPU's.
#include "cuda/merkle/merkle.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "cuda/gather/gather.hpp"
#include "prover/hash/domains.hpp"
#include "prover/hash/rows.hpp"
#include "prover/pcs/merkle.hpp"
#include "prover/transcript/transcript.hpp"
#include "tests/cuda/device_fixture.hpp"

namespace epochd::cuda {
namespace {

using prover::Digest;

constexpr u64 kSeed = 41;

size_t differences(const std::vector<Digest>& got, const Digest* want) {
  size_t count = 0;
  for (size_t i = 0; i < got.size(); ++i) count += got[i] != want[i] ? 1 : 0;
  return count;
}

/// Matrices of one height on both sides.
struct Height {
  std::deque<std::vector<u64>> host;
  std::deque<DeviceArray<u64>> device;
  prover::HeightColumns columns;
  TreeHeight tree_height;

  Height(u32 log_rows, const std::vector<u32>& widths) {
    columns.log_rows = log_rows;
    tree_height.log_rows = log_rows;
    const u32 rows = 1u << log_rows;
    for (const u32 width : widths) {
      host.push_back(random_words(size_t{width} * rows, kSeed + log_rows * 1000 + width));
      device.emplace_back(host.back());
      for (u32 c = 0; c < width; ++c) {
        columns.columns.push_back(as_fp(host.back()) + size_t{c} * rows);
      }
      tree_height.rows.add(device.back().data(), rows, width);
    }
  }
  size_t rows() const { return size_t{1} << columns.log_rows; }
  u32 width() const { return static_cast<u32>(columns.columns.size()); }
};

class CudaMerkle : public DeviceTest {
 protected:
  void check_rows(u32 log_rows, const std::vector<u32>& widths) {
    const Height height(log_rows, widths);
    SCOPED_TRACE("2^" + std::to_string(log_rows) + " rows of " + std::to_string(height.width()));
    const DeviceArray<Digest> out(height.rows());
    hash_rows(height.tree_height.rows, height.rows(), out.data(), stream());
    synchronize();
    std::vector<Digest> want(height.rows());
    prover::hash_rows(isa_, prover::domains::kLeaf, height.columns.columns.data(), height.width(),
                      0, height.rows(), want.data());
    EXPECT_EQ(differences(out.get(), want.data()), 0u);
  }

  std::vector<u64> gather(const GatherPlan& plan) {
    const DeviceArray<u64> packed(plan.packed());
    const DeviceArray<u64> out(plan.words());
    launch_gather(plan, packed.data(), out.data(), stream());
    synchronize();
    return out.get();
  }

  void check_level_arrays(const std::vector<Digest>& got, const prover::MerkleTree& want) {
    const u32 log_leaves = want.log_leaves();
    ASSERT_EQ(got.size(), tree_digests(log_leaves));
    for (u32 l = 0; l <= log_leaves; ++l) {
      const auto at = got.begin() + static_cast<std::ptrdiff_t>(tree_level_offset(log_leaves, l));
      const std::vector<Digest> level(at, at + (std::ptrdiff_t{1} << (log_leaves - l)));
      EXPECT_EQ(differences(level, want.level(l).data()), 0u) << "level " << l;
    }
    EXPECT_EQ(got[tree_root_offset(log_leaves)], want.root());
  }

  void check_tree(const std::deque<Height>& heights) {
    std::vector<prover::HeightColumns> host;
    std::vector<TreeHeight> device;
    for (const Height& h : heights) {
      host.push_back(h.columns);
      device.push_back(h.tree_height);
    }
    const DeviceArray<Digest> levels(tree_digests(host[0].log_rows));
    build_tree(device, levels.data(), stream());
    synchronize();
    check_level_arrays(levels.get(), prover::MerkleTree::build(isa_, host, pool_));
  }
};

TEST_F(CudaMerkle, HashesRowsOfEveryWidth) {
  for (u32 width = 1; width <= 130; ++width) check_rows(6, {width});
  for (const u32 width : {255u, 256u, 257u, 384u, 385u, 512u, 640u, 1500u, 4096u, 6144u}) {
    check_rows(7, {width});
  }
}

TEST_F(CudaMerkle, HashesRowsOfSeveralMatrices) {
  check_rows(9, {1, 1, 1, 5, 64, 57});         // one chunk exactly, segments inside blocks
  check_rows(9, {3, 9, 120, 250, 1, 1, 300});  // chunks that end inside segments
  check_rows(10, std::vector<u32>(64, 11));    // the most segments
}

TEST_F(CudaMerkle, HashesFewAndManyRows) {
  for (const u32 log_rows : {0u, 1u, 4u, 5u, 8u, 11u, 15u}) {
    check_rows(log_rows, {17});
    check_rows(log_rows, {150});
    check_rows(log_rows, {300});
  }
  check_rows(18, {200});
}

TEST_F(CudaMerkle, BuildsTreesOfOneHeight) {
  for (u32 log_rows = 0; log_rows <= 14; ++log_rows) {
    SCOPED_TRACE(log_rows);
    std::deque<Height> heights;
    heights.emplace_back(log_rows, std::vector<u32>{5});
    check_tree(heights);
  }
  std::deque<Height> tall;
  tall.emplace_back(20, std::vector<u32>{9});
  check_tree(tall);
}

TEST_F(CudaMerkle, BuildsTreesOfMixedHeights) {
  std::deque<Height> every;
  for (u32 log_rows = 15; log_rows >= 1; --log_rows) {
    every.emplace_back(log_rows, std::vector<u32>{log_rows % 3 + 1, 40, log_rows * 20});
  }
  every.emplace_back(0, std::vector<u32>{2});
  check_tree(every);
  std::deque<Height> sparse;
  sparse.emplace_back(19, std::vector<u32>{30, 17});
  sparse.emplace_back(12, std::vector<u32>{60, 100});
  sparse.emplace_back(10, std::vector<u32>{3});
  sparse.emplace_back(5, std::vector<u32>{7});
  check_tree(sparse);
}

TEST_F(CudaMerkle, BuildsFriTrees) {
  for (const u32 log_fold : {0u, 1u, 2u, 3u, 4u}) {
    SCOPED_TRACE(log_fold);
    constexpr u32 kLogWord = 13;
    constexpr size_t kWord = size_t{1} << kLogWord;
    const std::vector<u64> planes = random_words(3 * kWord, kSeed + log_fold);
    const DeviceArray<u64> device(planes);
    const u32 log_leaves = kLogWord - log_fold;
    const DeviceArray<Digest> levels(tree_digests(log_leaves));
    build_fri_tree(device.data(), kWord, kLogWord, log_fold, levels.data(), stream());
    synchronize();
    // The same leaves as a matrix of 3 * 2^log_fold columns.
    const size_t leaves = size_t{1} << log_leaves;
    const u32 width = 3u << log_fold;
    std::vector<u64> matrix(width * leaves);
    prover::HeightColumns columns{log_leaves, {}};
    for (u32 w = 0; w < width; ++w) {
      columns.columns.push_back(as_fp(matrix) + w * leaves);
      for (size_t j = 0; j < leaves; ++j) {
        matrix[w * leaves + j] = planes[w % 3 * kWord + (j << log_fold) + w / 3];
      }
    }
    check_level_arrays(levels.get(), prover::MerkleTree::build(isa_, {&columns, 1}, pool_));
    // Opened leaves come in the order they are hashed.
    const std::vector<u32> indices = {0, 5, 6, static_cast<u32>(leaves - 1)};
    GatherPlan plan;
    plan.add_fri_leaves(device.data(), kWord, log_fold, indices);
    std::vector<u64> want;
    for (const u32 j : indices) {
      for (u32 w = 0; w < width; ++w) want.push_back(matrix[w * leaves + j]);
    }
    EXPECT_EQ(gather(plan), want);
  }
}

TEST_F(CudaMerkle, GrindsToTheSmallestNonce) {
  const DeviceArray<u64> nonce(1);
  for (const u32 bits : {0u, 1u, 4u, 9u, 14u}) {
    for (u64 seed = 1; seed <= 8; ++seed) {
      const std::vector<u64> words = random_words(4, kSeed + seed);
      const Digest state{{words[0], words[1], words[2], words[3]}};
      nonce.poison();
      grind(state, bits, nonce.data(), stream());
      synchronize();
      u64 want = 0;
      while (!prover::Transcript::grind_ok(state, want, bits)) ++want;
      EXPECT_EQ(nonce.get()[0], want) << bits << " bits, seed " << seed;
    }
  }
  // Enough bits that several blocks find one; only the smallest below it may not exist.
  const Digest state{{1, 2, 3, 4}};
  grind(state, 22, nonce.data(), stream());
  synchronize();
  const u64 found = nonce.get()[0];
  EXPECT_TRUE(prover::Transcript::grind_ok(state, found, 22));
  u64 smaller = 0;
  for (u64 n = 0; n < found; ++n) smaller += prover::Transcript::grind_ok(state, n, 22) ? 1 : 0;
  EXPECT_EQ(smaller, 0u);
}

TEST_F(CudaMerkle, GathersRowsAndSiblings) {
  // Two trees and nothing between them, so that jobs have to be told apart.
  const Height heights[] = {Height(12, {3, 129, 40}), Height(9, {1})};
  const std::vector<u32> indices[] = {{0, 1, 17, 18, 2048, 4095}, {7, 511}};
  std::vector<DeviceArray<Digest>> levels;
  GatherPlan plan;
  std::vector<u64> want;
  for (u32 t = 0; t < 2; ++t) {
    const u32 log_rows = heights[t].tree_height.log_rows;
    levels.emplace_back(tree_digests(log_rows));
    build_tree({&heights[t].tree_height, 1}, levels[t].data(), stream());
    std::vector<u64> positions;
    append_sibling_positions(log_rows, indices[t], positions);
    plan.add_rows(heights[t].tree_height.rows, indices[t]);
    plan.add_rows(heights[t].tree_height.rows, {});
    plan.add_digests(levels[t].data(), positions);
    for (const u32 i : indices[t]) {
      for (const prover::Fp* column : heights[t].columns.columns) {
        want.push_back(column[i].value());
      }
    }
    prover::MerkleTree::build(isa_, {&heights[t].columns, 1}, pool_)
        .append_siblings(indices[t], want);
  }
  EXPECT_EQ(plan.words(), want.size());
  EXPECT_EQ(gather(plan), want);
}

}  // namespace
}  // namespace epochd::cuda
