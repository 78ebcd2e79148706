// Residency without a device: the gate against every check that follows it, the host's copy against
// plain indexing, and the errors of what is not there.
#include "cuda/session/residency.hpp"

#include <gtest/gtest.h>

#include <random>

#include "cuda/rt/slab_resource.hpp"
#include "cuda/session/fault_plan.hpp"
#include "cuda/session/mirror.hpp"
#include "epoch/continuation/proof_format.hpp"
#include "prover/pcs/merkle.hpp"
#include "prover/prove/cpu/session_detail.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kFactCount = 8;
constexpr DeviceStage kStages[] = {
    DeviceStage::kFill, DeviceStage::kExtend, DeviceStage::kLogup, DeviceStage::kQuotient,
    DeviceStage::kOpen, DeviceStage::kDeep,   DeviceStage::kGather};

TableFacts facts_of(u32 bits) {
  const auto bit = [&](u32 i) { return (bits >> i & 1) != 0; };
  return {bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6), bit(7)};
}

TEST(Residency, GateImpliesEveryLaterCheck) {
  u32 held = 0;
  for (u32 bits = 0; bits < 1u << kFactCount; ++bits) {
    const TableFacts facts = facts_of(bits);
    if (!device_only_gate(facts)) continue;
    ++held;
    for (const DeviceStage stage : kStages) {
      EXPECT_TRUE(reads_device(stage, facts)) << name_of(stage) << " of facts " << bits;
    }
  }
  EXPECT_EQ(held, 1u) << "the gate is a conjunction of all facts";
}

TEST(Residency, EveryFactClosesTheGateOrAStage) {
  const u32 all = (1u << kFactCount) - 1 - (1u << 2);  // but debug checks
  ASSERT_TRUE(device_only_gate(facts_of(all)));
  for (u32 i = 0; i < kFactCount; ++i) {
    const TableFacts facts = facts_of(all ^ 1u << i);
    EXPECT_FALSE(device_only_gate(facts)) << "fact " << i;
    u32 closed = 0;
    for (const DeviceStage stage : kStages) closed += !reads_device(stage, facts);
    // What is asked for and debug checks choose a mode; all others are abilities of the device.
    EXPECT_EQ(closed == 0, i == 1 || i == 2) << "fact " << i;
  }
}

TEST(Residency, ErrorsNameTableAndStage) {
  const ResidencyError error(ResidencyErrorKind::kHostTraceEmpty, "mul", DeviceStage::kQuotient,
                             "no kernel");
  EXPECT_EQ(error.kind(), ResidencyErrorKind::kHostTraceEmpty);
  EXPECT_EQ(error.table(), "mul");
  EXPECT_EQ(error.stage(), DeviceStage::kQuotient);
  EXPECT_STREQ(error.what(),
               "table mul, stage quotient: it would read the host's copy of the trace, which is "
               "empty (no kernel)");
}

TEST(FaultPlan, StrikesWhenOrderedAndNotOtherwise) {
  FaultPlan plan;
  EXPECT_FALSE(plan.strikes(Fault::kGatherError));
  plan.order(Fault::kGatherError, 2, 1);
  EXPECT_FALSE(plan.strikes(Fault::kCommittedWord));
  const bool expected[] = {false, true, true, false};
  for (const bool strikes : expected) EXPECT_EQ(plan.strikes(Fault::kGatherError), strikes);
  EXPECT_EQ(plan.struck(Fault::kGatherError), 2u);
}

/// Two boundaries in a mirror, with random extensions and their trees.
class MirrorTest : public testing::Test {
 protected:
  void SetUp() override {
    const u32 heights[] = {7, 5};
    const prover::Preset& preset = *prover::find_preset(100);
    ASSERT_TRUE(group_layout(1, heights, 2, preset, *layout_));
    memory_.resize(mirror_bytes(*layout_) / sizeof(u64));
    mirror_ = HostMirror(*layout_, reinterpret_cast<u8*>(memory_.data()));
    for (u32 t = 0; t < layout_->tree_count; ++t) copy_tree(t);
    u32 log_word = layout_->log_domain();
    for (u32 i = 0; i < layout_->fri_step_count; ++i) {
      copy_layer(i, log_word);
      log_word -= layout_->fri_steps[i];
    }
  }

  void randomise(std::span<u64> words) {
    for (u64& w : words) w = random_() >> 1;  // canonical
  }
  static const prover::Fp* as_fp(std::span<const u64> words) {
    return reinterpret_cast<const prover::Fp*>(words.data());
  }

  void copy_tree(u32 t) {
    const prover::TreeLayout& tree = layout_->trees[t];
    std::vector<prover::HeightColumns> heights;
    for (u32 g = tree.first_group; g < tree.first_group + tree.group_count; ++g) {
      const prover::HeightGroup& group = layout_->groups[g];
      const u32 log_rows = group.log_height + layout_->shape.preset->log_blowup;
      heights.push_back({log_rows, {}});
      for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
        randomise(mirror_.place_of_lde(s));
        for (u32 c = 0; c < layout_->segments[s].width; ++c) {
          heights.back().columns.push_back(as_fp(mirror_.place_of_lde(s)) +
                                           (size_t{c} << log_rows));
        }
      }
    }
    trees_.push_back(prover::MerkleTree::build(best_isa(), heights, pool_));
    put_levels(trees_.back(), mirror_.place_of_tree(t));
    mirror_.arrived_tree(t);
  }

  void copy_layer(u32 step, u32 log_word) {
    const std::span<u64> word = mirror_.place_of_fri_word(step);
    randomise(word);
    const u32 log_fold = layout_->fri_steps[step];
    const size_t leaves = size_t{1} << (log_word - log_fold);
    leaves_.emplace_back((size_t{3} << log_fold) * leaves);
    prover::HeightColumns columns{log_word - log_fold, {}};
    for (u32 i = 0; i < 3u << log_fold; ++i) {
      u64* column = leaves_.back().data() + i * leaves;
      for (size_t leaf = 0; leaf < leaves; ++leaf) {
        column[leaf] = word[(size_t{i % 3} << log_word) + (leaf << log_fold) + i / 3];
      }
      columns.columns.push_back(reinterpret_cast<const prover::Fp*>(column));
    }
    layers_.push_back(prover::MerkleTree::build(best_isa(), {&columns, 1}, pool_));
    put_levels(layers_.back(), mirror_.place_of_fri_tree(step));
    mirror_.arrived_fri_layer(step);
  }

  static void put_levels(const prover::MerkleTree& tree, std::span<u64> to) {
    size_t at = 0;
    for (u32 l = 0; l <= tree.log_leaves(); ++l) {
      for (const prover::Digest& d : tree.level(l)) {
        for (const u64 w : d.words) to[at++] = w;
      }
    }
    EXPECT_EQ(at, to.size());
  }

  /// As CpuSession::gather reads its own trees.
  std::vector<u64> expected(std::span<const u32> queries) const {
    std::vector<u64> words;
    const u32 b = layout_->shape.preset->log_blowup;
    for (u32 t = 0; t < layout_->tree_count; ++t) {
      const prover::TreeLayout& tree = layout_->trees[t];
      for (u32 g = tree.first_group; g < tree.first_group + tree.group_count; ++g) {
        const prover::HeightGroup& group = layout_->groups[g];
        const u32 shift = layout_->heights[0] - group.log_height;
        for (const u32 row : prover::shifted_unique(queries, shift)) {
          for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
            for (u32 c = 0; c < layout_->segments[s].width; ++c) {
              words.push_back(mirror_.place_of_lde(s)[(size_t{c} << (group.log_height + b)) + row]);
            }
          }
        }
      }
      trees_[t].append_siblings(
          prover::shifted_unique(queries, layout_->heights[0] - tree.log_height), words);
    }
    u32 shift = 0;
    for (u32 i = 0; i < layout_->fri_step_count; ++i) {
      shift += layout_->fri_steps[i];
      const auto leaves = prover::shifted_unique(queries, shift);
      const size_t leaf_count = leaves_[i].size() / (size_t{3} << layout_->fri_steps[i]);
      for (const u32 leaf : leaves) {
        for (u32 c = 0; c < 3u << layout_->fri_steps[i]; ++c) {
          words.push_back(leaves_[i][c * leaf_count + leaf]);
        }
      }
      layers_[i].append_siblings(leaves, words);
    }
    return words;
  }

  const Parallel pool_;
  std::mt19937_64 random_{7};
  const std::unique_ptr<prover::Layout> layout_ = std::make_unique<prover::Layout>();
  std::vector<u64> memory_;
  HostMirror mirror_;
  std::vector<prover::MerkleTree> trees_;
  std::vector<prover::MerkleTree> layers_;
  std::vector<std::vector<u64>> leaves_;
};

TEST_F(MirrorTest, GathersWhatTheTreesOpen) {
  const std::vector<std::vector<u32>> cases = {{0}, {255}, {0, 1}, {3, 64, 65, 130, 200, 255}};
  for (const std::vector<u32>& queries : cases) {
    std::vector<u64> words{42};
    mirror_.gather(*layout_, queries, words);
    std::vector<u64> wanted = expected(queries);
    wanted.insert(wanted.begin(), 42);
    EXPECT_EQ(words, wanted);
  }
}

TEST_F(MirrorTest, TraceIsEmptyUntilItsCopiesArrived) {
  HostMirror fresh(*layout_, reinterpret_cast<u8*>(memory_.data()));
  EXPECT_TRUE(fresh.is_trace_empty(*layout_, 0)) << "a place is not a copy";
  fresh.arrived_tree(0);
  EXPECT_TRUE(fresh.is_trace_empty(*layout_, 0)) << "its LogUp columns are not there";
  fresh.arrived_tree(layout_->logup_tree());
  EXPECT_FALSE(fresh.is_trace_empty(*layout_, 0));
  EXPECT_TRUE(fresh.is_trace_empty(*layout_, 1));
  EXPECT_TRUE(HostMirror().is_trace_empty(*layout_, 0));
  EXPECT_FALSE(mirror_.is_trace_empty(*layout_, 1));
}

TEST_F(MirrorTest, ReadingWhatIsNotThereIsAnError) {
  const u32 queries[] = {5};
  std::vector<u64> words;
  try {
    HostMirror().gather(*layout_, queries, words, "a failed gather");
    FAIL() << "a mirror of nothing gave rows";
  } catch (const ResidencyError& error) {
    EXPECT_EQ(error.kind(), ResidencyErrorKind::kHostTraceEmpty);
    EXPECT_EQ(error.table(), "boundary_global");
    EXPECT_EQ(error.stage(), DeviceStage::kGather);
    EXPECT_NE(std::string(error.what()).find("a failed gather"), std::string::npos);
  }
  HostMirror partial(*layout_, reinterpret_cast<u8*>(memory_.data()));
  partial.arrived_tree(0);
  EXPECT_THROW(partial.gather(*layout_, queries, words), ResidencyError);
}

TEST_F(MirrorTest, DebugChecksCompareRows) {
  const u32 segment = layout_->main_segment[0];
  const size_t rows = size_t{1} << layout_->segments[segment].log_height;
  const std::span<u64> trace = mirror_.place_of_trace(segment);
  prover::TableSource source;
  source.used_rows = 3;
  source.fill_rows = [](size_t begin, size_t end, prover::Fp* base, size_t stride) {
    for (size_t r = begin; r < end; ++r) base[2 * stride + r] = prover::Fp::from_u64(r + 9);
  };
  std::fill(trace.begin(), trace.end(), 0);
  for (size_t r = 0; r < 3; ++r) trace[2 * rows + r] = r + 9;
  EXPECT_NO_THROW(mirror_.check_rows(0, source));
  trace[rows + 4] = 1;  // in the padding of another column
  try {
    mirror_.check_rows(0, source);
    FAIL() << "a wrong cell was not seen";
  } catch (const ResidencyError& error) {
    EXPECT_EQ(error.kind(), ResidencyErrorKind::kWrongRows);
    EXPECT_NE(std::string(error.what()).find("column 1, row 4"), std::string::npos) << error.what();
  }
}

class CountingResource : public std::pmr::memory_resource {
 public:
  int live = 0;

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    ++live;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, size_t bytes, size_t alignment) override {
    --live;
    std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(SlabResource, ServesFromTheSlabAndTakesBack) {
  constexpr size_t kPiece = SlabResource::kAlignment;
  alignas(kPiece) static u8 slab[8 * kPiece];
  CountingResource upstream;
  SlabResource resource(slab, sizeof slab, &upstream);
  std::vector<void*> pieces;
  for (u32 i = 0; i < 8; ++i) pieces.push_back(resource.allocate(kPiece - i, 8));
  for (u32 i = 0; i < 8; ++i) EXPECT_EQ(pieces[i], slab + i * kPiece);
  void* outside = resource.allocate(1, 8);
  EXPECT_EQ(upstream.live, 1);
  EXPECT_EQ(resource.overflow_count(), 1u);
  // Free in an order that joins to the left, to the right and both.
  for (const u32 i : {1u, 3u, 2u, 0u, 7u, 5u, 6u, 4u}) {
    resource.deallocate(pieces[i], kPiece - i, 8);
  }
  void* whole = resource.allocate(8 * kPiece, 8);
  EXPECT_EQ(whole, slab) << "neighbours that are free are one";
  resource.deallocate(whole, 8 * kPiece, 8);
  resource.deallocate(outside, 1, 8);
  EXPECT_EQ(upstream.live, 0);
}

TEST(SlabResource, HoldsGrowingVectors) {
  alignas(SlabResource::kAlignment) static u8 slab[1 << 16];
  CountingResource upstream;
  SlabResource resource(slab, sizeof slab, &upstream);
  for (u32 round = 0; round < 3; ++round) {
    std::pmr::vector<u64> a(&resource);
    std::pmr::vector<u32> b(&resource);
    for (u32 i = 0; i < 2000; ++i) {
      a.push_back(i);
      b.push_back(i);
    }
    for (u32 i = 0; i < 2000; ++i) ASSERT_EQ(a[i], b[i]);
  }
  EXPECT_EQ(resource.overflow_count(), 0u);
}

}  // namespace
}  // namespace epochd::cuda
