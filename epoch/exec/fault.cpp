#include "epoch/exec/fault.hpp"

#include <cstdio>

#include "epoch/isa/decode.hpp"

namespace epochd {
namespace {

std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string no_instruction_text(const GuestFault& fault) {
  constexpr u32 kEbreak = 0x00100073;
  constexpr u32 kSystemMajor = 0x73, kBranchMajor = 0x63, kJalMajor = 0x6f;
  if (!fault.word) return "no instruction there: a wild jump, or the end of the code was run past";
  const std::string what = "word " + hex(*fault.word);
  if (*fault.word == kEbreak) return what + " is ebreak: the guest stopped itself";
  const u32 major = *fault.word & 0x7f;
  if (major == kSystemMajor) return what + " is a CSR or privileged instruction";
  if (major == kBranchMajor || major == kJalMajor) {
    return what + " is no RV64IM instruction or jumps outside the 32-bit address space";
  }
  return what + " is no RV64IM instruction; build with -march=rv64im";
}

std::string what_happened(const GuestFault& fault) {
  switch (fault.kind) {
    case GuestFault::Kind::kNoInstruction:
      return no_instruction_text(fault);
    case GuestFault::Kind::kAccess:
      return fault.instruction + " at address " + hex(fault.address) +
             " leaves [0x1000, 0x100000000): a null or wild pointer";
    case GuestFault::Kind::kJumpTarget:
      return fault.instruction + " to " + hex(fault.address) +
             (fault.address >= kAddressEnd ? ", outside the 32-bit address space"
                                           : ", no multiple of 4") +
             ": a corrupt function pointer or return address";
    case GuestFault::Kind::kSyscall:
      return "ecall with number " + std::to_string(fault.address) +
             " in a7; known are 93 exit, 1 emit, 2 debug";
    case GuestFault::Kind::kOutputLimit:
      return "more than 4294967295 words emitted";
  }
  return "";
}

}  // namespace

std::string GuestFault::message() const {
  std::string text = "guest fault at pc " + hex(pc);
  if (!symbol.empty()) text += " (" + symbol + ")";
  text += ", cycle " + std::to_string(cycle) + ": " + what_happened(*this);
  return text;
}

GuestFault make_fault(const Program& program, GuestFault::Kind kind, u32 pc, u64 address,
                      u64 cycle) {
  GuestFault fault;
  fault.kind = kind;
  fault.pc = pc;
  fault.cycle = cycle;
  fault.word = program.word_at(pc);
  fault.address = address;
  fault.symbol = program.elf().nearest_symbol(pc).value_or("");
  const u32 row = program.row_index(pc);
  if (row != Program::kNoRow) fault.instruction = op_name(program.rows()[row].op);
  return fault;
}

}  // namespace epochd
