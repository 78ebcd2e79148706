// The floor model against counts made by hand.
#include <gtest/gtest.h>

#include "bench/floor/epoch_floor.hpp"

namespace epochd::bench {
namespace {

TEST(Floor, IsTheLargerOfMemoryAndArithmetic) {
  const Ceilings ceilings = {
      .bytes = 100, .multiplications = 10, .butterflies = 5, .compressions = 2};
  const Floor memory = floor_of({.bytes = 1000, .multiplications = 10}, ceilings);
  EXPECT_EQ(memory.seconds, 10);
  EXPECT_EQ(memory.bound, "memory");
  // Kinds of arithmetic share the pipes: they add up.
  const Floor arithmetic = floor_of(
      {.bytes = 100, .multiplications = 10, .butterflies = 10, .compressions = 4}, ceilings);
  EXPECT_EQ(arithmetic.seconds, 1 + 2 + 2);
  EXPECT_EQ(arithmetic.bound, "arithmetic");
  EXPECT_EQ(floor_of({.compressions = 1}, {.bytes = 1}).bound, "") << "no rate, no floor";
  EXPECT_EQ(floor_of({}, ceilings).bound, "");
}

TEST(Floor, CountsWhatKernelsDo) {
  const Work lde = lde_work(3, 4, 1);  // 16 rows: 8 * 4 butterflies a transform, three of them
  EXPECT_EQ(lde.butterflies, 3 * 3 * 32);
  EXPECT_EQ(lde.bytes, 3 * (16 + 32) * 8);
  const Work rows = row_hash_work(9, 16);  // 9 elements: two blocks of 8
  EXPECT_EQ(rows.compressions, 32);
  EXPECT_EQ(rows.bytes, 16 * (72 + 32));
  EXPECT_EQ(tree_levels_work(3).compressions, 7);
  EXPECT_EQ(grind_work(20).compressions, 1 << 20);
  // 8 values fold in 4 + 2 + 1 pairs.
  EXPECT_EQ(fri_fold_work(3, 3).multiplications, 7 * 15);
}

TEST(EpochFloor, CoversEveryStageThatIsNotAllLatency) {
  const prover::AirInfo* addi = air_by_name("addi");
  ASSERT_NE(addi, nullptr);
  EXPECT_EQ(air_by_name("no such chip"), nullptr);
  const prover::Preset& preset = prover::kPresets[0];
  const StageWork small = epoch_work({{addi, 10}}, preset);
  for (const char* stage : {"fill", "commit main", "logup", "commit logup", "quotient",
                            "commit quotient", "open", "deep", "fri", "grind"}) {
    ASSERT_EQ(small.count(stage), 1u) << stage;
    const Work& work = small.at(stage);
    EXPECT_GT(work.bytes + work.compressions, 0) << stage;
  }
  const double width = addi->main_width;
  EXPECT_EQ(small.at("commit main").butterflies, lde_work(width, 10, 1).butterflies);
  EXPECT_EQ(small.at("commit main").compressions, row_hash_work(width, 2048).compressions + 2047);
  EXPECT_EQ(small.at("fill").bytes, 1024 * 8 * width);
}

// A second, lower table adds its rows, and a compression each to be hashed into the tree.
TEST(EpochFloor, LowerTablesShareTheTree) {
  const prover::AirInfo* addi = air_by_name("addi");
  const prover::Preset& preset = prover::kPresets[0];
  const double one = epoch_work({{addi, 10}}, preset).at("commit main").compressions;
  const double two = epoch_work({{addi, 10}, {addi, 8}}, preset).at("commit main").compressions;
  EXPECT_EQ(two - one, row_hash_work(addi->main_width, 512).compressions + 512);
}

}  // namespace
}  // namespace epochd::bench
