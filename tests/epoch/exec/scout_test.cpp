// The scout's edges: faults, system calls, the address space, where epochs end and what they touch.
#include "epoch/exec/scout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "epoch/exec/access_shape.hpp"
#include "tests/epoch/exec/exec_support.hpp"

namespace epochd::test {
namespace {

using Kind = GuestFault::Kind;

// Constants of 64 bits for register `rd`, by loads from the text itself.
std::vector<u32> with_constants(const std::vector<std::pair<u32, u64>>& registers,
                                const std::vector<u32>& body) {
  std::vector<u32> code = {auipc(31, 0)};
  const i32 table = static_cast<i32>(4 * (1 + registers.size() + body.size() + 1) / 8 * 8 + 8);
  for (size_t i = 0; i < registers.size(); ++i) {
    code.push_back(ld(registers[i].first, 31, table + static_cast<i32>(8 * i)));
  }
  append(code, body);
  while (code.size() * 4 < static_cast<size_t>(table)) code.push_back(kEbreak);
  for (const auto& [reg, value] : registers) {
    append(code, {static_cast<u32>(value), static_cast<u32>(value >> 32)});
  }
  return code;
}

GuestFault fault_of(const Guest& guest) {
  auto scout = Scout::create(guest.code, {});
  auto epoch = scout->run_epoch(1000);
  if (epoch) {
    ADD_FAILURE() << "no fault";
    return {};
  }
  return epoch.error();
}

void expect_fault(const std::vector<u32>& words, Kind kind, u32 pc_offset, u64 address) {
  const auto guest = guest_of_words(words);
  const GuestFault fault = fault_of(*guest);
  EXPECT_EQ(static_cast<int>(fault.kind), static_cast<int>(kind)) << fault.message();
  EXPECT_EQ(fault.pc, kTextBase + pc_offset) << fault.message();
  EXPECT_EQ(fault.address, address) << fault.message();
}

TEST(Scout, AccessesStayBetween0x1000And4GiB) {
  struct Case {
    u32 word;  // x5 is the base
    u64 base;
    bool good;
    u64 address;
  };
  const u32 kSdHere = sd(6, 5, 0), kLbHere = i_type(0x0003, 6, 5, 0);
  const u32 kShHere = s_type(0x1023, 6, 5, 0), kLwHere = lw(6, 5, 0);
  const Case cases[] = {
      {kSdHere, 0x1000, true, 0},
      {kSdHere, 0xfff, false, 0xfff},
      {kLbHere, 0xfff, false, 0xfff},
      {kLbHere, 0, false, 0},
      {kSdHere, 0xfffffff8, true, 0},
      {kSdHere, 0xfffffff9, false, 0xfffffff9},
      {kSdHere, 0xfffffffd, false, 0xfffffffd},
      {kLwHere, 0xfffffffc, true, 0},
      {kLwHere, 0xfffffffd, false, 0xfffffffd},
      {kShHere, 0xfffffffe, true, 0},
      {kShHere, 0xffffffff, false, 0xffffffff},
      {kLbHere, 0xffffffff, true, 0},
      {kLbHere, 1ull << 32, false, 1ull << 32},
      {kLbHere, ~0ull, false, ~0ull},
      {sd(6, 5, -8), 4, false, ~0ull - 3},
      {ld(6, 5, 8), ~0ull - 0x7, false, 0},
      {ld(6, 5, 2047), ~0ull, false, 2046},
      {sd(6, 5, 2047), 0x1000 - 2047, true, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << std::hex << c.word << " at " << c.base);
    std::vector<u32> body = {c.word, addi(kA7, 0, 93), kEcall};
    const auto words = with_constants({{5, c.base}}, body);
    if (!c.good) {
      expect_fault(words, Kind::kAccess, 8, c.address);
      continue;
    }
    const auto guest = guest_of_words(words);
    auto scout = Scout::create(guest->code, {});
    EXPECT_TRUE(scout->run_epoch(100).has_value());
    EXPECT_TRUE(scout->halted());
  }
}

TEST(Scout, JumpsOutsideTheCodeFaultWhereTheyLand) {
  expect_fault(with_constants({{5, 0x12345678}}, {jalr(1, 5, 0)}), Kind::kNoInstruction,
               0x12345678 - kTextBase, 0);
  expect_fault(with_constants({{5, 1ull << 32}}, {jalr(1, 5, 0)}), Kind::kJumpTarget, 8,
               1ull << 32);
  expect_fault(with_constants({{5, (1ull << 32) - 1}}, {jalr(1, 5, 2)}), Kind::kJumpTarget, 8,
               1ull << 32);
  expect_fault({jal(0, 0x1000)}, Kind::kNoInstruction, 0x1000, 0);
  expect_fault({b_type(0x0063, 0, 0, 6), kNop}, Kind::kNoInstruction, 6, 0);
  expect_fault({jal(0, -8)}, Kind::kNoInstruction, ~0u - 7, 0);
}

// Instructions stand at multiples of 4. A target that is none faults at the jump, as the ISA manual
// says, and rd keeps its value.
TEST(Scout, JalrToNoMultipleOf4FaultsAtTheJump) {
  for (const i32 offset : {2, 3, 6, -2, -1}) {
    SCOPED_TRACE(offset);
    const auto words = with_constants({{5, kTextBase}}, {jalr(1, 5, offset), kNop});
    const u64 target = (kTextBase + static_cast<u64>(i64{offset})) & ~1ull;
    expect_fault(words, Kind::kJumpTarget, 8, target);
  }
  // Bit 0 is dropped before anything is checked.
  const auto guest = guest_of_words(
      with_constants({{5, kTextBase + 13}}, {jalr(1, 5, 0), addi(kA7, 0, 93), kEcall}));
  auto scout = Scout::create(guest->code, {});
  EXPECT_TRUE(scout->run_epoch(100).has_value());
  EXPECT_TRUE(scout->halted());

  const auto wild = guest_of_words(with_constants({{5, kTextBase + 2}}, {jalr(1, 5, 0)}));
  auto faulting = Scout::create(wild->code, {});
  const auto fault = faulting->run_epoch(100);
  ASSERT_FALSE(fault.has_value());
  EXPECT_EQ(fault.error().message(),
            "guest fault at pc 0x10008, cycle 2: jalr to 0x10002, no multiple of 4: a corrupt "
            "function pointer or return address");
  EXPECT_EQ(faulting->state().registers[1], 0u);
}

TEST(Scout, UndecodableWordsFaultWhenReached) {
  expect_fault({kEbreak}, Kind::kNoInstruction, 0, 0);
  expect_fault({kNop, 0}, Kind::kNoInstruction, 4, 0);
  expect_fault({kNop}, Kind::kNoInstruction, 4, 0);        // past the end
  expect_fault({0xc0002573}, Kind::kNoInstruction, 0, 0);  // rdcycle
  const auto guest = guest_of_words({jal(0, 8), kEbreak, addi(kA7, 0, 93), kEcall});
  auto scout = Scout::create(guest->code, {});
  EXPECT_TRUE(scout->run_epoch(100).has_value()) << "an ebreak jumped over is no fault";
}

TEST(Scout, FaultMessagesSayWhereAndWhat) {
  BuilderSegment text;
  text.address = kTextBase;
  text.bytes = little_endian({kNop, ld(6, 5, 0)});
  const Guest access(build_elf(kTextBase, {text}, {{"main", kTextBase}}));
  EXPECT_EQ(fault_of(access).message(),
            "guest fault at pc 0x10004 (main+0x4), cycle 1: ld at address 0x0 leaves [0x1000, "
            "0x100000000): a null or wild pointer");
  EXPECT_EQ(fault_of(access).word, ld(6, 5, 0));
  text.bytes = little_endian({kEbreak});
  const Guest stop(build_elf(kTextBase, {text}));
  EXPECT_EQ(
      fault_of(stop).message(),
      "guest fault at pc 0x10000, cycle 0: word 0x100073 is ebreak: the guest stopped itself");
}

TEST(Scout, UnknownSystemCallsFault) {
  for (const i32 number : {0, 3, 64, 92, 94}) {
    expect_fault(system_call(number), Kind::kSyscall, 4, static_cast<u64>(number));
  }
  expect_fault(with_constants({{kA7, 93 | 1ull << 32}}, {kEcall}), Kind::kSyscall, 8,
               93 | 1ull << 32);
}

TEST(Scout, EmitStopsAtTheCounterLimit) {
  const auto guest = guest_of_words({addi(kA7, 0, 1), kEcall, kEcall});
  auto scout = Scout::create(guest->code, {});
  MachineState state = scout->state();
  state.registers[kOutputCounterRegister] = 0xfffffffe;
  scout->set_state(state);
  auto epoch = scout->run_epoch(2);
  ASSERT_TRUE(epoch.has_value());
  EXPECT_EQ(scout->state().registers[kOutputCounterRegister], 0xffffffffu);
  auto next = scout->run_epoch(2);
  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(static_cast<int>(next.error().kind), static_cast<int>(Kind::kOutputLimit));
}

TEST(Scout, ExitAndEmit) {
  std::vector<u32> code = {addi(kA0, 0, -5)};
  append(code, system_call(1));
  append(code, {addi(kA0, 0, 7), kEcall, addi(kA0, 0, 300)});
  append(code, system_call(93));
  const auto guest = guest_of_words(code);
  auto scout = Scout::create(guest->code, {});
  auto epoch = scout->run_epoch(1000);
  ASSERT_TRUE(epoch.has_value());
  EXPECT_TRUE(epoch->is_final);
  EXPECT_EQ(epoch->pc_out, kHaltPc);
  EXPECT_EQ(epoch->cycles, code.size());
  EXPECT_EQ(epoch->exit_code, 300u);
  EXPECT_EQ(epoch->outputs, (std::vector<u64>{~0ull - 4, 7}));
  EXPECT_EQ(scout->state().registers[kOutputCounterRegister], 2u);
}

TEST(Scout, DebugNeverFaults) {
  struct Case {
    u64 address, bytes;
    std::string text;
  };
  std::vector<std::string> log;
  const Case cases[] = {{kTextBase + 1, 2, std::string("\x0f\x00", 2)},
                        {0, 10, ""},
                        {~0ull, 10, ""},
                        {0xfffffffe, 10, std::string(2, '\0')},
                        {kTextBase, 0, ""}};
  for (const Case& c : cases) {
    auto code = with_constants({{kA0, c.address}, {kA1, c.bytes}},
                               {addi(kA7, 0, 2), kEcall, addi(kA7, 0, 93), kEcall});
    const auto guest = guest_of_words(code);
    log.clear();
    auto scout =
        Scout::create(guest->code, {}, {}, [&](std::string_view t) { log.emplace_back(t); });
    EXPECT_TRUE(scout->run_epoch(100).has_value());
    const bool reachable = c.address >= kAddressMin && c.address < kAddressEnd;
    ASSERT_EQ(log.size(), reachable ? 1u : 0u);
    if (reachable) {
      EXPECT_EQ(log[0], c.text);
    }
  }
}

TEST(Scout, InputRegion) {
  // emit(length), emit(first word), emit(word after the end), exit
  std::vector<u32> code = {lui(5, 0xc0000), r_type(0x33, 5, 5, 0)};
  append(code, {i_type(0x1013, 5, 5, 32), i_type(0x5013, 5, 5, 32)});  // clear the high word
  for (const i32 at : {0, 8, 16}) {
    code.push_back(ld(kA0, 5, at));
    append(code, system_call(1));
  }
  append(code, system_call(93));
  const auto guest = guest_of_words(code);
  const std::vector<u8> input = {1, 2, 3, 4, 5};
  auto scout = Scout::create(guest->code, input);
  EXPECT_EQ(run_to_end(*scout).outputs, (std::vector<u64>{5, 0x0504030201, 0}));

  const std::span<const u8> too_large(input.data(), kInputBytesMax + 1);  // never read
  const auto refused = Scout::create(guest->code, too_large);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(static_cast<int>(refused.error().code),
            static_cast<int>(ScoutError::Code::kInputTooLarge));
}

TEST(Scout, StoresDoNotChangeInstructions) {
  // Overwrites the word of `addi a0, x0, 1` with zeros before reaching it, and reads it back.
  std::vector<u32> code = {auipc(5, 0), s_type(0x2023, 0, 5, 8), addi(kA0, 0, 1), lw(kA1, 5, 8)};
  append(code, {add(kA0, kA0, kA1)});
  append(code, system_call(93));
  const auto guest = guest_of_words(code);
  auto scout = Scout::create(guest->code, {});
  EXPECT_EQ(run_to_end(*scout).exit_code, 1u);
}

// Which keys an instruction touches, from the table's row and the access shapes of the chips.
struct NaiveTouches {
  std::set<u32> cells;
  u64 registers = 0;

  void add(const ProgramRow& row, const MachineState& before) {
    const auto& x = before.registers;
    if (row.op == Op::kEcall) {
      registers |= 1ull << 17 | 1ull << 10;
      if (x[17] == kSyscallEmit) registers |= 1ull << 32;
      return;
    }
    const AccessShape shape = access_shape(row.op);
    if (shape.rs1) registers |= 1ull << row.rs1;
    if (shape.rs2) registers |= 1ull << row.rs2;
    if (shape.rd) registers |= 1ull << row.rd;
    if (!shape.mem) return;
    const u64 address = x[row.rs1] + row.imm;
    cells.insert(static_cast<u32>(address / 8));
    cells.insert(static_cast<u32>((address + access_bytes(row.op) - 1) / 8));
  }
};

TEST(Scout, TouchesAreThoseOfTheRowsAndValuesThoseAtTheStart) {
  for (const char* name : {"misaligned.elf", "sort.elf", "keccak.elf"}) {
    SCOPED_TRACE(name);
    const Guest guest(read_guest_file(name));
    const std::vector<u8> input = bytes_of_words({42, 50});
    auto fast = Scout::create(guest.code, input);
    auto slow = Scout::create(guest.code, input);
    for (int round = 0; round < 50 && !fast->halted(); ++round) {
      const u32 cycles = 1 + 37 * static_cast<u32>(round);
      auto epoch = fast->run_epoch(cycles);
      ASSERT_TRUE(epoch.has_value());
      std::map<u32, u64> start_values;
      for (const TouchedCell& c : epoch->cells) {
        EXPECT_TRUE(start_values.emplace(c.key, slow->memory().cell(c.key)).second);
        EXPECT_EQ(c.value, start_values[c.key]) << "cell " << c.key;
      }
      NaiveTouches naive;
      for (u32 i = 0; i < epoch->cycles; ++i) {
        naive.add(guest.program.rows()[guest.program.row_index(slow->state().pc)], slow->state());
        ASSERT_TRUE(slow->run_epoch(1).has_value());
      }
      EXPECT_EQ(epoch->touched_registers, naive.registers);
      std::set<u32> cells;
      for (const auto& [key, value] : start_values) cells.insert(key);
      EXPECT_EQ(cells, naive.cells);
      if (!fast->halted()) {
        EXPECT_EQ(fast->state(), slow->state());
      }
    }
  }
}

TEST(Scout, AnEpochEndsBeforeTheAreaCap) {
  // One row costs 10, a division 25, a misaligned access 40.
  AreaModel area;
  area.per_op.fill(10);
  area.per_op[static_cast<size_t>(Op::kDiv)] = 25;
  area.unaligned = 40;
  area.cap = 100;
  const auto cycles_of = [&](const std::vector<u32>& body) {
    const auto guest = guest_of_words(body);
    auto scout = Scout::create(guest->code, {}, area);
    auto epoch = scout->run_epoch(1000);
    EXPECT_TRUE(epoch.has_value());
    EXPECT_EQ(scout->state().pc, kTextBase + 4 * epoch->cycles);
    return std::pair(epoch->cycles, epoch->area);
  };
  EXPECT_EQ(cycles_of(std::vector<u32>(20, kNop)), std::pair(10u, u64{100}));
  EXPECT_EQ(cycles_of(std::vector<u32>(20, r_type(0x02004033, 5, 6, 7))), std::pair(4u, u64{100}));
  std::vector<u32> mixed(8, kNop);
  mixed[0] = auipc(5, 0);
  mixed.resize(20, r_type(0x02004033, 6, 6, 7));  // 80, then a division would make 105
  EXPECT_EQ(cycles_of(mixed), std::pair(8u, u64{80}));
  std::vector<u32> unaligned(20, ld(6, 5, 4));
  unaligned[0] = auipc(5, 0);
  EXPECT_EQ(cycles_of(unaligned), std::pair(3u, u64{90}));  // 10 + 40 + 40
  std::vector<u32> within(20, i_type(0x1003, 6, 5, 1));     // lh inside one cell is misaligned too
  within[0] = auipc(5, 0);
  EXPECT_EQ(cycles_of(within), std::pair(3u, u64{90}));
}

TEST(Scout, TheInstructionThatDidNotFitTouchesNothing) {
  AreaModel area;
  area.per_op.fill(10);
  area.unaligned = 40;
  area.cap = 45;
  const auto guest = guest_of_words({auipc(5, 0), ld(6, 5, 4), addi(kA7, 0, 93), kEcall});
  auto scout = Scout::create(guest->code, {}, area);
  auto first = scout->run_epoch(1000);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->cycles, 1u);
  EXPECT_TRUE(first->cells.empty());
  EXPECT_EQ(first->touched_registers, 1ull << 0 | 1ull << 5);
  auto second = scout->run_epoch(1000);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->cells.size(), 2u);
  EXPECT_EQ(second->first_cycle, 1u);
}

}  // namespace
}  // namespace epochd::test
