// The layout: its order by hand for a small shape, and every shape it must refuse.
#include "prover/verify/layout.hpp"

#include <gtest/gtest.h>

#include "prover/air/describe.hpp"
#include "tests/prover/tutorial/airs.hpp"
#include "tests/prover/verify/ring.hpp"

namespace epochd::prover {
namespace {

using ring::QuietAir;
using ring::RingAir;
using tutorial::NibblesAir;

ProofShape good_shape() {
  ProofShape s;
  s.preset = find_preset(100);
  s.base_tree_count = 2;
  s.table_count = 3;
  s.tables[0] = {&Description<RingAir>::kInfo, 5, kNone, 1, {}};
  s.tables[1] = {&Description<NibblesAir>::kInfo, 8, 0, 1, {}};
  s.tables[2] = {&Description<RingAir>::kInfo, 8, kNone, 1, {}};
  return s;
}

class LayoutTest : public testing::Test {
 protected:
  bool accepts(const ProofShape& s) { return derive_layout(s, *layout_); }
  std::unique_ptr<Layout> layout_ = std::make_unique<Layout>();
};

TEST_F(LayoutTest, OrderIsTreeHeightTableColumnPoint) {
  ASSERT_TRUE(accepts(good_shape()));
  const Layout& l = *layout_;
  EXPECT_EQ(l.height_count, 2u);
  EXPECT_EQ(l.heights[0], 8u);
  EXPECT_EQ(l.heights[1], 5u);
  struct Expected {
    Part part;
    u32 table, log_height, width, first_opening;
  };
  // nibbles: 4 fixed, 2 main, 2 interactions = 1 pair; ring: 6 main, 3 interactions = 2 pairs. A
  // pair is 3 columns, the last pair of a table is opened twice.
  const Expected expected[] = {
      {Part::kFixed, 1, 8, 4, 0},  {Part::kMain, 1, 8, 2, 4},      {Part::kMain, 2, 8, 6, 6},
      {Part::kMain, 0, 5, 6, 12},  {Part::kLogup, 1, 8, 3, 18},    {Part::kLogup, 2, 8, 6, 24},
      {Part::kLogup, 0, 5, 6, 33}, {Part::kQuotient, 0, 8, 6, 42}, {Part::kQuotient, 1, 5, 6, 48},
  };
  ASSERT_EQ(l.segment_count, std::size(expected));
  for (u32 i = 0; i < l.segment_count; ++i) {
    const Segment& s = l.segments[i];
    EXPECT_EQ(s.part, expected[i].part) << i;
    EXPECT_EQ(s.table, expected[i].table) << i;
    EXPECT_EQ(s.log_height, expected[i].log_height) << i;
    EXPECT_EQ(s.width, expected[i].width) << i;
    EXPECT_EQ(s.first_opening, expected[i].first_opening) << i;
  }
  EXPECT_EQ(l.opening_count, 54u);
  const Segment& ring_aux = l.segments[5];
  EXPECT_EQ(ring_aux.opening(2, 0), 26u);
  EXPECT_EQ(ring_aux.opening(3, 0), 27u);
  EXPECT_EQ(ring_aux.opening(3, 1), 28u);
  EXPECT_EQ(ring_aux.opening(5, 1), 32u);
  // alpha counts constraints of one height in list order: nibbles has 0 + 1, ring 2 + 2.
  EXPECT_EQ(l.first_constraint[1], 0u);
  EXPECT_EQ(l.first_constraint[2], 1u);
  EXPECT_EQ(l.first_constraint[0], 0u);
  // 2^8 to 2^6: one fold by 4.
  EXPECT_EQ(l.fri_step_count, 1u);
  EXPECT_EQ(l.fri_steps[0], 2u);
  EXPECT_EQ(l.fri_final_log, 6u);
}

TEST_F(LayoutTest, HeightsOutOfRangeAreRefused) {
  for (const u32 h : {0u, 4u, 27u, 32u, 63u, 64u, ~0u}) {
    ProofShape s = good_shape();
    s.tables[2].log_height = h;
    EXPECT_FALSE(accepts(s)) << h;
  }
  for (const u32 h : {5u, 26u}) {
    ProofShape s = good_shape();
    s.tables[2].log_height = h;
    EXPECT_TRUE(accepts(s)) << h;
  }
}

TEST_F(LayoutTest, CountsOutOfRangeAreRefused) {
  ProofShape s = good_shape();
  s.table_count = 0;
  EXPECT_FALSE(accepts(s));
  s.table_count = kTablesMax + 1;
  EXPECT_FALSE(accepts(s));
  s = good_shape();
  s.base_tree_count = kBaseTreesMax + 1;
  EXPECT_FALSE(accepts(s));
  s = good_shape();
  s.preset = nullptr;
  EXPECT_FALSE(accepts(s));
  s = good_shape();
  s.tables[1].air = nullptr;
  EXPECT_FALSE(accepts(s));
}

TEST_F(LayoutTest, TreesMustHoldWhatTheAirHas) {
  ProofShape s = good_shape();
  s.tables[1].fixed_tree = kNone;
  EXPECT_FALSE(accepts(s)) << "fixed columns in no tree";
  s = good_shape();
  s.tables[0].fixed_tree = 0;
  EXPECT_FALSE(accepts(s)) << "a fixed tree without fixed columns";
  s = good_shape();
  s.tables[0].main_tree = kNone;
  EXPECT_FALSE(accepts(s)) << "main columns in no tree";
  s = good_shape();
  s.tables[0].main_tree = 2;
  EXPECT_FALSE(accepts(s)) << "a tree that is not a base tree";
  s = good_shape();
  s.base_tree_count = 3;
  EXPECT_FALSE(accepts(s)) << "an empty tree";
}

TEST_F(LayoutTest, AProofWithoutInteractionsIsRefused) {
  ProofShape s;
  s.preset = find_preset(100);
  s.base_tree_count = 1;
  s.table_count = 1;
  s.tables[0] = {&Description<QuietAir>::kInfo, 5, kNone, 0, {}};
  EXPECT_FALSE(accepts(s));
}

TEST_F(LayoutTest, MoreOpeningsThanTheVerifierHasRoomForAreRefused) {
  // A wide AIR: only its numbers matter to the layout.
  AirInfo wide = Description<RingAir>::kInfo;
  wide.main_width = kOpeningsMax - 6 - 9;  // quotient 6, two pairs 3 + 6
  ProofShape s;
  s.preset = find_preset(100);
  s.base_tree_count = 1;
  s.table_count = 1;
  s.tables[0] = {&wide, 5, kNone, 0, {}};
  EXPECT_TRUE(accepts(s));
  EXPECT_EQ(layout_->opening_count, kOpeningsMax);
  ++wide.main_width;
  EXPECT_FALSE(accepts(s));
}

TEST_F(LayoutTest, TheTallestTablesFitTheFriSteps) {
  for (const Preset& p : kPresets) {
    ProofShape s = good_shape();
    s.preset = &p;
    s.tables[2].log_height = kLogHeightMax;
    ASSERT_TRUE(accepts(s)) << p.name;
    EXPECT_LE(layout_->fri_step_count, kFriStepsMax);
    u32 folded = 0;
    for (u32 i = 0; i < layout_->fri_step_count; ++i) folded += layout_->fri_steps[i];
    EXPECT_EQ(folded, kLogHeightMax - p.log_final) << p.name;
  }
}

}  // namespace
}  // namespace epochd::prover
