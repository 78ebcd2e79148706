// The scout: a fast interpreter that runs the program ahead of proving, one epoch at a time, and
// notes what sealing an epoch's capsule needs: the state at its start, and every key it touches
// with its first value.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epoch/exec/code.hpp"
#include "epoch/exec/fault.hpp"
#include "epoch/exec/machine_state.hpp"
#include "epoch/exec/memory.hpp"
#include "prover/core/result.hpp"

namespace epochd {

/// What an epoch may cost. An instruction costs a constant by its operation (worst-case refresh and
/// boundary rows included), a misaligned load or store `unaligned` instead. Units are the caller's.
struct AreaModel {
  std::array<u32, kOpCount> per_op{};
  u32 unaligned = 0;
  u64 cap = std::numeric_limits<u64>::max();
};

/// A memory cell the epoch touched, and its value when the epoch began.
struct TouchedCell {
  u32 key;
  u64 value;
};

/// One epoch as the scout saw it.
struct ScoutEpoch {
  MachineState start;
  u32 pc_out = 0;  ///< kHaltPc if the program exited
  u32 cycles = 0;
  u64 first_cycle = 0;  ///< instructions executed before this epoch
  bool is_final = false;
  u64 exit_code = 0;               ///< if is_final
  std::vector<u64> outputs;        ///< words emitted
  u64 touched_registers = 0;       ///< bit k: key kRegBase + k
  std::vector<TouchedCell> cells;  ///< in order of first touch, each once
  u64 area = 0;
};

struct ScoutError {
  enum class Code : u8 { kInputTooLarge };
  Code code;
  std::string message;
};

class Scout {
 public:
  using Debug = std::function<void(std::string_view text)>;

  /// The genesis state: registers 0, pc = entry, the image, `input` in its region. Pre: `code`
  /// outlives the scout; no single instruction costs more than area.cap. Errors: throws
  /// std::system_error when the host refuses the address space.
  static Result<Scout, ScoutError> create(const Code& code, std::span<const u8> input,
                                          const AreaModel& area = {}, Debug debug = {});

  /// Runs until `cycles_max` instructions, the exit, or the instruction that would outgrow the area
  /// cap. Pre: 1 <= cycles_max <= 2^26; the program has neither exited nor faulted.
  Result<ScoutEpoch, GuestFault> run_epoch(u32 cycles_max);

  const MachineState& state() const { return state_; }
  /// Starts from another state; memory stays. Pre: state.registers[0] = 0.
  void set_state(const MachineState& state);
  /// As if `cycles` instructions had led to this state. Pre: as set_state().
  void resume(const MachineState& state, u64 cycles);
  bool halted() const { return halted_; }
  u64 cycles() const { return cycles_; }
  GuestMemory& memory() { return memory_; }
  const GuestMemory& memory() const { return memory_; }

 private:
  enum class Stop : u8;
  Scout(const Code& code, std::span<const u8> input, const AreaModel& area, Debug debug);

  Stop access(const Code::Entry& e, u64 a, u64 b, u64 area, u64& area_next);
  Stop transfer(const Code::Entry& e, u64 a, u64 b, ScoutEpoch& epoch, u32& next);
  Stop interpret(ScoutEpoch& epoch, u32 cycles_max);
  template <class T>
  Stop load(Op op, u8 rd, u64 address, u64 area, u64& area_next);
  template <class T>
  Stop store(u64 value, u64 address, u64 area, u64& area_next);
  template <class T>
  Stop reach(u64 address, u64 area, u64& area_next);
  Stop reach_unaligned(u64 first_cell, u64 last_cell, u64 area, u64& area_next);
  void touch(u64 cell);
  void first_touch(u64 cell);
  Stop system_call(ScoutEpoch& epoch);
  void debug_text(u64 address, u64 bytes) const;
  Stop fault(GuestFault::Kind kind, u64 address);

  const Code* code_;
  AreaModel area_;
  Debug debug_;
  MachineState state_;
  GuestMemory memory_;
  Reservation touched_;  ///< one bit per cell
  std::vector<TouchedCell> cells_;
  u64 cycles_ = 0;
  bool halted_ = false;
  GuestFault::Kind fault_kind_ = GuestFault::Kind::kNoInstruction;
  u64 fault_address_ = 0;
  u32 outside_pc_ = 0;  ///< where the last JALR went: the pc, if that is outside the code
};

}  // namespace epochd
