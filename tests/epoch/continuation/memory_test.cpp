// What proving epochs allocates, against the plan, and the plan against the bound that a
// configuration is refused by.
#include "epoch/continuation/epoch_memory.hpp"

#include "prover/prove/memory_plan.hpp"
#include "tests/epoch/continuation/run_fixture.hpp"
#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd::testing {
namespace {

prover::MemoryPlan plan_of(const Guest& g, const EpochRecords& records) {
  const auto tables = plan_tables(records, g.key.vk, *g.params.preset);
  const auto layout = std::make_unique<prover::Layout>();
  EXPECT_TRUE(epoch_layout(make_statement(records, tables), g.params, *layout));
  return prover::plan_memory(*layout, g.pool.threads());
}

TEST(Memory, EpochsAllocateWhatThePlanSays) {
  for (const char* name : {"fib.elf", "alledge.elf"}) {
    Guest g(name);
    for (const u32 size : {10u, 14u, 16u}) {
      g.params.epoch_size_log2 = size;
      const std::vector<EpochRecords> epochs = run_epochs(g, input_words({20'000}));
      // A backend of its own: no arena is kept from the size before.
      const prover::CpuBackend backend(best_isa(), g.pool);
      const prover::MemoryPlan plan = plan_of(g, epochs[0]);
      const u64 before = aligned_bytes_live();
      reset_aligned_bytes_peak();
      prove_epoch(backend, g.key, g.params, epochs[0]);
      const u64 used = aligned_bytes_peak() - before;
      EXPECT_LE(used, plan.bytes()) << name << " 2^" << size;
      EXPECT_GE(used, plan.bytes() - plan.bytes() / 20) << name << " 2^" << size;
      EXPECT_LE(plan.bytes(), cpu_epoch_bytes_max(g.params, g.pool.threads()));
    }
  }
}

// Epochs after the first take the arena of the first: as many bytes for one epoch as for all.
TEST(Memory, ManyEpochsAllocateNoMoreThanTheLargest) {
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 10;
  const std::vector<EpochRecords> epochs = run_epochs(g, input_words({2'000}));
  ASSERT_GT(epochs.size(), 8u);
  u64 largest = 0;
  for (const EpochRecords& e : epochs) largest = std::max(largest, plan_of(g, e).bytes());
  const prover::CpuBackend backend(best_isa(), g.pool);
  const u64 before = aligned_bytes_live();
  reset_aligned_bytes_peak();
  for (const EpochRecords& e : epochs) prove_epoch(backend, g.key, g.params, e);
  EXPECT_LE(aligned_bytes_peak() - before, largest);
}

/// `count` stores to a fresh cell each, every one across two cells.
std::vector<u8> crossing_stores(u32 count) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kHighBase + 5);
  load_immediate(code, test::kT1, count);
  code.push_back(test::sd(test::kT1, test::kT0, 0));
  code.push_back(test::sd(test::kT1, test::kT0, 16));
  code.push_back(test::sd(test::kT1, test::kT0, 32));
  code.push_back(test::sd(test::kT1, test::kT0, 48));
  code.push_back(test::addi(test::kT0, test::kT0, 64));
  code.push_back(test::addi(test::kT1, test::kT1, -1));
  code.push_back(test::bne(test::kT1, 0, -24));
  exit_with(code, 0);
  return data_elf(code);
}

TEST(Memory, BoundHoldsForTheWorstProgramsAndIsNotWild) {
  for (const char* preset : {"proven100", "proven128"}) {
    Guest g(crossing_stores(40'000), preset);
    for (const u32 size : {13u, 16u, 18u}) {
      g.params.epoch_size_log2 = size;
      auto scout = Scout::create(*g.code, {}, epoch_area(g.params));
      Stitch stitch(g.key.vk.digest());
      const auto epoch = scout->run_epoch(1u << size);
      EpochRecords records;
      Replayer replayer(*g.code);
      ASSERT_FALSE(replayer.run(stitch.seal(*epoch), records));
      const u64 planned = plan_of(g, records).bytes();
      const u64 bound = cpu_epoch_bytes_max(g.params, g.pool.threads());
      EXPECT_LE(planned, bound) << preset << " 2^" << size;
      if (size < 16) continue;  // there the fixed tables are most of it
      EXPECT_GE(5 * planned, bound) << preset << " 2^" << size;
    }
  }
}

TEST(Memory, BoundGrowsWithTheEpoch) {
  for (const prover::Preset& preset : prover::kPresets) {
    u64 before = 0;
    for (u32 size = kEpochSizeLog2Min; size <= kEpochSizeLog2Max; ++size) {
      const u64 bound = cpu_epoch_bytes_max({&preset, size}, 2);
      EXPECT_GT(bound, before) << preset.name << " 2^" << size;
      before = bound;
    }
  }
}

}  // namespace
}  // namespace epochd::testing
