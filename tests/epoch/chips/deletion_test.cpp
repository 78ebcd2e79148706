// Deletes every constraint and every interaction of every chip, one at a time, and runs the chip's
// tests: some test must fail. This is about the tests: a constraint they would not miss is one that
// could get lost. (That the real chips keep their number of each is pinned elsewhere.)
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "epoch/chips/all_airs.hpp"
#include "prover/air/describe.hpp"
#include "tests/guest/run_program.hpp"

namespace epochd::chips {
namespace {

/// Where a chip's tests are: a binary, and gtest's filter.
struct Suites {
  std::string binary;
  std::string filter;
};

const std::map<std::string, Suites>& suites() {
  static const std::string alu = "epoch_chips_alu_test", control = "epoch_chips_control_test",
                           memory = "epoch_chips_memory_test",
                           continuation = "Continuation.*:Boundary.*";
  static const std::map<std::string, Suites> all = {
      {"add", {alu, "AddChip.*"}},
      {"addi", {alu, "AddiChip.*"}},
      {"addw", {alu, "AddwChip.*"}},
      {"bitwise", {alu, "BitwiseChip.*"}},
      {"compare", {alu, "CompareChip.*"}},
      {"shift_imm", {alu, "ShiftImmChip.*"}},
      {"shift", {alu, "ShiftChip.*"}},
      {"mul", {alu, "MulChip.*"}},
      {"divrem", {alu, "Divrem*"}},
      {"beq", {control, "BeqChip.*:BranchChips.*"}},
      {"blt", {control, "BltChip.*:BranchChips.*"}},
      {"jal", {control, "JalChip.*"}},
      {"jalr", {control, "JalrChip.*"}},
      {"ecall", {control, "EcallChip.*"}},
      {"ld", {control, "LdChip.*:LoadChips.*"}},
      {"lw", {control, "LwChip.*:LoadChips.*"}},
      {"lbh", {control, "LbhChip.*:LoadChips.*"}},
      {"store", {control, "StoreChip.*:StoreChips.*"}},
      {"store_narrow", {control, "StoreNarrowChip.*:StoreChips.*"}},
      {"unaligned", {control, "Unaligned*"}},
      {"refresh", {memory, "Refresh.*"}},
      {"program", {memory, "ProgramTable.*"}},
      {"range16", {memory, "Range16Table.*"}},
      {"bytes", {memory, "BytesTable.*"}},
      {"boundary", {memory, continuation}},
      {"boundary_global", {memory, continuation}},
      {"anchor", {memory, "Anchor.*:" + continuation}},
      {"image", {memory, "Image.*:" + continuation}}};
  return all;
}

bool fails(const std::string& binary, const std::string& filter) {
  const test::ProgramRun run =
      test::run_program({std::string(EPOCHD_CHIP_TEST_DIR "/") + binary, "--gtest_filter=" + filter,
                         "--gtest_fail_fast", "--gtest_brief=1"},
                        "");
  EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 1) << filter << "\n" << run.output;
  return run.exit_code != 0;
}

/// Whether the chip's tests fail without what `deletion` names.
bool is_missed(const Suites& s, const std::string& deletion) {
  setenv("EPOCHD_DELETE", deletion.c_str(), 1);
  // Nearly all are missed by the first, which take no time.
  const auto only = [&](const char* part) {
    std::string filter;
    for (const char c : s.filter) filter += c == '*' ? part : std::string(1, c);
    return filter;
  };
  for (const char* part : {"*Needed*", "*EveryColumn*", "*"}) {
    if (fails(s.binary, only(part))) return true;
  }
  return false;
}

void expect_every_deletion_missed(const prover::AirInfo& air) {
  ASSERT_TRUE(suites().count(air.name) != 0) << air.name << " has no tests listed here";
  const Suites& s = suites().at(air.name);
  ASSERT_FALSE(is_missed(s, "")) << air.name << ": its tests fail without a deletion";
  const std::string chip = air.name;
  for (u32 i = 0; i < air.constraint_count; ++i) {
    EXPECT_TRUE(is_missed(s, chip + " constraint " + std::to_string(i)))
        << "no test misses constraint " << air.constraint_labels[i];
  }
  for (u32 i = 0; i < air.interaction_count; ++i) {
    EXPECT_TRUE(is_missed(s, chip + " interaction " + std::to_string(i)))
        << "no test misses interaction " << i << " of " << chip << ", "
        << air.interactions[i].label;
  }
}

class EveryDeletion : public ::testing::TestWithParam<const prover::AirInfo*> {};

TEST_P(EveryDeletion, MakesSomeTestFail) {
  expect_every_deletion_missed(*GetParam());
}

template <class... Entries>
std::vector<const prover::AirInfo*> infos(AirList<Entries...>) {
  return {&prover::Description<typename Entries::Air>::kInfo...};
}

INSTANTIATE_TEST_SUITE_P(Chips, EveryDeletion, ::testing::ValuesIn(infos(AllAirs{})),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace epochd::chips
