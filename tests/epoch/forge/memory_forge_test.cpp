// Forged memory within one epoch: stale reads, dropped writes, addresses, refresh rows.
#include "epoch/chips/all_airs.hpp"
#include "tests/epoch/forge/attack.hpp"

namespace epochd::testing {
namespace {

using namespace chips;  // the columns of every chip
using test::addi;

constexpr u32 kCell = kHighBase / 8;

/// cell = 7; cell = 9; emit cell; exit 0. The stores are in cycles 2 and 4, the load in cycle 5.
std::vector<u32> store_twice() {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kHighBase);
  code.push_back(addi(test::kT1, 0, 7));
  code.push_back(test::sd(test::kT1, test::kT0, 0));
  code.push_back(addi(test::kT1, 0, 9));
  code.push_back(test::sd(test::kT1, test::kT0, 0));
  code.push_back(test::ld(10, test::kT0, 0));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  return code;
}
constexpr u32 kFirstStore = 2, kSecondStore = 4, kLoad = 5;
constexpr u32 memory_time(u32 cycle) {
  return 1 + 4 * cycle + kSubMem;
}
/// The load sees the first store's value.
void load_seven(Step& s) {
  if (!s.is_at(Op::kLd)) return;
  s.record.mem = 7;
  s.record.t_mem = memory_time(kFirstStore);
  s.rd_value = 7;
}

TEST(ForgeMemory, StaleRead) {
  Attack a(store_twice(), load_seven);
  ASSERT_EQ(a.epochs[0].public_values.outputs, std::vector<u64>{7});
  a.expect_refused_by({{}, {"Memory"}});
}

// First store, load, second store: tokens balance in that order, only time runs backwards.
TEST(ForgeMemory, StaleReadWithTokensRerouted) {
  Attack a(store_twice(), load_seven);
  a.record(ChipId::kStore, kSecondStore).t_mem = memory_time(kLoad);
  a.boundary(kCell).fini_ts = memory_time(kSecondStore);
  a.expect_refused_by({{}, {"Range16"}});
}

// A refresh row that goes back in time lets the second store take a token from its past.
TEST(ForgeMemory, StaleReadBehindARefreshIntoThePast) {
  Attack a(store_twice(), load_seven);
  const u32 before_store = memory_time(kSecondStore) - 1;
  a.record(ChipId::kStore, kSecondStore).t_mem = before_store;
  a.boundary(kCell).fini_ts = memory_time(kSecondStore);
  a.epochs[0].refresh.push_back({kCell, memory_time(kLoad), before_store, 0, 7});
  a.expect_refused_by({{}, {"Range16"}});
}

TEST(ForgeMemory, RefreshThatChangesTheValue) {
  Attack a(store_twice(), [](Step& s) {
    if (!s.is_at(Op::kLd)) return;
    s.record.mem = s.rd_value = 8;
    s.record.t_mem = memory_time(kLoad) - 1;
  });
  a.epochs[0].refresh.push_back({kCell, memory_time(kSecondStore), memory_time(kLoad) - 1, 0, 9});
  a.expect_refused_by({{}, {"Memory"}});
}

// A refresh that no wide gap asks for changes nothing, and is accepted.
TEST(ForgeMemory, NeedlessRefreshIsHarmless) {
  Attack a(store_twice());
  a.record(ChipId::kLd, kLoad).t_mem = memory_time(kLoad) - 1;
  a.epochs[0].refresh.push_back({kCell, memory_time(kSecondStore), memory_time(kLoad) - 1, 0, 9});
  const Attempt attempt = a.run();
  EXPECT_TRUE(attempt.result.ok()) << text(attempt.result);
  EXPECT_EQ(outputs_of(attempt.bundle), std::vector<u64>{9});
}

TEST(ForgeMemory, WideGapWithoutRefresh) {
  Guest g(store_in_cycle((1u << 15) - 1));
  g.params.epoch_size_log2 = 15;
  auto epochs = run_faulty(g, {});
  EXPECT_EQ(std::erase_if(epochs[0].refresh, [](const RefreshRecord& r) { return r.key == kCell; }),
            1u);
  epochs[0].instructions[static_cast<u32>(ChipId::kStore)][0].t_mem = 0;
  expect_epoch_refused(forge_run(g, epochs), 0, {{}, {"Range16"}});
}

TEST(ForgeMemory, StoreThatStoresNothing) {
  Attack a(store_twice(), [](Step& s) {
    if (s.is_at(Op::kSd) && s.cycle == kSecondStore) s.stored = s.record.mem;
  });
  a.word(ChipId::kStore, kSecondStore, StoreAir::kNewLo, 7);
  a.expect_refused_by({{"store.cell.lo"}, {}});
}

TEST(ForgeMemory, LoadOfSomethingElse) {
  // The cell's token is right, rd is not: LD moves the very columns.
  Attack a(store_twice(), [](Step& s) {
    if (s.is_at(Op::kLd)) s.rd_value = 8;
  });
  a.expect_refused_by({{}, {"Memory"}});
}

TEST(ForgeMemory, BoundaryRowDroppedChangedOrDoubled) {
  Attack dropped(store_twice());
  std::erase_if(dropped.epochs[0].boundary, [](const BoundaryRecord& b) { return b.key == kCell; });
  dropped.expect_refused_by({{}, {"Memory"}});
  Attack unreal(store_twice());
  unreal.cell_at_row(ChipId::kBoundary, unreal.boundary_row(kCell), BoundaryAir::kIsReal, fp(0));
  unreal.expect_refused_by({{}, {"Memory"}});
  Attack fini(store_twice());
  fini.boundary(kCell).fini = 7;
  fini.expect_refused_by({{}, {"Memory"}});
  Attack time(store_twice());
  time.boundary(kCell).fini_ts += 1;
  time.expect_refused_by({{}, {"Memory"}});
  Attack twice(store_twice());
  twice.epochs[0].boundary.push_back(twice.boundary(kCell));
  twice.expect_refused_by({{}, {"Memory"}});
}

TEST(ForgeMemory, BoundaryTwinsOfMultiplicityOneAndMinusOne) {
  Attack a(store_twice());
  const BoundaryRecord row = a.boundary(kCell);
  const size_t at = a.epochs[0].boundary.size();
  a.epochs[0].boundary.insert(a.epochs[0].boundary.end(), 2, row);
  a.cell_at_row(ChipId::kBoundary, at, BoundaryAir::kIsReal, minus(1));
  a.expect_refused_by({{"boundary.flag.real_is_bool"}, {}});
}

// --- widths and alignment ----------------------------------------------------------------------

/// The data cell's address in t0, `access` (a word), emit a0, exit 0. The access is in cycle 1.
std::vector<u32> access_program(u32 access) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kDataBase);
  code.push_back(access);
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  return code;
}
constexpr u32 kAccessCycle = 1;

/// Moves the misaligned access into the aligned chip's table.
void move_to(Attack& a, ChipId chip) {
  a.records(chip).push_back(a.epochs[0].unaligned.at(0).base);
  a.epochs[0].unaligned.clear();
}

TEST(ForgeAlignment, LwBetweenTheWords) {
  // Offset 2 as 4 * (1/2); the word is then the mean of the cell's words.
  const Fp mean = (fp(kDataValue & 0xffffffff) + fp(kDataValue >> 32)) * half();
  ASSERT_LT(mean.value(), 1ull << 31) << "choose a cell whose words add up to an even number";
  Attack a(access_program(test::lw(10, test::kT0, 2)), [&](Step& s) {
    if (s.is_at(Op::kLw)) s.rd_value = mean.value();
  });
  move_to(a, ChipId::kLw);
  a.cell(ChipId::kLw, kAccessCycle, LwAir::kIsHigh, half());
  a.cell(ChipId::kLw, kAccessCycle, LwAir::kWord, mean);
  a.cell(ChipId::kLw, kAccessCycle, LwAir::kTop, fp(mean.value() >> 16));
  a.cell(ChipId::kLw, kAccessCycle, LwAir::kSign, fp(0));
  a.expect_refused_by({{"lw.address.high_is_bool"}, {}});
}

TEST(ForgeAlignment, LdBetweenTheCells) {
  // The second word lies in the next cell; LD takes all of this one.
  const auto take_first_cell = [](Step& s) {
    if (s.stage == Step::Stage::kOperands && s.instruction.op == Op::kLd) s.address = kDataBase;
  };
  Attack plain(access_program(test::ld(10, test::kT0, 4)), take_first_cell);
  plain.expect_refused_by({{"ld.address.carry", "ld.address.carry_out"}, {}});
  // cell + 1/2 makes the address right; the key then is no cell's.
  Attack a(access_program(test::ld(10, test::kT0, 4)), take_first_cell);
  a.cell(ChipId::kLd, kAccessCycle, LdAir::kCell, fp(kDataBase / 8 % 8192) + half());
  a.expect_refused_by({{}, {"Memory", "Align"}});
}

TEST(ForgeAlignment, SdInTheHighWord) {
  // SD and SW's high word at once: the flags' products make a cell of neither.
  const u64 value = 0x500000006ull;
  std::vector<u32> code;
  load_immediate(code, test::kT0, kDataBase);
  code.push_back(addi(test::kT1, 0, 5));
  code.push_back(test::i_type(0x1013, test::kT1, test::kT1, 32));
  code.push_back(addi(test::kT1, test::kT1, 6));
  code.push_back(test::sd(test::kT1, test::kT0, 4));
  exit_with(code, 0);
  const u64 lo = kDataValue & 0xffffffff, hi = kDataValue >> 32;
  const Fp new_hi = fp(hi) + (fp(value >> 32) - fp(hi)) + (fp(value & 0xffffffff) - fp(hi));
  Attack a(code, [&](Step& s) {
    if (s.instruction.op != Op::kSd) return;
    if (s.stage == Step::Stage::kOperands) s.address = kDataBase;
  });
  a.cell(ChipId::kStore, 4, StoreAir::kIsHigh, fp(1));
  a.cell(ChipId::kStore, 4, StoreAir::kNewLo, fp(lo));
  a.cell(ChipId::kStore, 4, StoreAir::kNewHi, new_hi);
  const size_t row = a.boundary_row(kDataBase / 8);
  a.cell_at_row(ChipId::kBoundary, row, BoundaryAir::kFiniLo, fp(lo));
  a.cell_at_row(ChipId::kBoundary, row, BoundaryAir::kFiniHi, new_hi);
  a.expect_refused_by({{"store.address.sd_is_aligned"}, {}});
}

TEST(ForgeAlignment, AlignedAccessInTheUnalignedChip) {
  Attack a(access_program(test::ld(10, test::kT0, 0)));
  a.epochs[0].unaligned.push_back({a.records(ChipId::kLd).at(0), 0, 0, 0});
  a.records(ChipId::kLd).clear();
  a.expect_refused_by({{"unaligned.address.not_8_aligned", "unaligned.second.reached"}, {}});
}

// LHU at offset 1 in the aligned chip: the bits of byte 2 less one, so bytes 2 and 3, swapped.
TEST(ForgeAlignment, HalfwordAtAnOddAddress) {
  const u64 swapped = (kDataValue >> 16 & 0xff) << 8 | (kDataValue >> 24 & 0xff);
  Attack a(access_program(test::i_type(0x5003, 10, test::kT0, 1)), [&](Step& s) {
    if (s.instruction.op != Op::kLhu) return;
    s.address = kDataBase;
    s.rd_value = swapped;
  });
  a.cell(ChipId::kLbh, kAccessCycle, LbhAir::kResultLo, fp(swapped));
  a.expect_refused_by({{"lbh.address.half_is_even"}, {}});
}

TEST(ForgeWidth, HighBytesOfAnUnsignedLoad) {
  const u64 lo = kDataValue & 0xffffffff;
  Attack a(access_program(test::i_type(0x6003, 10, test::kT0, 0)), [&](Step& s) {
    if (s.is_at(Op::kLwu)) s.rd_value = lo | 0xffffffffull << 32;
  });
  a.cell(ChipId::kLw, kAccessCycle, LwAir::kSign, fp(1));
  a.expect_refused_by({{"lw.sign.sign_unused"}, {}});
}

TEST(ForgeWidth, ByteStoreThatReachesItsNeighbour) {
  Attack a(access_program(test::sb(test::kT0, test::kT0, 0)), [](Step& s) {
    if (s.is_at(Op::kSb)) s.stored ^= 0x100;
  });
  a.cell(ChipId::kStoreNarrow, kAccessCycle, StoreNarrowAir::kNewLo,
         fp((kDataValue & 0xffffff00) ^ 0x100));
  a.expect_refused_by({{"store_narrow.cell.lo"}, {}});
}

// --- addresses ---------------------------------------------------------------------------------

TEST(ForgeAddress, HighWordDropped) {
  // t0 = 2^32 + the data cell's address; the load takes the data cell.
  std::vector<u32> code;
  code.push_back(addi(test::kT0, 0, 1));
  code.push_back(test::i_type(0x1013, test::kT0, test::kT0, 32));
  load_immediate(code, test::kT1, kDataBase);
  code.push_back(test::add(test::kT0, test::kT0, test::kT1));
  code.push_back(test::ld(10, test::kT0, 0));
  exit_with(code, 0);
  Attack a(code, [](Step& s) {
    if (s.stage == Step::Stage::kOperands && s.instruction.op == Op::kLd) s.address &= 0xffffffff;
  });
  a.expect_refused_by({{"ld.address.carry_out"}, {}});
}

TEST(ForgeAddress, AnotherCell) {
  Attack a(store_twice(), [](Step& s) {
    if (s.stage == Step::Stage::kOperands && s.instruction.op == Op::kLd) s.address += 8;
  });
  a.expect_refused_by({{}, {"Memory"}});
  Attack patched(store_twice(), [](Step& s) {
    if (s.stage == Step::Stage::kOperands && s.instruction.op == Op::kLd) s.address += 8;
  });
  patched.cell(ChipId::kLd, kLoad, LdAir::kCell, fp((kCell + 1) % 8192));
  patched.expect_refused_by({{"ld.address.carry", "ld.address.carry_out"}, {}});
}

TEST(ForgeAddress, CellAndPageOutOfRange) {
  // One page less and 2^13 cells more is the same address and the same key.
  Attack a(store_twice());
  a.cell(ChipId::kLd, kLoad, LdAir::kCell, fp(kCell % 8192 + 8192));
  a.cell(ChipId::kLd, kLoad, LdAir::kPage, fp(kCell / 8192) - fp(1));
  a.expect_refused_by({{}, {"Align"}});
}

}  // namespace
}  // namespace epochd::testing
