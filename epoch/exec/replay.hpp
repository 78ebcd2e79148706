// Replay turns a capsule into the records of its epoch: what the chips' rows are filled from.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "epoch/capsule/capsule.hpp"
#include "epoch/exec/code.hpp"
#include "epoch/exec/machine_state.hpp"
#include "epoch/exec/records.hpp"
#include "epoch/exec/reservation.hpp"

namespace epochd {

/// The capsule is not an epoch of this program: each of these means a bug, a wrong program or a
/// forgery.
struct ReplayError {
  enum class Code : u8 {
    kGuestFault,      ///< the program faults
    kMissingKey,      ///< it touches a key the capsule lacks
    kUntouchedKey,    ///< the capsule has a key it does not touch
    kUnexpectedExit,  ///< it exits before the planned cycles are done, or in an epoch not final
    kMissingExit,     ///< the final epoch does not exit
  };
  Code code;
  std::string message;
};

/// Threads: one replayer per thread; they share the code.
class Replayer {
 public:
  /// Pre: `code` outlives this. Errors: throws std::system_error when the host refuses address
  /// space.
  explicit Replayer(const Code& code);

  /// Fills `out`, whose buffers are reused. Pre: decode_capsule or Stitch::seal made `capsule`. On
  /// an error `out` is unspecified.
  std::optional<ReplayError> run(const Capsule& capsule, EpochRecords& out);

 private:
  /// A key's current token.
  struct Slot {
    u64 value = 0;
    u32 time = 0;  ///< 0: not touched yet
  };
  /// 64 cells: which of them the epoch touches, and the slot of the first.
  struct Group {
    u64 present;
    u32 first;
    u32 unused;
  };
  enum class Status : u8;

  void load(const Capsule& capsule);
  void unload(const Capsule& capsule);
  Slot* find(u64 cell);
  u32 advance(Slot& slot, u32 key, u32 time);
  void read_rs1(const Code::Entry& e, InstructionRecord& r);
  void read_rs2(const Code::Entry& e, InstructionRecord& r);
  void write_rd(const Code::Entry& e, InstructionRecord& r, u64 value);
  void emit(const Code::Entry& e, const InstructionRecord& r);
  Status memory_operation(const Code::Entry& e, InstructionRecord& r);
  Status unaligned_operation(const Code::Entry& e, InstructionRecord& r, u64 address);
  Status system_call(InstructionRecord& r);
  Status step(const Code::Entry& e, InstructionRecord& r);
  Status interpret(const Capsule& capsule);
  std::optional<ReplayError> finish(const Capsule& capsule, Status status);

  const Code* code_;
  Reservation groups_;
  std::vector<Slot> cells_;
  std::array<Slot, kRegisterKeyCount> registers_;
  EpochRecords* out_ = nullptr;
  u32 index_ = 0;       ///< of the current instruction; after step, of the next
  u32 outside_pc_ = 0;  ///< where a jump outside the code went
};

}  // namespace epochd
