#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/lw/air.hpp"

namespace epochd::chips {

template <>
struct Fill<LwAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const u64 at = r.rs1 + p.imm;
    const bool is_lw = p.op == Op::kLw;
    const u64 word = lo32(r.mem >> (8 * (at & 4)));
    row.set(LwAir::kIsLw, is_lw ? 1 : 0);
    row.set(LwAir::kIsLwu, is_lw ? 0 : 1);
    row.set(LwAir::kPc, p.pc);
    row.set(LwAir::kTs, r.ts);
    row.set(LwAir::kRd, p.rd);
    row.set(LwAir::kRs1, p.rs1);
    set_word(row, LwAir::kImmLo, p.imm);
    row.set(LwAir::kTRs1, r.t_rs1);
    row.set(LwAir::kTMem, r.t_mem);
    row.set(LwAir::kTRd, r.t_rd);
    set_word(row, LwAir::kALo, r.rs1);
    set_word(row, LwAir::kMemLo, r.mem);
    set_word(row, LwAir::kOldLo, r.rd_old);
    set_address(row, LwAir::kCell, at);
    row.set(LwAir::kIsHigh, (at >> 2) & 1);
    row.set(LwAir::kWord, word);
    if (is_lw) {
      row.set(LwAir::kTop, word >> 16);
      row.set(LwAir::kSign, word >> 31);
    }
  }
};

}  // namespace epochd::chips
