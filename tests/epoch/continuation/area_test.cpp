// The area cap: ordinary guests run through in full epochs, heavy mixes are cut early, the rows an
// epoch really has never cost more than the cap, and a run cut early proves and verifies.
#include "epoch/chips/airs.hpp"
#include "epoch/continuation/worst_epoch.hpp"
#include "tests/epoch/continuation/run_fixture.hpp"
#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd::testing {
namespace {

/// Area of the rows an epoch really has, counted from its records.
u64 records_area(const EpochRecords& r) {
  u64 area = r.unaligned.size() * row_area(ChipId::kUnaligned) +
             r.refresh.size() * row_area(ChipId::kRefresh) +
             r.boundary.size() * row_area(ChipId::kBoundary);
  for (u32 chip = 0; chip < kInstructionChipCount; ++chip) {
    if (r.instructions[chip].empty()) continue;
    area += r.instructions[chip].size() * row_area(static_cast<ChipId>(chip));
  }
  return area;
}

/// `count` times the instruction, then exit(0). t0 and t1 hold addresses of data, 1 past a cell.
std::vector<u8> repeat(u32 instruction, u32 count) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kDataBase + 1);
  load_immediate(code, test::kT1, kHighBase + 5);
  for (u32 i = 0; i < count; ++i) code.push_back(instruction);
  exit_with(code, 0);
  return data_elf(code);
}

u64 cap_of(const Guest& g) {
  return u64{g.params.preset->area_per_cycle} << g.params.epoch_size_log2;
}

TEST(Area, IsWorkedOutFromTheChips) {
  // The widths of the chip as its own documentation gives them, six columns of the quotient, and
  // a refresh row and a boundary row for each of three accesses.
  const u32 access = row_area(ChipId::kRefresh) + row_area(ChipId::kBoundary);
  const u32 add = chips::find_air(ChipId::kAdd)->main_width +
                  3 * ((chips::find_air(ChipId::kAdd)->interaction_count + 1u) / 2) + 6;
  EXPECT_EQ(row_area(ChipId::kAdd), add);
  EXPECT_EQ(instruction_area(Op::kAdd), add + 3 * access);
  EXPECT_EQ(instruction_area(Op::kJal), row_area(ChipId::kJal) + access);
  EXPECT_EQ(instruction_area(Op::kEcall), row_area(ChipId::kEcall) + 3 * access);
  EXPECT_EQ(unaligned_area(), row_area(ChipId::kUnaligned) + 4 * access);
}

TEST(Area, EveryPresetTakesAnyInstructionInTheSmallestEpoch) {
  for (const prover::Preset& preset : prover::kPresets) {
    const AreaModel model = epoch_area({&preset, kEpochSizeLog2Min});
    for (u32 op = 1; op < kOpCount; ++op) {
      EXPECT_GT(model.per_op[op], 0u);
      EXPECT_LE(8 * u64{model.per_op[op]}, model.cap) << preset.name << " op " << op;
    }
    EXPECT_EQ(model.cap, 32u * preset.area_per_cycle);
  }
}

// However a program touches memory, its boundary table is no taller than its epoch is long.
TEST(Area, CellsLeaveRoomForTheRegisters) {
  for (const prover::Preset& preset : prover::kPresets) {
    for (u32 size = 13; size <= kEpochSizeLog2Max; ++size) {
      EXPECT_EQ(boundary_log_height_max({&preset, size}), size) << preset.name;
    }
  }
  const AreaModel model = epoch_area({&prover::kPresets[0], 20});
  for (const Op op : {Op::kLd, Op::kLb, Op::kSd, Op::kSb}) {
    EXPECT_LT(model.cap / model.per_op[static_cast<u32>(op)], 1u << 20);
  }
  EXPECT_LT(2 * (model.cap / model.unaligned), 1u << 20);
}

// Every epoch of an ordinary program but the last is full, in short windows and in long ones.
TEST(Area, OrdinaryGuestsAreNotCutEarly) {
  const std::map<std::string, std::vector<u64>> inputs = {{"fib.elf", {500'000}},
                                                          {"sha256.elf", std::vector<u64>(2000, 7)},
                                                          {"keccak.elf", std::vector<u64>(2000, 7)},
                                                          {"sort.elf", {42, 20'000}},
                                                          {"alledge.elf", {}}};
  for (const auto& [name, input] : inputs) {
    const Guest& g = shared_guest(name);
    for (const u32 size : {8u, 12u, 18u}) {
      auto scout = Scout::create(*g.code, input_words(input), epoch_area({g.params.preset, size}));
      ASSERT_TRUE(scout);
      u32 full = 0;
      while (!scout->halted()) {
        const auto epoch = scout->run_epoch(1u << size);
        ASSERT_TRUE(epoch);
        EXPECT_TRUE(epoch->is_final || epoch->cycles == 1u << size) << name << " 2^" << size;
        full += !epoch->is_final;
      }
      EXPECT_TRUE(full > 0 || name == "alledge.elf") << name << " 2^" << size;
    }
  }
}

struct Heavy {
  const char* name;
  u32 instruction;
};
const Heavy kHeavy[] = {
    {"divrem", test::r_type(0x02004033, test::kA0, test::kT0, test::kT1)},
    {"mul", test::r_type(0x02000033, test::kA0, test::kT0, test::kT1)},
    {"misaligned load across cells", test::ld(test::kA0, test::kT0, 0)},
    {"misaligned store across cells", test::sd(test::kT0, test::kT1, 0)},
};

TEST(Area, HeavyMixesAreCutEarlyAndVerify) {
  for (const Heavy& heavy : kHeavy) {
    SCOPED_TRACE(heavy.name);
    Guest g(repeat(heavy.instruction, 150));
    g.params.epoch_size_log2 = 6;
    std::vector<u64> areas;
    const std::vector<EpochRecords> epochs = run_epochs(g, {}, &areas);
    ASSERT_GE(epochs.size(), 3u);
    u32 cycles = 0;
    for (size_t e = 0; e < epochs.size(); ++e) {
      EXPECT_LE(areas[e], cap_of(g));
      EXPECT_LE(records_area(epochs[e]), areas[e]);
      EXPECT_LE(epochs[e].public_values.cycles, 64u);
      cycles += epochs[e].public_values.cycles;
    }
    // In the middle nothing but the heavy instruction: as many as fit, and not one fewer.
    const u64 cost = areas[1] / epochs[1].public_values.cycles;
    EXPECT_EQ(epochs[1].public_values.cycles, cap_of(g) / cost);
    EXPECT_LT(epochs[1].public_values.cycles, 64u);
    const std::vector<u64> bundle = prove_run(g, epochs);
    const RunResult r = verify(g, bundle);
    EXPECT_TRUE(r.ok()) << text(r);
    EXPECT_EQ(r.cycles, cycles);
    EXPECT_EQ(r.epochs, epochs.size());
    // Once more from nothing: the same cuts, the same bytes.
    EXPECT_EQ(prove_run(g, run_epochs(g, {})), bundle);
  }
}

TEST(Area, RowsOfEveryGuestStayWithinWhatWasCounted) {
  for (const char* name : {"alledge.elf", "misaligned.elf"}) {
    Guest& g = shared_guest(name);
    for (const u32 size : {5u, 7u, 16u}) {
      g.params.epoch_size_log2 = size;
      std::vector<u64> areas;
      const std::vector<EpochRecords> epochs = run_epochs(g, {}, &areas);
      for (size_t e = 0; e < epochs.size(); ++e) {
        ASSERT_LE(records_area(epochs[e]), areas[e]) << name << " epoch " << e + 1;
        ASSERT_LE(areas[e], cap_of(g)) << name << " epoch " << e + 1;
      }
    }
  }
}

}  // namespace
}  // namespace epochd::testing
