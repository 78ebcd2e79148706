#include "epoch/exec/replay.hpp"

#include <bit>

#include "epoch/exec/access_shape.hpp"
#include "epoch/exec/semantics.hpp"

namespace epochd {

enum class Replayer::Status : u8 { kGoOn, kExit, kFault, kMissingKey };

namespace {

// A gap of 2^16 ticks or more between two accesses to a key does not fit its single range check.
constexpr u32 kGapEnd = 1u << 16;

constexpr std::array<ChipId, kOpCount> make_chip_table() {
  std::array<ChipId, kOpCount> table{};
  table[0] = ChipId::kCount;  // kNone
  for (u32 op = 1; op < kOpCount; ++op) table[op] = chip_of(static_cast<Op>(op));
  return table;
}
constexpr auto kChipOf = make_chip_table();

constexpr std::array<u8, kOpCount> make_width_table() {
  std::array<u8, kOpCount> table{};
  for (u32 op = 1; op < kOpCount; ++op) {
    table[op] = static_cast<u8>(access_bytes(static_cast<Op>(op)));
  }
  return table;
}
constexpr auto kWidthOf = make_width_table();

// All ones in the low `bytes` bytes.
constexpr u64 byte_mask(u32 bytes) {
  return ~0ull >> (64 - 8 * bytes);
}

}  // namespace

Replayer::Replayer(const Code& code) : code_(&code), groups_(sizeof(Group) * (kCellCount / 64)) {}

void Replayer::load(const Capsule& capsule) {
  Group* const groups = static_cast<Group*>(groups_.data());
  cells_.clear();
  registers_.fill({});
  for (const CapsuleKey& k : capsule.keys) {
    if (k.key >= kRegBase) {
      registers_[k.key - kRegBase].value = k.value;
      continue;
    }
    Group& group = groups[k.key / 64];
    if (group.present == 0) group.first = static_cast<u32>(cells_.size());
    group.present |= 1ull << (k.key % 64);
    cells_.push_back({k.value, 0});
  }
}

void Replayer::unload(const Capsule& capsule) {
  Group* const groups = static_cast<Group*>(groups_.data());
  for (const CapsuleKey& k : capsule.keys) {
    if (k.key < kRegBase) groups[k.key / 64].present = 0;
  }
}

EPOCHD_INLINE Replayer::Slot* Replayer::find(u64 cell) {
  const Group& group = static_cast<const Group*>(groups_.data())[cell / 64];
  const u64 bit = 1ull << (cell % 64);
  if ((group.present & bit) == 0) [[unlikely]]
    return nullptr;
  return &cells_[group.first + static_cast<u32>(std::popcount(group.present & (bit - 1)))];
}

// Makes an access at `time`: returns the time of the token it receives, which a refresh row has
// moved next to the access where the gap is too wide. Pre: the slot still has the old value.
EPOCHD_INLINE u32 Replayer::advance(Slot& slot, u32 key, u32 time) {
  const u32 previous = slot.time;
  slot.time = time;
  if (time - previous - 1 < kGapEnd) [[likely]]
    return previous;
  out_->refresh.push_back({key, previous, time - 1, 0, slot.value});
  return time - 1;
}

EPOCHD_INLINE void Replayer::read_rs1(const Code::Entry& e, InstructionRecord& r) {
  Slot& slot = registers_[e.rs1];
  r.rs1 = slot.value;
  r.t_rs1 = advance(slot, kRegBase + e.rs1, r.ts + kSubRs1);
}

EPOCHD_INLINE void Replayer::read_rs2(const Code::Entry& e, InstructionRecord& r) {
  Slot& slot = registers_[e.rs2];
  r.rs2 = slot.value;
  r.t_rs2 = advance(slot, kRegBase + e.rs2, r.ts + kSubRs2);
}

EPOCHD_INLINE void Replayer::write_rd(const Code::Entry& e, InstructionRecord& r, u64 value) {
  Slot& slot = registers_[e.rd];
  r.rd_old = slot.value;
  r.t_rd = advance(slot, kRegBase + e.rd, r.ts + kSubRd);
  slot.value = value;
}

EPOCHD_INLINE void Replayer::emit(const Code::Entry& e, const InstructionRecord& r) {
  out_->instructions[static_cast<size_t>(kChipOf[static_cast<size_t>(e.op)])].push_back(r);
}

// Pre: rs1 is read, and for a store rs2.
EPOCHD_INLINE Replayer::Status Replayer::memory_operation(const Code::Entry& e,
                                                          InstructionRecord& r) {
  const u64 address = r.rs1 + e.imm;
  const u32 width = kWidthOf[static_cast<size_t>(e.op)];
  if (address - kAddressMin > kAddressEnd - kAddressMin - width) return Status::kFault;
  if ((address & (width - 1)) != 0) [[unlikely]]
    return unaligned_operation(e, r, address);
  Slot* const slot = find(address / 8);
  if (slot == nullptr) return Status::kMissingKey;
  const u32 shift = 8 * (address % 8);
  r.mem = slot->value;
  r.t_mem = advance(*slot, static_cast<u32>(address / 8), r.ts + kSubMem);
  if (is_store(e.op)) {
    const u64 mask = byte_mask(width) << shift;
    slot->value = (slot->value & ~mask) | (r.rs2 << shift & mask);
  } else {
    write_rd(e, r, exec::extend_load(e.op, r.mem >> shift));
  }
  emit(e, r);
  return Status::kGoOn;
}

Replayer::Status Replayer::unaligned_operation(const Code::Entry& e, InstructionRecord& r,
                                               u64 address) {
  const u32 width = kWidthOf[static_cast<size_t>(e.op)];
  const u32 shift = 8 * (address % 8);
  const bool crosses = address % 8 + width > 8;
  Slot* const first = find(address / 8);
  Slot* const second = crosses ? find(address / 8 + 1) : nullptr;
  if (first == nullptr || (crosses && second == nullptr)) return Status::kMissingKey;

  const u32 key = static_cast<u32>(address / 8), time = r.ts + kSubMem;
  UnalignedRecord record{};
  r.mem = first->value;
  r.t_mem = advance(*first, key, time);
  if (crosses) {
    record.mem2 = second->value;
    record.t_mem2 = advance(*second, key + 1, time);
  }
  const u128 window = static_cast<u128>(record.mem2) << 64 | r.mem;
  if (is_store(e.op)) {
    const u128 mask = static_cast<u128>(byte_mask(width)) << shift;
    const u128 stored = (window & ~mask) | (static_cast<u128>(r.rs2) << shift & mask);
    first->value = static_cast<u64>(stored);
    if (crosses) second->value = static_cast<u64>(stored >> 64);
  } else {
    write_rd(e, r, exec::extend_load(e.op, static_cast<u64>(window >> shift)));
  }
  record.base = r;
  out_->unaligned.push_back(record);
  return Status::kGoOn;
}

Replayer::Status Replayer::system_call(InstructionRecord& r) {
  EpochPublic& values = out_->public_values;
  if (r.rs1 == kSyscallDebug) return Status::kGoOn;
  if (r.rs1 == kSyscallExit) {
    values.exit_code = r.rs2;
    return Status::kExit;
  }
  Slot& counter = registers_[kOutputCounterRegister];
  if (r.rs1 != kSyscallEmit || counter.value >= 0xffffffff) return Status::kFault;
  values.outputs.push_back(r.rs2);
  r.rd_old = counter.value;
  r.t_rd = advance(counter, kOutputCounterKey, r.ts + kSubRd);
  ++counter.value;
  return Status::kGoOn;
}

// Executes one instruction: its accesses in the order of their times, its record, and index_.
EPOCHD_INLINE Replayer::Status Replayer::step(const Code::Entry& e, InstructionRecord& r) {
  Status status = Status::kGoOn;
  u32 next = index_ + 1;
  switch (kChipOf[static_cast<size_t>(e.op)]) {
    case ChipId::kAddi:
    case ChipId::kShiftImm:
      read_rs1(e, r);
      write_rd(e, r, exec::alu(e.op, r.rs1, e.imm));
      break;
    case ChipId::kBeq:
    case ChipId::kBlt:
      read_rs1(e, r);
      read_rs2(e, r);
      next = exec::branch_taken(e.op, r.rs1, r.rs2) ? e.target : next;
      break;
    case ChipId::kJal:
      write_rd(e, r, u64{e.pc} + 4);
      next = e.target;
      break;
    case ChipId::kJalr: {
      read_rs1(e, r);
      const u64 target = (r.rs1 + e.imm) & ~1ull;
      if (target >= kAddressEnd) return Status::kFault;
      write_rd(e, r, u64{e.pc} + 4);
      outside_pc_ = static_cast<u32>(target);
      next = code_->index_of(target);
      break;
    }
    case ChipId::kStore:
    case ChipId::kStoreNarrow:
      read_rs1(e, r);
      read_rs2(e, r);
      index_ = next;
      return memory_operation(e, r);
    case ChipId::kLd:
    case ChipId::kLw:
    case ChipId::kLbh:
      read_rs1(e, r);
      index_ = next;
      return memory_operation(e, r);
    case ChipId::kEcall:
      read_rs1(e, r);
      read_rs2(e, r);
      status = system_call(r);
      if (status == Status::kFault) return status;
      break;
    case ChipId::kCount:
      return Status::kFault;
    default:
      read_rs1(e, r);
      read_rs2(e, r);
      write_rd(e, r, exec::alu(e.op, r.rs1, r.rs2 + e.imm));
      break;
  }
  emit(e, r);
  index_ = next;
  return status;
}

Replayer::Status Replayer::interpret(const Capsule& capsule) {
  const Code::Entry* const entries = code_->entries().data();
  EpochPublic& values = out_->public_values;
  index_ = code_->index_of(capsule.pc);
  outside_pc_ = capsule.pc;
  Status status = Status::kGoOn;
  while (values.cycles < capsule.cycles && status == Status::kGoOn) {
    const Code::Entry& e = entries[index_];
    InstructionRecord r{};
    r.program_row = e.row;
    r.ts = kFirstTs + kTicksPerCycle * values.cycles;
    status = step(e, r);
    ++values.cycles;
  }
  values.pc_out = status == Status::kExit    ? kHaltPc
                  : index_ == Code::kOutside ? outside_pc_
                                             : entries[index_].pc;
  return status;
}

std::optional<ReplayError> Replayer::finish(const Capsule& capsule, Status status) {
  const EpochPublic& values = out_->public_values;
  const auto error = [&](ReplayError::Code code, const std::string& text) {
    return ReplayError{code, "capsule of epoch " + std::to_string(capsule.label) + ": " + text +
                                 " (cycle " + std::to_string(values.cycles) +
                                 "); it was not made from this program"};
  };
  using Error = ReplayError::Code;
  if (status == Status::kFault) return error(Error::kGuestFault, "the program faults");
  if (status == Status::kMissingKey) return error(Error::kMissingKey, "it lacks a touched cell");
  if (status == Status::kExit && (!capsule.is_final || values.cycles != capsule.cycles)) {
    return error(Error::kUnexpectedExit, "the program exits too early");
  }
  if (status != Status::kExit && capsule.is_final) {
    return error(Error::kMissingExit, "the program does not exit");
  }
  std::array<bool, kRegisterKeyCount> listed{};
  out_->boundary.reserve(capsule.keys.size());
  size_t cell = 0;
  for (const CapsuleKey& k : capsule.keys) {
    const bool is_register = k.key >= kRegBase;
    if (is_register) listed[k.key - kRegBase] = true;
    const Slot& slot = is_register ? registers_[k.key - kRegBase] : cells_[cell++];
    if (slot.time == 0) {
      return error(Error::kUntouchedKey, "key " + std::to_string(k.key) + " is never touched");
    }
    out_->boundary.push_back({k.key, k.init_epoch, k.value, slot.value, slot.time, 0});
  }
  for (u32 r = 0; r < kRegisterKeyCount; ++r) {
    if (registers_[r].time != 0 && !listed[r]) {
      return error(Error::kMissingKey, "it lacks register " + std::to_string(r));
    }
  }
  return std::nullopt;
}

std::optional<ReplayError> Replayer::run(const Capsule& capsule, EpochRecords& out) {
  out_ = &out;
  for (auto& records : out.instructions) records.clear();
  out.unaligned.clear();
  out.refresh.clear();
  out.boundary.clear();
  out.public_values = {};
  out.public_values.label = capsule.label;
  out.public_values.is_final = capsule.is_final;
  out.public_values.pc_in = capsule.pc;
  out.public_values.out_in = capsule.out_in;
  load(capsule);
  const Status status = interpret(capsule);
  unload(capsule);
  return finish(capsule, status);
}

}  // namespace epochd
