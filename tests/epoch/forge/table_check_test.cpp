// The trace checker over whole proofs: every guest's epochs and its global proof satisfy every
// constraint and balance every bus; and an independent machine makes the same records.
#include <sstream>

#include "epoch/chips/airs.hpp"
#include "epoch/chips/all_airs.hpp"
#include "epoch/chips/fills.hpp"
#include "tests/epoch/continuation/small_programs.hpp"
#include "tests/epoch/forge/faulty_machine.hpp"
#include "tests/epoch/forge/forge.hpp"

namespace epochd::testing {
namespace {

std::vector<u8> bytes_of(const char* text) {
  return {text, text + std::strlen(text)};
}

void expect_clean(Guest& g, const std::vector<u8>& input, u32 epoch_size_log2) {
  g.params.epoch_size_log2 = epoch_size_log2;
  const auto epochs = run_epochs(g, input);
  for (u32 e = 0; e < epochs.size(); ++e) {
    const TablesReport report = check_epoch(g, epochs[e]);
    ASSERT_TRUE(report.clean()) << "epoch " << e << " of " << epochs.size() << "\n" << report;
  }
  const TablesReport global = check_global(g, epochs);
  EXPECT_TRUE(global.clean()) << global;
}

TEST(TableCheck, Fib) {
  expect_clean(shared_guest("fib.elf"), input_words({10}), 5);
}
TEST(TableCheck, Echo) {
  expect_clean(shared_guest("echo.elf"), bytes_of("eleven byte"), 6);
}
TEST(TableCheck, Sha256) {
  expect_clean(shared_guest("sha256.elf"), bytes_of("abc"), 11);
}
TEST(TableCheck, Keccak) {
  expect_clean(shared_guest("keccak.elf"), bytes_of("abc"), 14);
}
TEST(TableCheck, Sort) {
  expect_clean(shared_guest("sort.elf"), input_words({42, 20}), 10);
}
TEST(TableCheck, AllInstructions) {
  expect_clean(shared_guest("alledge.elf"), {}, 17);
}
TEST(TableCheck, Misaligned) {
  expect_clean(shared_guest("misaligned.elf"), {}, 16);
}

TEST(TableCheck, EveryRegionOfMemory) {
  Guest g(all_regions(100));
  expect_clean(g, input_words({5}), 8);
}

// A cell first touched 2^16 ticks or more after the epoch began needs a refresh row.
TEST(TableCheck, FirstTouchLateInTheEpoch) {
  Guest g(store_in_cycle((1u << 15) - 1));
  g.params.epoch_size_log2 = 15;
  const auto epochs = run_epochs(g, {});
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_FALSE(epochs[0].refresh.empty());
  expect_clean(g, {}, 15);
}

/// A table of these rows alone, through the trace checker.
void check_rows(const prover::TableSource& source, ChipId chip, u64 label, TablesReport& report) {
  const prover::AirInfo& air = *chips::find_air(chip);
  prover::TraceView view{&air, {}, {}, 32};
  std::vector<prover::Fp> cells(air.main_width * view.rows);
  source.fill_rows(0, source.used_rows, cells.data(), view.rows);
  for (u32 c = 0; c < air.main_width; ++c) view.columns.push_back(cells.data() + c * view.rows);
  view.params.assign(air.param_count, prover::Fp::from_u64(label));
  check_table(view, report);
}

// In the last cycle of the largest epoch the gap to time 0 is 2^28: one refresh row bridges it.
TEST(TableCheck, FirstTouchInTheLastCycleOfTheLargestEpoch) {
  Guest g(store_in_cycle(40));
  const u32 key = kHighBase / 8;
  InstructionRecord store = run_faulty(g, {})[0].instructions[static_cast<u32>(ChipId::kStore)][0];
  store.ts = 1 + 4 * ((1u << kEpochSizeLog2Max) - 1);
  store.t_rs1 = store.t_rs2 = store.ts - 1;
  store.t_mem = store.ts + kSubMem - 1;
  const RefreshRecord refresh{key, 0, store.t_mem, 0, 0};
  const BoundaryRecord boundary{key, 0, 0, 77, store.ts + kSubMem, 0};
  TablesReport report;
  check_rows(chips::instruction_source(ChipId::kStore, &store, 1, g.key.program), ChipId::kStore, 0,
             report);
  check_rows(chips::refresh_source(&refresh, 1), ChipId::kRefresh, 0, report);
  check_rows(chips::boundary_source(ChipId::kBoundary, &boundary, 1, kEpochCountMax),
             ChipId::kBoundary, kEpochCountMax, report);
  EXPECT_TRUE(report.violated.empty()) << report;
  for (const auto& [tuple, net] : report.balance) {
    const Bus bus = static_cast<Bus>(tuple[0]);
    const bool is_elsewhere = bus == Bus::kState || (bus == Bus::kMemory && tuple[1] != key);
    EXPECT_TRUE(is_elsewhere || lookup_exists(g.key, tuple)) << report;
  }
}

// What the forging tests stand on: without faults, the faulty machine's records are the replayer's.
void expect_same_records(Guest& g, const std::vector<u8>& input, u32 epoch_size_log2) {
  g.params.epoch_size_log2 = epoch_size_log2;
  const auto replayed = run_epochs(g, input);
  FaultyMachine machine(g, input);
  std::vector<EpochRecords> made;
  for (const EpochRecords& epoch : replayed) {
    if (machine.halted()) break;
    // Where the scout cut: by the table area too, of which this machine knows nothing.
    made.push_back(machine.run_epoch(epoch.public_values.cycles, {}));
  }
  EXPECT_TRUE(machine.halted());
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
  };
  ASSERT_EQ(made.size(), replayed.size());
  for (u32 e = 0; e < made.size(); ++e) {
    for (u32 c = 0; c < kInstructionChipCount; ++c) {
      EXPECT_TRUE(same(made[e].instructions[c], replayed[e].instructions[c]))
          << "epoch " << e << " chip " << c;
    }
    EXPECT_TRUE(same(made[e].unaligned, replayed[e].unaligned)) << "epoch " << e;
    EXPECT_TRUE(same(made[e].boundary, replayed[e].boundary)) << "epoch " << e;
    const EpochPublic &a = made[e].public_values, &b = replayed[e].public_values;
    EXPECT_EQ(std::tie(a.label, a.is_final, a.pc_in, a.pc_out, a.cycles, a.out_in, a.outputs,
                       a.exit_code),
              std::tie(b.label, b.is_final, b.pc_in, b.pc_out, b.cycles, b.out_in, b.outputs,
                       b.exit_code));
  }
}

TEST(FaultyMachine, AgreesWithReplayWithoutFaults) {
  expect_same_records(shared_guest("sha256.elf"), bytes_of("abc"), 10);
  expect_same_records(shared_guest("echo.elf"), bytes_of("eleven byte"), 6);
  expect_same_records(shared_guest("misaligned.elf"), {}, 15);
  Guest g(all_regions(10));
  expect_same_records(g, input_words({5}), 6);
}

template <class... Entries>
std::vector<ChipId> chips_of(chips::AirList<Entries...>) {
  return {Entries::kChip...};
}

// Fingerprints of one bus have one length, so that no tuple can pass for a longer one with zeros.
TEST(TableCheck, EveryBusHasOneArity) {
  std::map<u8, std::set<u32>> arities;
  for (const ChipId chip : chips_of(chips::AllAirs{})) {
    const prover::AirInfo& air = *chips::find_air(chip);
    for (u32 i = 0; i < air.interaction_count; ++i) {
      arities[air.interactions[i].bus].insert(air.interactions[i].arity);
    }
  }
  const std::map<Bus, u32> expected = {{Bus::kState, 2},   {Bus::kProgram, 7}, {Bus::kMemory, 4},
                                       {Bus::kRange16, 1}, {Bus::kSign16, 2},  {Bus::kAlign, 2},
                                       {Bus::kBytes, 4},   {Bus::kOutput, 3},  {Bus::kExit, 2},
                                       {Bus::kGlobal, 4},  {Bus::kOrder, 2}};
  for (const auto& [bus, arity] : expected) {
    EXPECT_EQ(arities[static_cast<u8>(bus)], std::set<u32>{arity})
        << bus_name(static_cast<u8>(bus));
  }
  EXPECT_EQ(arities.size(), expected.size());
}

// The checker itself: a change nothing else sees is named.
TEST(TableCheck, NamesWhatIsWrong) {
  Guest g(straight_line(20));
  auto epochs = run_epochs(g, {});
  epochs[0].instructions[static_cast<u32>(ChipId::kAddi)][3].rs1 += 1;
  epochs[0].public_values.exit_code = 4;
  const TablesReport report = check_epoch(g, epochs[0]);
  EXPECT_EQ(report.buses(), (std::set<std::string>{"Memory", "Exit"}));
  std::ostringstream shown;
  shown << report;
  EXPECT_NE(shown.str().find("bus Exit"), std::string::npos) << shown.str();
}

}  // namespace
}  // namespace epochd::testing
