#pragma once

#include "epoch/chips/beq/air.hpp"
#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

template <>
struct Fill<BeqAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const bool is_beq = p.op == Op::kBeq;
    const bool is_equal = r.rs1 == r.rs2;
    row.set(BeqAir::kIsBeq, is_beq ? 1 : 0);
    row.set(BeqAir::kIsBne, is_beq ? 0 : 1);
    row.set(BeqAir::kPc, p.pc);
    row.set(BeqAir::kTs, r.ts);
    row.set(BeqAir::kRs1, p.rs1);
    row.set(BeqAir::kRs2, p.rs2);
    row.set(BeqAir::kTarget, p.imm);
    row.set(BeqAir::kTRs1, r.t_rs1);
    row.set(BeqAir::kTRs2, r.t_rs2);
    set_word(row, BeqAir::kALo, r.rs1);
    set_word(row, BeqAir::kBLo, r.rs2);
    row.set(BeqAir::kEq, is_equal ? 1 : 0);
    row.set_fp(BeqAir::kQInv, witness_inverse(r.rs1, r.rs2));
    row.set(BeqAir::kNextPc, is_equal == is_beq ? p.imm : p.pc + 4ull);
  }

 private:
  /// 1 / ((a_lo - b_lo)^2 - 7 (a_hi - b_hi)^2), 0 for a = b.
  EPOCHD_HD static Fp witness_inverse(u64 a, u64 b) {
    const Fp lo = Fp::from_canonical(lo32(a)) - Fp::from_canonical(lo32(b));
    const Fp hi = Fp::from_canonical(hi32(a)) - Fp::from_canonical(hi32(b));
    if (lo.is_zero() && hi.is_zero()) return Fp::zero();
    return (lo.square() - hi.square() * Fp::from_canonical(BeqAir::kNonSquare)).inverse();
  }
};

}  // namespace epochd::chips
