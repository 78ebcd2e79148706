// A guest fault: the program did what the machine does not define. Nothing is proved; the message
// tells the guest's author where and what.
#pragma once

#include <optional>
#include <string>

#include "epoch/exec/code.hpp"

namespace epochd {

struct GuestFault {
  enum class Kind : u8 {
    kNoInstruction,  ///< pc on no instruction of the program
    kAccess,         ///< a load or store outside [kAddressMin, kAddressEnd)
    kJumpTarget,     ///< JALR to 2^32 or above, or to no multiple of 4
    kSyscall,        ///< an ecall number the machine does not know
    kOutputLimit,    ///< more than 2^32 - 1 words emitted
  };
  Kind kind = Kind::kNoInstruction;
  u32 pc = 0;
  u64 cycle = 0;            ///< instructions executed before this one, since the run began
  std::optional<u32> word;  ///< the instruction word, where pc is on one
  u64 address = 0;          ///< accessed address, jump target or ecall number; 0 otherwise
  std::string symbol;       ///< "name+0x1c" nearest pc; empty if the ELF names nothing
  std::string instruction;  ///< the operation's name; empty for kNoInstruction

  /// One line: what happened, where, and what usually causes it.
  std::string message() const;
};

/// Fills in what the program knows about `pc`.
GuestFault make_fault(const Program& program, GuestFault::Kind kind, u32 pc, u64 address,
                      u64 cycle);

}  // namespace epochd
