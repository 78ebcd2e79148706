#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/store_narrow/air.hpp"

namespace epochd::chips {

template <>
struct Fill<StoreNarrowAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const u64 at = r.rs1 + p.imm;
    const bool is_half = p.op == Op::kSh;
    const u64 now = stored_cell(r.mem, at, is_half ? 2 : 1, r.rs2);
    row.set(StoreNarrowAir::kIsSb, is_half ? 0 : 1);
    row.set(StoreNarrowAir::kIsSh, is_half ? 1 : 0);
    row.set(StoreNarrowAir::kPc, p.pc);
    row.set(StoreNarrowAir::kTs, r.ts);
    row.set(StoreNarrowAir::kRs1, p.rs1);
    row.set(StoreNarrowAir::kRs2, p.rs2);
    set_word(row, StoreNarrowAir::kImmLo, p.imm);
    row.set(StoreNarrowAir::kTRs1, r.t_rs1);
    row.set(StoreNarrowAir::kTRs2, r.t_rs2);
    row.set(StoreNarrowAir::kTMem, r.t_mem);
    set_word(row, StoreNarrowAir::kALo, r.rs1);
    set_word(row, StoreNarrowAir::kBLo, r.rs2);
    set_word(row, StoreNarrowAir::kMemLo, r.mem);
    set_word(row, StoreNarrowAir::kNewLo, now);
    set_address(row, StoreNarrowAir::kCell, at);
    set_narrow_parts(row, StoreNarrowAir::kByteBit, StoreNarrowAir::kTop, at, is_half, r.mem);
    row.set(StoreNarrowAir::kB0, r.rs2 & 255);
    row.set(StoreNarrowAir::kB1, (r.rs2 >> 8) & 255);

    const u32 half = (at >> 1) & 3;
    const u64 before = limb16(r.mem, half);
    const u64 after = limb16(now, half);
    row.set_fp(StoreNarrowAir::kDelta, Fp::from_canonical(after) - Fp::from_canonical(before));
  }
};

}  // namespace epochd::chips
