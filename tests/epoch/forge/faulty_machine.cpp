#include "tests/epoch/forge/faulty_machine.hpp"

#include "epoch/exec/access_shape.hpp"
#include "epoch/exec/semantics.hpp"
#include "prover/core/assert.hpp"

namespace epochd::testing {
namespace {

u64 mask_of(u32 bytes) {
  return bytes == 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
}
/// `value` in the low bytes, moved to byte `offset` of a 16-byte window.
u128 placed(u64 value, u32 bytes, u64 offset) {
  return static_cast<u128>(value & mask_of(bytes)) << (8 * offset);
}

}  // namespace

bool Step::is_unaligned() const {
  const u32 bytes = access_bytes(instruction.op);
  return bytes > 1 && address % bytes != 0;
}

bool Step::crosses() const {
  return is_unaligned() && address % 8 + access_bytes(instruction.op) > 8;
}

FaultyMachine::FaultyMachine(const Guest& g, const std::vector<u8>& input)
    : g_(g), pc_(g.program->entry()) {
  for (const ImageCell& c : g.program->image_cells()) memory_[c.key].value = c.value;
  if (!input.empty()) memory_[kInputFirstCell].value = input.size();
  for (size_t i = 0; i < input.size(); ++i) {
    memory_[kInputFirstCell + 1 + static_cast<u32>(i / 8)].value |= u64{input[i]} << (8 * (i % 8));
  }
}

u64 FaultyMachine::get(u32 key) const {
  const auto it = memory_.find(key);
  return it == memory_.end() ? 0 : it->second.value;
}

/// An access at `time`: the value before it; `previous` receives the time of the token it takes.
u64 FaultyMachine::access(u32 key, u32 time, u32& previous) {
  Cell& cell = memory_[key];
  const auto [it, is_first] = tokens_.try_emplace(key, Token{cell.value, cell.label, 0});
  previous = it->second.time;
  if (time - previous - 1 >= 1u << 16) {
    out_.refresh.push_back({key, previous, time - 1, 0, cell.value});
    previous = time - 1;
  }
  it->second.time = time;
  return cell.value;
}

Step FaultyMachine::begin(u32 cycle, const Code::Entry& e) {
  Step s;
  s.instruction = e;
  s.cycle = cycle;
  s.record.program_row = e.row;
  s.record.ts = kFirstTs + kTicksPerCycle * cycle;
  s.next_pc = pc_ + 4;
  const AccessShape shape = access_shape(e.op);
  if (shape.rs1) s.record.rs1 = access(kRegBase + e.rs1, s.record.ts + kSubRs1, s.record.t_rs1);
  if (shape.rs2) s.record.rs2 = access(kRegBase + e.rs2, s.record.ts + kSubRs2, s.record.t_rs2);
  if (shape.mem) s.address = s.record.rs1 + e.imm;
  return s;
}

void FaultyMachine::reach_memory(Step& s) {
  const u32 time = s.record.ts + kSubMem;
  const u32 key = static_cast<u32>(s.address / 8);
  s.record.mem = access(key, time, s.record.t_mem);
  if (s.crosses()) s.mem2 = access(key + 1, time, s.t_mem2);
  const u32 bytes = access_bytes(s.instruction.op);
  const u64 offset = s.address % 8;
  const u128 window = static_cast<u128>(s.mem2) << 64 | s.record.mem;
  if (is_store(s.instruction.op)) {
    const u128 kept = window & ~placed(~0ull, bytes, offset);
    const u128 now = kept | placed(s.record.rs2, bytes, offset);
    s.stored = static_cast<u64>(now);
    s.stored2 = static_cast<u64>(now >> 64);
  } else {
    s.rd_value = exec::extend_load(s.instruction.op, static_cast<u64>(window >> (8 * offset)));
  }
}

void FaultyMachine::call(Step& s) {
  s.exits = s.record.rs1 == kSyscallExit;
  if (s.exits) s.next_pc = kHaltPc;
  if (s.record.rs1 == kSyscallEmit) {
    s.record.rd_old = access(kOutputCounterKey, s.record.ts + kSubRd, s.record.t_rd);
  }
}

void FaultyMachine::compute(Step& s) {
  const Code::Entry& e = s.instruction;
  const AccessShape shape = access_shape(e.op);
  if (shape.mem) {
    reach_memory(s);
  } else if (e.op == Op::kEcall) {
    call(s);
  } else if (e.op == Op::kJal || e.op == Op::kJalr) {
    s.rd_value = u64{e.pc} + 4;
    s.next_pc = static_cast<u32>(e.op == Op::kJal ? g_.code->entries()[e.target].pc
                                                  : (s.record.rs1 + e.imm) & ~1ull);
  } else if (e.op >= Op::kBeq && e.op <= Op::kBgeu) {
    const bool taken = exec::branch_taken(e.op, s.record.rs1, s.record.rs2);
    if (taken) s.next_pc = g_.code->entries()[e.target].pc;
  } else {
    s.rd_value = exec::alu(e.op, s.record.rs1, s.record.rs2 + e.imm);
  }
  if (shape.rd) {
    s.record.rd_old = access(kRegBase + e.rd, s.record.ts + kSubRd, s.record.t_rd);
  }
}

void FaultyMachine::commit(const Step& s) {
  const AccessShape shape = access_shape(s.instruction.op);
  if (is_store(s.instruction.op)) {
    set(static_cast<u32>(s.address / 8), s.stored);
    if (s.crosses()) set(static_cast<u32>(s.address / 8) + 1, s.stored2);
  }
  if (shape.rd) set(kRegBase + s.instruction.rd, s.rd_value);
  if (s.instruction.op == Op::kEcall && s.record.rs1 == kSyscallEmit) {
    set(kOutputCounterKey, s.record.rd_old + 1);
    out_.public_values.outputs.push_back(s.record.rs2);
  }
  if (s.exits) out_.public_values.exit_code = s.record.rs2;
  halted_ = s.exits;
  pc_ = s.next_pc;
}

void FaultyMachine::append(const Step& s) {
  if (access_shape(s.instruction.op).mem && s.is_unaligned()) {
    out_.unaligned.push_back({s.record, s.mem2, s.t_mem2, 0});
  } else {
    out_.instructions[static_cast<u32>(chip_of(s.instruction.op))].push_back(s.record);
  }
}

EpochRecords FaultyMachine::run_epoch(u32 cycles, const Fault& fault) {
  out_ = EpochRecords{};
  tokens_.clear();
  EpochPublic& values = out_.public_values;
  values.label = ++label_;
  values.pc_in = pc_;
  values.out_in = static_cast<u32>(get(kOutputCounterKey));
  while (!halted_ && values.cycles < cycles) {
    const Code::Entry& e = g_.code->entries()[g_.code->index_of(pc_)];
    EPOCHD_ASSERT(e.op != Op::kNone);
    Step s = begin(values.cycles, e);
    if (fault) fault(s);
    compute(s);
    s.stage = Step::Stage::kEffects;
    if (fault) fault(s);
    commit(s);
    append(s);
    ++values.cycles;
  }
  values.pc_out = pc_;
  values.is_final = halted_;
  for (const auto& [key, token] : tokens_) {
    Cell& cell = memory_[key];
    out_.boundary.push_back({key, token.init_epoch, token.init, cell.value, token.time, 0});
    cell.label = label_;
  }
  return std::move(out_);
}

std::vector<EpochRecords> run_faulty(const Guest& g, const std::vector<u8>& input,
                                     const FaultyMachine::Fault& fault) {
  FaultyMachine machine(g, input);
  std::vector<EpochRecords> epochs;
  while (!machine.halted()) {
    epochs.push_back(machine.run_epoch(1u << g.params.epoch_size_log2, fault));
  }
  return epochs;
}

}  // namespace epochd::testing
