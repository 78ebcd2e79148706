// The memory plan: no two buffers in use at once overlap, the arena is hardly larger than what is
// in use at the worst moment, and a proof allocates what the plan says.
#include "prover/prove/memory_plan.hpp"

#include <gtest/gtest.h>

#include "tests/prover/tutorial/machine.hpp"

namespace epochd::prover {
namespace {

std::vector<PlannedBuffer> all_buffers(const MemoryPlan& plan) {
  std::vector<PlannedBuffer> all;
  all.push_back(plan.points);
  for (const auto* list :
       {&plan.traces, &plan.ldes, &plan.trees, &plan.words, &plan.layers, &plan.layer_trees}) {
    for (const PlannedBuffer& b : *list) {
      if (b.bytes > 0) all.push_back(b);
    }
  }
  return all;
}

struct Shape {
  size_t terms;
  size_t first;
  u32 log_sum;
};
constexpr Shape kShapes[] = {{150, 120, 9}, {5000, 4096, 5}, {40, 8, 12}, {30000, 16384, 13}};

std::unique_ptr<Layout> layout_of(const Shape& shape, u32 preset_id) {
  const tutorial::Witness witness = tutorial::random_witness(5, shape.terms, shape.first);
  return tutorial::make_layout(
      tutorial::make_statement(*find_preset(preset_id), witness, shape.log_sum));
}

TEST(MemoryPlan, BuffersInUseAtOnceDoNotOverlap) {
  for (const Shape& shape : kShapes) {
    for (const u32 preset : {1u, 2u}) {
      const MemoryPlan plan = plan_memory(*layout_of(shape, preset), 2);
      const std::vector<PlannedBuffer> all = all_buffers(plan);
      ASSERT_GT(all.size(), 15u);
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].offset % 64, 0u);
        EXPECT_LE(all[i].offset + all[i].bytes, plan.arena_bytes);
        EXPECT_LE(all[i].first, all[i].last);
        for (size_t j = 0; j < i; ++j) {
          if (all[i].first > all[j].last || all[j].first > all[i].last) continue;
          EXPECT_TRUE(all[i].offset >= all[j].offset + all[j].bytes ||
                      all[j].offset >= all[i].offset + all[i].bytes)
              << i << " and " << j;
        }
      }
    }
  }
}

TEST(MemoryPlan, ArenaIsCloseToWhatIsInUseAtTheWorstMoment) {
  for (const Shape& shape : kShapes) {
    const MemoryPlan plan = plan_memory(*layout_of(shape, 1), 2);
    const std::vector<PlannedBuffer> all = all_buffers(plan);
    u32 stages = 0;
    for (const PlannedBuffer& b : all) stages = std::max(stages, b.last);
    u64 worst = 0;
    for (u32 stage = 0; stage <= stages; ++stage) {
      u64 in_use = 0;
      for (const PlannedBuffer& b : all) {
        if (b.first <= stage && stage <= b.last) in_use += b.bytes;
      }
      worst = std::max(worst, in_use);
    }
    EXPECT_GE(plan.arena_bytes, worst);
    EXPECT_LE(plan.arena_bytes, worst + worst / 20 + 4096) << shape.terms << " terms";
  }
}

TEST(MemoryPlan, AProofAllocatesWhatThePlanSays) {
  const Parallel pool(2);
  for (const Shape& shape : kShapes) {
    const CpuBackend backend(best_isa(), pool);
    const tutorial::Witness witness = tutorial::random_witness(5, shape.terms, shape.first);
    const tutorial::Statement statement =
        tutorial::make_statement(*find_preset(100), witness, shape.log_sum);
    const std::unique_ptr<Layout> layout = tutorial::make_layout(statement);
    const auto nibbles = tutorial::make_nibbles(backend, statement.preset->log_blowup);
    const MemoryPlan plan = plan_memory(*layout, pool.threads());
    const u64 before = aligned_bytes_live();
    reset_aligned_bytes_peak();
    {
      CpuSession session(backend, *layout);
      tutorial::fill(session, witness, nibbles);
      const std::vector<u64> proof = tutorial::prove(session, statement);
      EXPECT_TRUE(tutorial::verify(statement, nibbles->tree.root(), proof).ok());
    }
    const u64 used = aligned_bytes_peak() - before;
    EXPECT_LE(used, plan.bytes()) << shape.terms << " terms";
    EXPECT_GE(used, plan.arena_bytes) << shape.terms << " terms";
  }
}

}  // namespace
}  // namespace epochd::prover
