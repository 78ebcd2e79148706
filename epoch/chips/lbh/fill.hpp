#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/lbh/air.hpp"

namespace epochd::chips {

template <>
struct Fill<LbhAir> {
  using Record = InstructionRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& r, const ProgramRow* program, Row& row) {
    const ProgramRow& p = program[r.program_row];
    const u64 at = r.rs1 + p.imm;
    const bool is_half = p.op == Op::kLh || p.op == Op::kLhu;
    const bool is_signed = p.op == Op::kLb || p.op == Op::kLh;
    row.set(LbhAir::kIsLb, p.op == Op::kLb ? 1 : 0);
    row.set(LbhAir::kIsLbu, p.op == Op::kLbu ? 1 : 0);
    row.set(LbhAir::kIsLh, p.op == Op::kLh ? 1 : 0);
    row.set(LbhAir::kIsLhu, p.op == Op::kLhu ? 1 : 0);
    row.set(LbhAir::kPc, p.pc);
    row.set(LbhAir::kTs, r.ts);
    row.set(LbhAir::kRd, p.rd);
    row.set(LbhAir::kRs1, p.rs1);
    set_word(row, LbhAir::kImmLo, p.imm);
    row.set(LbhAir::kTRs1, r.t_rs1);
    row.set(LbhAir::kTMem, r.t_mem);
    row.set(LbhAir::kTRd, r.t_rd);
    set_word(row, LbhAir::kALo, r.rs1);
    set_word(row, LbhAir::kMemLo, r.mem);
    set_word(row, LbhAir::kOldLo, r.rd_old);
    set_address(row, LbhAir::kCell, at);
    set_narrow_parts(row, LbhAir::kByteBit, LbhAir::kTop, at, is_half, r.mem);

    const u64 shifted = r.mem >> (8 * (at & 7));
    const u64 byte = static_cast<u64>(static_cast<i64>(static_cast<int8_t>(shifted)));
    const u64 half = static_cast<u64>(static_cast<i64>(static_cast<int16_t>(shifted)));
    const u64 extended = is_half ? half : byte;
    const u64 value = is_signed ? extended : extended & (is_half ? 0xffff : 0xff);
    row.set(LbhAir::kSign, value >> 63);
    row.set(LbhAir::kResultLo, lo32(value));
  }
};

}  // namespace epochd::chips
