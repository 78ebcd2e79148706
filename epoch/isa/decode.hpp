// A 32-bit instruction word, as the Program table holds it.
#pragma once

#include <optional>
#include <string_view>

#include "epoch/isa/opcode.hpp"
#include "epoch/machine.hpp"

namespace epochd {

/// The canonical row of `word` at `pc` (docs/machine.md, "The Program table canonicalises").
/// Nothing if the word is no RV64IM instruction, is EBREAK or a CSR access, or is a branch or JAL
/// whose target lies outside [0, 2^32): reaching it is a guest fault.
std::optional<ProgramRow> decode(u32 pc, u32 word);

/// "add", "addi" ...: the canonical operation's name, for messages.
std::string_view op_name(Op op);

}  // namespace epochd
