// program: the instructions, one fixed row per decodable pc, and how often each was executed.
//
// Every instruction row of every chip looks itself up here, so it can only be what the ELF says is
// at its pc. The multiplicity is free, as in range16. Rows past the program are zero: opcode 0,
// which no real row names, because an opcode form is a sub-sum of one-hot flags with non-zero
// codes.
//
// No constraints: every cell a meaning hangs on is fixed, its root computed by the verifier.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct ProgramAir {
  static constexpr const char* kName = "program";
  enum FixedCol : u32 { kPc, kOpcode, kRd, kRs1, kRs2, kImmLo, kImmHi, kFixedCount };
  enum Col : u32 { kCount, kWidth };
  static constexpr u32 kFixedWidth = kFixedCount, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 0, kInteractions = 1;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    c.receive(Bus::kProgram, "row", c.local(kCount), c.fixed(kPc), c.fixed(kOpcode), c.fixed(kRd),
              c.fixed(kRs1), c.fixed(kRs2), c.fixed(kImmLo), c.fixed(kImmHi));
  }
};

}  // namespace epochd::chips
