// Replay's records against the machine stepped one instruction at a time: every access receives a
// token that exists, every value is the machine's, and the epochs fit together however the run is
// cut.
#include "epoch/exec/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "epoch/capsule/stitch.hpp"
#include "epoch/exec/access_shape.hpp"
#include "tests/epoch/exec/exec_support.hpp"

namespace epochd::test {
namespace {

constexpr u32 kOneGap = 1u << 16;

struct Token {
  u32 time = 0;
  u64 value = 0;
  bool operator==(const Token&) const = default;
};

// One instruction of the epoch, whichever chip's.
struct AnyRecord {
  ChipId chip;
  InstructionRecord base;
  u64 mem2 = 0;
  u32 t_mem2 = 0;
};

std::vector<AnyRecord> in_time_order(const EpochRecords& records) {
  std::vector<AnyRecord> all;
  for (u32 chip = 0; chip < kInstructionChipCount; ++chip) {
    u32 last = 0;
    for (const InstructionRecord& r : records.instructions[chip]) {
      EXPECT_GT(r.ts, last) << "records stand in execution order";
      last = r.ts;
      all.push_back({static_cast<ChipId>(chip), r});
    }
  }
  for (const UnalignedRecord& r : records.unaligned) {
    all.push_back({ChipId::kUnaligned, r.base, r.mem2, r.t_mem2});
  }
  std::sort(all.begin(), all.end(),
            [](const AnyRecord& a, const AnyRecord& b) { return a.base.ts < b.base.ts; });
  return all;
}

// Follows every token of one epoch beside a scout that steps through the same run.
class EpochChecker {
 public:
  EpochChecker(const Program& program, const EpochRecords& records, Scout& machine)
      : program_(program), records_(records), machine_(machine) {}

  void check() {
    for (const BoundaryRecord& b : records_.boundary) {
      EXPECT_EQ(b.init, current(b.key)) << "key " << b.key;
      EXPECT_TRUE(tokens_.emplace(b.key, Token{0, b.init}).second);
    }
    EXPECT_TRUE(std::is_sorted(records_.boundary.begin(), records_.boundary.end(),
                               [](const auto& a, const auto& b) { return a.key < b.key; }));
    EXPECT_EQ(records_.public_values.pc_in, machine_.state().pc);
    u32 ts = kFirstTs;
    for (const AnyRecord& r : in_time_order(records_)) {
      ASSERT_EQ(r.base.ts, ts) << "one record a cycle";
      check_instruction(r);
      if (testing::Test::HasFailure()) return;
      ts += kTicksPerCycle;
    }
    EXPECT_EQ(ts, kFirstTs + kTicksPerCycle * records_.public_values.cycles);
    EXPECT_EQ(next_refresh_, records_.refresh.size());
    for (const BoundaryRecord& b : records_.boundary) {
      EXPECT_EQ(tokens_[b.key], (Token{b.fini_ts, b.fini})) << "key " << b.key;
      EXPECT_EQ(b.fini, current(b.key)) << "key " << b.key;
      EXPECT_GT(b.fini_ts, 0u);
    }
    const u32 pc = machine_.halted() ? kHaltPc : machine_.state().pc;
    EXPECT_EQ(records_.public_values.pc_out, pc);
  }

 private:
  u64 current(u32 key) const {
    return key >= kRegBase ? machine_.state().registers[key - kRegBase]
                           : machine_.memory().cell(key);
  }

  void check_instruction(const AnyRecord& r) {
    const u32 row = program_.row_index(machine_.state().pc);
    ASSERT_EQ(r.base.program_row, row);
    const ProgramRow& p = program_.rows()[row];
    const bool is_ecall = p.op == Op::kEcall;
    const AccessShape shape = access_shape(p.op);
    const u32 rs1 = kRegBase + (is_ecall ? 17 : p.rs1), rs2 = kRegBase + (is_ecall ? 10 : p.rs2);
    const bool emits = is_ecall && current(kRegBase + 17) == kSyscallEmit;
    const u64 address = current(rs1) + p.imm;
    const u32 bytes = access_bytes(p.op);
    const bool misaligned = bytes != 0 && address % bytes != 0;
    const bool crosses = misaligned && address % 8 + bytes > 8;
    ASSERT_EQ(r.chip, misaligned ? ChipId::kUnaligned : chip_of(p.op));
    const u32 cell = static_cast<u32>(address / 8);
    const u32 rd = is_ecall ? kOutputCounterKey : kRegBase + p.rd;
    const bool writes_rd = shape.rd || emits;

    const InstructionRecord& b = r.base;
    if (shape.rs1) receive(rs1, b.ts + kSubRs1, b.t_rs1, b.rs1);
    if (shape.rs2) receive(rs2, b.ts + kSubRs2, b.t_rs2, b.rs2);
    if (shape.mem) receive(cell, b.ts + kSubMem, b.t_mem, b.mem);
    if (crosses) receive(cell + 1, b.ts + kSubMem, r.t_mem2, r.mem2);
    if (writes_rd) receive(rd, b.ts + kSubRd, b.t_rd, b.rd_old);
    expect_unused_are_zero(r, shape, writes_rd, crosses);

    ASSERT_TRUE(machine_.run_epoch(1).has_value());
    if (shape.mem) tokens_[cell].value = current(cell);
    if (crosses) tokens_[cell + 1].value = current(cell + 1);
    if (writes_rd) tokens_[rd].value = current(rd);
  }

  static void expect_unused_are_zero(const AnyRecord& r, const AccessShape& shape, bool writes_rd,
                                     bool crosses) {
    const InstructionRecord& b = r.base;
    if (!shape.rs1) {
      EXPECT_EQ(b.rs1 | b.t_rs1, 0u);
    }
    if (!shape.rs2) {
      EXPECT_EQ(b.rs2 | b.t_rs2, 0u);
    }
    if (!shape.mem) {
      EXPECT_EQ(b.mem | b.t_mem, 0u);
    }
    if (!writes_rd) {
      EXPECT_EQ(b.rd_old | b.t_rd, 0u);
    }
    if (!crosses) {
      EXPECT_EQ(r.mem2 | r.t_mem2, 0u);
    }
  }

  // The access at `time` must find exactly the token (previous, value), near enough.
  void receive(u32 key, u32 time, u32 previous, u64 value) {
    ASSERT_TRUE(tokens_.contains(key)) << "key " << key << " has no boundary row";
    Token& token = tokens_[key];
    if (next_refresh_ < records_.refresh.size()) {
      const RefreshRecord& f = records_.refresh[next_refresh_];
      if (f.key == key && f.t_to == time - 1) {
        EXPECT_EQ(token, (Token{f.t_from, f.value}));
        EXPECT_GE(time - f.t_from - 1, kOneGap) << "a refresh nobody needs";
        token.time = f.t_to;
        ++next_refresh_;
      }
    }
    EXPECT_EQ(token, (Token{previous, value})) << "key " << key << " at " << time;
    EXPECT_LT(time - previous - 1, kOneGap);
    token.time = time;
  }

  const Program& program_;
  const EpochRecords& records_;
  Scout& machine_;
  std::map<u32, Token> tokens_;
  size_t next_refresh_ = 0;
};

// Runs a guest in epochs, replays each and checks it; also what passes from epoch to epoch.
struct CheckedRun {
  std::vector<u64> outputs;
  u64 exit_code = 0;
  u64 cycles = 0;
  u32 epochs = 0;
  u64 refreshes = 0;
  bool halted = false;
};

CheckedRun check_run(const Guest& guest, const std::vector<u8>& input, u32 cycles_per_epoch,
                     u32 epochs_max = ~0u, const AreaModel& area = {}) {
  auto scout = Scout::create(guest.code, input, area);
  auto stepped = Scout::create(guest.code, input);
  Stitch stitch{prover::Digest{}};
  Replayer replayer(guest.code);
  EpochRecords records;
  std::map<u32, u32> label_of;
  CheckedRun run;
  while (!scout->halted() && run.epochs < epochs_max && !testing::Test::HasFailure()) {
    auto epoch = scout->run_epoch(cycles_per_epoch);
    if (!epoch) {
      ADD_FAILURE() << epoch.error().message();
      return run;
    }
    const Capsule capsule = stitch.seal(*epoch);
    const auto error = replayer.run(capsule, records);
    EXPECT_FALSE(error.has_value()) << error->message;
    const EpochPublic& values = records.public_values;
    EXPECT_EQ(values.label, run.epochs + 1);
    EXPECT_EQ(values.is_final, scout->halted());
    EXPECT_EQ(values.cycles, epoch->cycles);
    EXPECT_EQ(values.outputs, epoch->outputs);
    EXPECT_EQ(values.out_in, run.outputs.size());
    EpochChecker(guest.program, records, *stepped).check();
    for (const BoundaryRecord& b : records.boundary) {
      EXPECT_EQ(b.init_epoch, label_of[b.key]) << "key " << b.key;
      label_of[b.key] = values.label;
    }
    EXPECT_TRUE(std::is_sorted(records.refresh.begin(), records.refresh.end(),
                               [](const auto& a, const auto& b) {
                                 return std::pair(a.t_to, a.key) < std::pair(b.t_to, b.key);
                               }));
    run.outputs.insert(run.outputs.end(), values.outputs.begin(), values.outputs.end());
    run.exit_code = values.exit_code;
    run.cycles += values.cycles;
    run.refreshes += records.refresh.size();
    ++run.epochs;
  }
  run.halted = scout->halted();
  return run;
}

TEST(Replay, RecordsAreTheMachinesWhereverTheRunIsCut) {
  struct Case {
    const char* name;
    std::vector<u64> input;
  };
  for (const Case& c : {Case{"sort.elf", {42, 40}}, Case{"fib.elf", {900}}, Case{"sha256.elf", {1}},
                        Case{"misaligned.elf", {}}}) {
    SCOPED_TRACE(c.name);
    const Guest guest(read_guest_file(c.name));
    const std::vector<u8> input = bytes_of_words(c.input);
    auto whole = Scout::create(guest.code, input);
    const FullRun expected = run_to_end(*whole);
    for (const u32 log2 : {5u, 8u, 20u}) {
      SCOPED_TRACE("epochs of 2^" + std::to_string(log2));
      const CheckedRun run = check_run(guest, input, 1u << log2);
      EXPECT_TRUE(run.halted);
      EXPECT_EQ(run.outputs, expected.outputs);
      EXPECT_EQ(run.exit_code, expected.exit_code);
      EXPECT_EQ(run.cycles, expected.cycles);
      EXPECT_EQ(run.epochs, (run.cycles + (1u << log2) - 1) >> log2);
    }
    AreaModel area;
    area.per_op.fill(7);
    area.unaligned = 31;
    area.cap = 1000;
    const CheckedRun capped = check_run(guest, input, 1u << 20, ~0u, area);
    EXPECT_EQ(capped.outputs, expected.outputs);
    EXPECT_GE(capped.epochs, expected.cycles * 7 / 1000);
  }
}

TEST(Replay, EveryInstructionOverEdgeValues) {
  const Guest guest(read_guest_file("alledge.elf"));
  const CheckedRun run = check_run(guest, {}, 1u << 16, 3);
  EXPECT_EQ(run.epochs, 3u);
}

TEST(Replay, LongGapsAreRefreshed) {
  // sort's code keeps sp, ra and early values untouched for more than 2^14 cycles.
  const Guest guest(read_guest_file("sort.elf"));
  const CheckedRun run = check_run(guest, bytes_of_words({1, 900}), 1u << 20);
  EXPECT_TRUE(run.halted);
  EXPECT_GT(run.refreshes, 100u);
}

// Replays `words` as one epoch of all their cycles.
EpochRecords records_of(const std::vector<u32>& words, u32 cycles) {
  const auto guest = guest_of_words(words);
  auto scout = Scout::create(guest->code, {});
  auto epoch = scout->run_epoch(cycles);
  EXPECT_TRUE(epoch.has_value() && epoch->cycles == cycles);
  Stitch stitch{prover::Digest{}};
  Replayer replayer(guest->code);
  EpochRecords records;
  const auto error = replayer.run(stitch.seal(*epoch), records);
  EXPECT_FALSE(error.has_value()) << error->message;
  return records;
}

std::vector<u32> nops_between(u32 first, size_t nops, u32 last) {
  std::vector<u32> words = {first};
  words.insert(words.end(), nops, kNop);
  words.push_back(last);
  return words;
}

TEST(Replay, RefreshStartsAtAGapOf65536) {
  struct Case {
    u32 first, last;
    u32 reg;
    u32 time_first;  // of the access of `first`, in cycle 0
    u32 sub_last;    // sub-step of the access of `last`
    size_t nops;
    bool refreshed;
  };
  const u32 write5 = addi(5, 0, 9), read5 = addi(6, 5, 0), read5_rs2 = add(6, 0, 5);
  const u32 nothing = kNop;
  const Case cases[] = {
      {write5, read5, 5, 4, kSubRs1, 16383, false},      // gap 65532
      {write5, read5, 5, 4, kSubRs1, 16384, true},       // gap 65536
      {write5, read5_rs2, 5, 4, kSubRs2, 16383, false},  // gap 65533
      {write5, read5_rs2, 5, 4, kSubRs2, 16384, true},
      {read5, write5, 5, 1, kSubRd, 16382, false},    // gap 65534
      {read5, write5, 5, 1, kSubRd, 16383, true},     // gap 65538
      {nothing, read5, 5, 0, kSubRs1, 16382, false},  // first touch, gap 65532
      {nothing, read5, 5, 0, kSubRs1, 16383, true},   // first touch, gap 65536
      {nothing, write5, 5, 0, kSubRd, 16382, false},  // first touch, gap 65535
      {nothing, write5, 5, 0, kSubRd, 16383, true},
  };
  for (const Case& c : cases) {
    const u32 time = kFirstTs + kTicksPerCycle * static_cast<u32>(c.nops + 1) + c.sub_last;
    SCOPED_TRACE("gap " + std::to_string(time - c.time_first - 1));
    const auto words = nops_between(c.first, c.nops, c.last);
    const EpochRecords records = records_of(words, static_cast<u32>(words.size()));
    std::vector<RefreshRecord> of_register;
    for (const RefreshRecord& f : records.refresh) {
      if (f.key == kRegBase + c.reg) of_register.push_back(f);
    }
    ASSERT_EQ(of_register.size(), c.refreshed ? 1u : 0u);
    if (!c.refreshed) continue;
    EXPECT_EQ(of_register[0].t_from, c.time_first);
    EXPECT_EQ(of_register[0].t_to, time - 1);
    EXPECT_EQ(of_register[0].value, c.first == write5 ? 9u : 0u);
    EXPECT_EQ(of_register[0].reserved, 0u);
  }
}

TEST(Replay, RefreshesOfOneInstructionStandInTimeAndKeyOrder) {
  // sd x6, 4(x5) crosses: x5, x6 and both cells were touched one gap ago.
  const u32 store = sd(6, 5, 4);
  std::vector<u32> words = {auipc(5, 1), store};
  words.insert(words.end(), 17000, kNop);
  words.push_back(store);
  const EpochRecords records = records_of(words, static_cast<u32>(words.size()));
  const u32 ts = kFirstTs + kTicksPerCycle * static_cast<u32>(words.size() - 1);
  const u32 cell = (kTextBase + 0x1000) / 8;
  ASSERT_EQ(records.refresh.size(), 4u);
  const std::pair<u32, u32> expected[] = {
      {ts - 1, kRegBase + 5}, {ts, kRegBase + 6}, {ts + 1, cell}, {ts + 1, cell + 1}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::pair(records.refresh[i].t_to, records.refresh[i].key), expected[i]);
  }
  ASSERT_EQ(records.unaligned.size(), 2u);
  EXPECT_EQ(records.unaligned[1].base.t_mem, ts + 1);
  EXPECT_EQ(records.unaligned[1].t_mem2, ts + 1);
}

TEST(Replay, UnalignedRecordsHoldWholeCells) {
  const u32 base = 0x1000;  // auipc's page: beyond the text, zeros
  std::vector<u32> words = {auipc(5, base >> 12), addi(6, 0, -1), sd(6, 5, 4),
                            i_type(0x1003, 7, 5, 9),   // lh in the second cell
                            i_type(0x5003, 7, 5, 3)};  // lhu in the first
  const EpochRecords records = records_of(words, 5);
  ASSERT_EQ(records.unaligned.size(), 3u);
  const auto& store = records.unaligned[0];
  EXPECT_EQ(store.base.ts, 9u);
  EXPECT_EQ(store.base.rs2, ~0ull);
  EXPECT_EQ(store.base.mem | store.mem2 | store.base.t_mem | store.t_mem2, 0u);
  const auto& second = records.unaligned[1];
  EXPECT_EQ(second.base.mem, 0x00000000ffffffffu);
  EXPECT_EQ(second.base.t_mem, 9u + kSubMem);
  EXPECT_EQ(second.mem2 | second.t_mem2, 0u);
  const auto& first = records.unaligned[2];
  EXPECT_EQ(first.base.mem, 0xffffffff00000000u);
  EXPECT_EQ(first.base.rd_old, ~0ull) << "lh of ff ff";
}

TEST(Replay, EcallRecords) {
  std::vector<u32> words = {addi(kA0, 0, 5)};
  append(words, system_call(1));
  append(words, system_call(2));
  append(words, system_call(93));
  const EpochRecords records = records_of(words, static_cast<u32>(words.size()));
  const auto& ecalls = records.instructions[static_cast<size_t>(ChipId::kEcall)];
  ASSERT_EQ(ecalls.size(), 3u);
  EXPECT_EQ(ecalls[0].ts, 9u);
  EXPECT_EQ(ecalls[0].rs1, 1u);
  EXPECT_EQ(ecalls[0].rs2, 5u);
  EXPECT_EQ(ecalls[0].t_rs1, 5u + kSubRd);
  EXPECT_EQ(ecalls[0].t_rs2, 1u + kSubRd);
  EXPECT_EQ(ecalls[0].rd_old, 0u);
  EXPECT_EQ(ecalls[1].rs1, 2u);
  EXPECT_EQ(ecalls[1].t_rd | ecalls[1].rd_old, 0u);
  EXPECT_EQ(ecalls[2].rs1, 93u);
  EXPECT_EQ(ecalls[2].t_rs2, 17u + kSubRs2);
  EXPECT_EQ(records.public_values.exit_code, 5u);
  EXPECT_EQ(records.public_values.outputs, std::vector<u64>{5});
  EXPECT_EQ(records.public_values.pc_out, kHaltPc);
  const BoundaryRecord* counter = nullptr;
  for (const auto& b : records.boundary) counter = b.key == kOutputCounterKey ? &b : counter;
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(counter->fini, 1u);
  EXPECT_EQ(counter->fini_ts, 9u + kSubRd);
}

TEST(AccessShape, IsThatOfEachChip) {
  const AccessShape three{.rs1 = true, .rs2 = true, .rd = true};
  const AccessShape rs1_rd{.rs1 = true, .rd = true}, sources{.rs1 = true, .rs2 = true};
  const AccessShape load{.rs1 = true, .mem = true, .rd = true};
  const AccessShape store{.rs1 = true, .rs2 = true, .mem = true};
  const std::map<ChipId, std::pair<AccessShape, u32>> expected = {
      {ChipId::kAdd, {three, 2}},     {ChipId::kAddi, {rs1_rd, 1}},
      {ChipId::kAddw, {three, 2}},    {ChipId::kBitwise, {three, 3}},
      {ChipId::kCompare, {three, 2}}, {ChipId::kShiftImm, {rs1_rd, 6}},
      {ChipId::kShift, {three, 6}},   {ChipId::kBeq, {sources, 2}},
      {ChipId::kBlt, {sources, 4}},   {ChipId::kJal, {{.rd = true}, 1}},
      {ChipId::kJalr, {rs1_rd, 1}},   {ChipId::kLd, {load, 1}},
      {ChipId::kLw, {load, 2}},       {ChipId::kLbh, {load, 4}},
      {ChipId::kStore, {store, 2}},   {ChipId::kStoreNarrow, {store, 2}},
      {ChipId::kMul, {three, 5}},     {ChipId::kDivrem, {three, 8}},
      {ChipId::kEcall, {sources, 1}}};
  std::map<ChipId, u32> operations;
  for (u32 i = 1; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const ChipId chip = chip_of(op);
    ++operations[chip];
    ASSERT_TRUE(expected.contains(chip));
    EXPECT_EQ(access_shape(op), expected.at(chip).first) << i;
    EXPECT_EQ(access_bytes(op) != 0, access_shape(op).mem) << i;
    EXPECT_EQ(is_store(op), chip == ChipId::kStore || chip == ChipId::kStoreNarrow) << i;
  }
  for (const auto& [chip, shape] : expected) EXPECT_EQ(operations[chip], shape.second);
}

}  // namespace
}  // namespace epochd::test
