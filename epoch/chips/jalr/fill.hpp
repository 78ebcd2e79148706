#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/jalr/air.hpp"

namespace epochd::chips {

template <>
struct Fill<JalrAir> {
  using Record = InstructionRecord;

  /// Pre: rs1 + imm < 2^32, its bit 1 clear; anything else is a guest fault and has no record.
  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const u64 sum = r.rs1 + p.imm;
    row.set(JalrAir::kIsReal, 1);
    row.set(JalrAir::kPc, p.pc);
    row.set(JalrAir::kTs, r.ts);
    row.set(JalrAir::kRd, p.rd);
    row.set(JalrAir::kRs1, p.rs1);
    set_word(row, JalrAir::kImmLo, p.imm);
    row.set(JalrAir::kTRs1, r.t_rs1);
    row.set(JalrAir::kTRd, r.t_rd);
    set_word(row, JalrAir::kALo, r.rs1);
    set_word(row, JalrAir::kOldLo, r.rd_old);
    row.set(JalrAir::kBit0, sum & 1);
    row.set(JalrAir::kBit2, (sum >> 2) & 1);
    set_address(row, JalrAir::kCell, sum);
  }
};

}  // namespace epochd::chips
