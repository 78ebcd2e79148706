#pragma once

#include "epoch/chips/blt/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<BltAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const bool is_signed = p.op == Op::kBlt || p.op == Op::kBge;
    const bool on_less = p.op == Op::kBlt || p.op == Op::kBltu;
    const bool is_less =
        is_signed ? static_cast<i64>(r.rs1) < static_cast<i64>(r.rs2) : r.rs1 < r.rs2;
    row.set(BltAir::kIsBlt, p.op == Op::kBlt ? 1 : 0);
    row.set(BltAir::kIsBge, p.op == Op::kBge ? 1 : 0);
    row.set(BltAir::kIsBltu, p.op == Op::kBltu ? 1 : 0);
    row.set(BltAir::kIsBgeu, p.op == Op::kBgeu ? 1 : 0);
    row.set(BltAir::kPc, p.pc);
    row.set(BltAir::kTs, r.ts);
    row.set(BltAir::kRs1, p.rs1);
    row.set(BltAir::kRs2, p.rs2);
    row.set(BltAir::kTarget, p.imm);
    row.set(BltAir::kTRs1, r.t_rs1);
    row.set(BltAir::kTRs2, r.t_rs2);
    set_word(row, BltAir::kALo, r.rs1);
    set_word(row, BltAir::kBLo, r.rs2);
    if (is_signed) {
      row.set(BltAir::kATop, limb16(r.rs1, 3));
      row.set(BltAir::kASign, r.rs1 >> 63);
      row.set(BltAir::kBTop, limb16(r.rs2, 3));
      row.set(BltAir::kBSign, r.rs2 >> 63);
    }
    set_limbs(row, BltAir::kD0, r.rs1 - r.rs2);
    row.set(BltAir::kNextPc, is_less == on_less ? p.imm : p.pc + 4ull);
  }
};

}  // namespace epochd::chips
