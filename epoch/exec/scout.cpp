#include "epoch/exec/scout.hpp"

#include <algorithm>

#include "epoch/exec/access_shape.hpp"
#include "epoch/exec/semantics.hpp"

namespace epochd {

// Why the interpreter leaves its loop. From kFull on, the instruction at pc was not executed.
enum class Scout::Stop : u8 { kNone, kExit, kFull, kFault };

namespace {

constexpr u64 kDebugBytesMax =
    1 << 16;  // a longer text is cut: a wild length must not flood the log

}  // namespace

Result<Scout, ScoutError> Scout::create(const Code& code, std::span<const u8> input,
                                        const AreaModel& area, Debug debug) {
  if (input.size() > kInputBytesMax) {
    return Unexpected{ScoutError{
        ScoutError::Code::kInputTooLarge,
        "the input has " + std::to_string(input.size()) + " bytes, the input region takes " +
            std::to_string(kInputBytesMax) + "; shorten it or let the guest read a digest"}};
  }
  return Scout(code, input, area, std::move(debug));
}

Scout::Scout(const Code& code, std::span<const u8> input, const AreaModel& area, Debug debug)
    : code_(&code), area_(area), debug_(std::move(debug)), touched_(kCellCount / 8) {
  for (const u32 cost : area_.per_op) EPOCHD_ASSERT(cost <= area_.cap);
  EPOCHD_ASSERT(area_.unaligned <= area_.cap);
  state_.pc = code.program().entry();
  memory_.load_image(code.program().elf());
  memory_.load_input(input);
}

void Scout::set_state(const MachineState& state) {
  EPOCHD_ASSERT(state.registers[0] == 0);
  state_ = state;
  halted_ = false;
}

void Scout::resume(const MachineState& state, u64 cycles) {
  set_state(state);
  cycles_ = cycles;
}

Scout::Stop Scout::fault(GuestFault::Kind kind, u64 address) {
  fault_kind_ = kind;
  fault_address_ = address;
  return Stop::kFault;
}

void Scout::first_touch(u64 cell) {
  static_cast<u64*>(touched_.data())[cell / 64] |= 1ull << (cell % 64);
  cells_.push_back({static_cast<u32>(cell), memory_.cell(static_cast<u32>(cell))});
}

// Before the access, so that the value noted is the one at the epoch's start.
EPOCHD_INLINE void Scout::touch(u64 cell) {
  const u64 word = static_cast<const u64*>(touched_.data())[cell / 64];
  if ((word >> (cell % 64) & 1) == 0) [[unlikely]]
    first_touch(cell);
}

Scout::Stop Scout::reach_unaligned(u64 first_cell, u64 last_cell, u64 area, u64& area_next) {
  area_next = area + area_.unaligned;
  if (area_next > area_.cap) return Stop::kFull;
  touch(first_cell);
  if (last_cell != first_cell) touch(last_cell);
  return Stop::kNone;
}

// Checks an access and notes its cells. `area` is the epoch's total before the instruction,
// `area_next` after it: a misaligned access costs something else than the operation it was charged
// as.
template <class T>
EPOCHD_INLINE Scout::Stop Scout::reach(u64 address, u64 area, u64& area_next) {
  if (address - kAddressMin > kAddressEnd - kAddressMin - sizeof(T)) [[unlikely]] {
    return fault(GuestFault::Kind::kAccess, address);
  }
  if (address % sizeof(T) != 0) [[unlikely]] {
    return reach_unaligned(address / 8, (address + sizeof(T) - 1) / 8, area, area_next);
  }
  touch(address / 8);
  return Stop::kNone;
}

template <class T>
EPOCHD_INLINE Scout::Stop Scout::load(Op op, u8 rd, u64 address, u64 area, u64& area_next) {
  const Stop stop = reach<T>(address, area, area_next);
  if (stop == Stop::kNone) [[likely]] {
    state_.registers[rd] = exec::extend_load(op, memory_.load<T>(address));
  }
  return stop;
}

template <class T>
EPOCHD_INLINE Scout::Stop Scout::store(u64 value, u64 address, u64 area, u64& area_next) {
  const Stop stop = reach<T>(address, area, area_next);
  if (stop == Stop::kNone) [[likely]]
    memory_.store<T>(address, static_cast<T>(value));
  return stop;
}

void Scout::debug_text(u64 address, u64 bytes) const {
  if (!debug_ || address < kAddressMin || address >= kAddressEnd) return;
  std::string text(std::min({bytes, kAddressEnd - address, kDebugBytesMax}), '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = memory_.load<char>(address + i);
  debug_(text);
}

Scout::Stop Scout::system_call(ScoutEpoch& epoch) {
  auto& x = state_.registers;
  const u64 number = x[kEcallNumberRegister], argument = x[kEcallArgumentRegister];
  if (number == kSyscallExit) {
    epoch.is_final = true;
    epoch.exit_code = argument;
    return Stop::kExit;
  }
  if (number == kSyscallEmit) {
    if (x[kOutputCounterRegister] >= 0xffffffff) return fault(GuestFault::Kind::kOutputLimit, 0);
    epoch.outputs.push_back(argument);
    epoch.touched_registers |= 1ull << kOutputCounterRegister;
    ++x[kOutputCounterRegister];
    return Stop::kNone;
  }
  if (number != kSyscallDebug) return fault(GuestFault::Kind::kSyscall, number);
  debug_text(argument, x[11]);
  return Stop::kNone;
}

// A load or a store. `a` and `b` are the values of rs1 and rs2.
EPOCHD_INLINE Scout::Stop Scout::access(const Code::Entry& e, u64 a, u64 b, u64 area,
                                        u64& area_next) {
  const u64 address = a + e.imm;
  switch (e.op) {
    case Op::kLd:
      return load<u64>(Op::kLd, e.rd, address, area, area_next);
    case Op::kLw:
      return load<u32>(Op::kLw, e.rd, address, area, area_next);
    case Op::kLwu:
      return load<u32>(Op::kLwu, e.rd, address, area, area_next);
    case Op::kLb:
      return load<u8>(Op::kLb, e.rd, address, area, area_next);
    case Op::kLbu:
      return load<u8>(Op::kLbu, e.rd, address, area, area_next);
    case Op::kLh:
      return load<u16>(Op::kLh, e.rd, address, area, area_next);
    case Op::kLhu:
      return load<u16>(Op::kLhu, e.rd, address, area, area_next);
    case Op::kSd:
      return store<u64>(b, address, area, area_next);
    case Op::kSw:
      return store<u32>(b, address, area, area_next);
    case Op::kSb:
      return store<u8>(b, address, area, area_next);
    default:
      return store<u16>(b, address, area, area_next);
  }
}

// Branches, jumps, ecalls, multiplications, divisions, and places without an instruction. `next`
// comes in as the entry that follows.
EPOCHD_INLINE Scout::Stop Scout::transfer(const Code::Entry& e, u64 a, u64 b, ScoutEpoch& epoch,
                                          u32& next) {
  u64* const x = state_.registers.data();
  switch (e.op) {
    case Op::kBeq:
    case Op::kBne:
    case Op::kBlt:
    case Op::kBge:
    case Op::kBltu:
    case Op::kBgeu:
      next = exec::branch_taken(e.op, a, b) ? e.target : next;
      return Stop::kNone;
    case Op::kJal:
      x[e.rd] = u64{e.pc} + 4;
      next = e.target;
      return Stop::kNone;
    case Op::kJalr: {
      const u64 target = (a + e.imm) & ~1ull;
      if (target >= kAddressEnd || target % 4 != 0) [[unlikely]] {
        return fault(GuestFault::Kind::kJumpTarget, target);
      }
      x[e.rd] = u64{e.pc} + 4;
      outside_pc_ = static_cast<u32>(target);
      next = code_->index_of(target);
      return Stop::kNone;
    }
    case Op::kEcall:
      return system_call(epoch);
    case Op::kNone:
      return fault(GuestFault::Kind::kNoInstruction, 0);
    default:
      x[e.rd] = exec::multiply_divide(e.op, a, b);
      return Stop::kNone;
  }
}

Scout::Stop Scout::interpret(ScoutEpoch& epoch, u32 cycles_max) {
  const Code::Entry* const entries = code_->entries().data();
  u64* const x = state_.registers.data();
  u32 index = code_->index_of(state_.pc);
  outside_pc_ = state_.pc;
  u64 area = 0, registers = 0;
  u32 cycles = 0;
  Stop stop = Stop::kNone;
  while (stop == Stop::kNone) {
    const Code::Entry& e = entries[index];
    u64 area_next = area + area_.per_op[static_cast<size_t>(e.op)];
    if (cycles == cycles_max || area_next > area_.cap) break;
    const u64 a = x[e.rs1], b = x[e.rs2];
    u32 next = index + 1;
    // Comparing before switching leaves one indirect jump an instruction.
    if (e.op >= Op::kAdd && e.op <= Op::kSraw) {
      x[e.rd] = exec::alu(e.op, a, b + e.imm);
    } else if (e.op >= Op::kLd && e.op <= Op::kSh) {
      stop = access(e, a, b, area, area_next);
    } else {
      stop = transfer(e, a, b, epoch, next);
    }
    if (stop >= Stop::kFull) [[unlikely]]
      break;
    area = area_next;
    registers |= e.registers;
    ++cycles;
    index = next;
  }
  epoch.cycles = cycles;
  epoch.area = area;
  epoch.touched_registers |= registers;
  state_.pc = index == Code::kOutside ? outside_pc_ : entries[index].pc;
  return stop;
}

Result<ScoutEpoch, GuestFault> Scout::run_epoch(u32 cycles_max) {
  EPOCHD_ASSERT(!halted_ && cycles_max >= 1 && cycles_max <= 1u << kEpochSizeLog2Max);
  ScoutEpoch epoch;
  epoch.start = state_;
  epoch.first_cycle = cycles_;
  const Stop stop = interpret(epoch, cycles_max);
  cycles_ += epoch.cycles;
  if (stop == Stop::kFault) {
    return Unexpected{
        make_fault(code_->program(), fault_kind_, state_.pc, fault_address_, cycles_)};
  }
  halted_ = epoch.is_final;
  epoch.pc_out = halted_ ? kHaltPc : state_.pc;
  u64* const touched = static_cast<u64*>(touched_.data());
  for (const TouchedCell& cell : cells_) touched[cell.key / 64] = 0;
  const size_t expected = cells_.size();  // the next epoch will touch about as many
  epoch.cells = std::move(cells_);
  cells_ = {};
  cells_.reserve(expected);
  return epoch;
}

}  // namespace epochd
