// Random programs through replay and the trace checker: every chip's constraints hold and every bus
// balances, in each epoch and in the global proof. The executor itself is compared with
// qemu-riscv64 on programs of this kind.
#include "tests/epoch/exec/random_program.hpp"
#include "tests/epoch/forge/forge.hpp"

namespace epochd::testing {
namespace {

constexpr u64 kSeed = 0x5eed0c4e;

TEST(RandomPrograms, SatisfyEveryConstraintAndBalanceEveryBus) {
  std::array<size_t, kInstructionChipCount> rows{};
  size_t unaligned = 0;
  for (u64 seed = kSeed; seed < kSeed + 4; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::vector<u32> exit;
    test::append(exit, test::system_call(static_cast<i32>(kSyscallEmit)));
    test::append(exit, test::system_call(static_cast<i32>(kSyscallExit)));
    Guest g(test::RandomPrograms(seed, {.programs = 20}).elf(exit));
    g.params.epoch_size_log2 = 11;
    const auto epochs = run_epochs(g, {});
    ASSERT_GE(epochs.size(), 2u);
    for (u32 e = 0; e < epochs.size(); ++e) {
      const TablesReport report = check_epoch(g, epochs[e]);
      ASSERT_TRUE(report.clean()) << "epoch " << e << "\n" << report;
      for (u32 c = 0; c < kInstructionChipCount; ++c) rows[c] += epochs[e].instructions[c].size();
      unaligned += epochs[e].unaligned.size();
    }
    const TablesReport global = check_global(g, epochs);
    ASSERT_TRUE(global.clean()) << global;
  }
  EXPECT_GT(unaligned, 100u);
  for (u32 c = 0; c < kInstructionChipCount; ++c) {
    if (static_cast<ChipId>(c) == ChipId::kUnaligned) continue;  // counted apart
    const bool is_call = static_cast<ChipId>(c) == ChipId::kEcall;
    EXPECT_GT(rows[c], is_call ? 7u : 50u) << "chip " << c;
  }
}

}  // namespace
}  // namespace epochd::testing
