#pragma once

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/unaligned/air.hpp"

namespace epochd::chips {

template <>
struct Fill<UnalignedAir> {
  using Air = UnalignedAir;
  using Record = UnalignedRecord;

  template <class Row>
  EPOCHD_HD static void fill(const Record& record, const ProgramRow* program, Row& row) {
    const InstructionRecord& r = record.base;
    const ProgramRow& p = program[r.program_row];
    const u64 at = r.rs1 + p.imm;
    const u32 width = width_of(p.op);
    const u32 offset = at & 7;
    const bool is_store = p.op == Op::kSd || p.op == Op::kSw || p.op == Op::kSh;
    const Op ops[] = {Op::kLd, Op::kLw, Op::kLwu, Op::kLh, Op::kLhu, Op::kSd, Op::kSw, Op::kSh};
    for (u32 i = 0; i < 8; ++i) row.set(Air::kIsLd + i, p.op == ops[i] ? 1 : 0);
    row.set(Air::kPc, p.pc);
    row.set(Air::kTs, r.ts);
    row.set(Air::kRd, p.rd);
    row.set(Air::kRs1, p.rs1);
    row.set(Air::kRs2, p.rs2);
    set_word(row, Air::kImmLo, p.imm);
    row.set(Air::kTRs1, r.t_rs1);
    row.set(Air::kTReg, is_store ? r.t_rs2 : r.t_rd);
    row.set(Air::kTMem, r.t_mem);
    row.set(Air::kTMem2, record.t_mem2);
    set_word(row, Air::kALo, r.rs1);
    set_word(row, Air::kOldLo, is_store ? r.rs2 : r.rd_old);
    set_address(row, Air::kCell, at);
    for (u32 s = 1; s < 4; ++s) row.set(Air::kShift1 + s - 1, (offset & 3) == s ? 1 : 0);
    row.set(Air::kWordBit, offset >> 2);
    row.set(Air::kTwo, offset + width > 8 ? 1 : 0);

    const u128 before = (static_cast<u128>(record.mem2) << 64) | r.mem;
    const u64 loaded = extend(p.op, static_cast<u64>(before >> (8 * offset)));
    set_bytes(row, before, is_store ? stored(before, offset, width, r.rs2) : before, offset);
    const u64 value = is_store ? r.rs2 : loaded;
    for (u32 i = 0; i < 8; ++i) row.set(Air::kV0 + i, (value >> (8 * i)) & 0xff);
    if (p.op == Op::kLw || p.op == Op::kLh) {
      row.set(Air::kTop, (loaded >> (8 * width - 8)) & 0xff);
      row.set(Air::kSign, loaded >> 63);
    }
  }

 private:
  EPOCHD_HD static u32 width_of(Op op) {
    if (op == Op::kLd || op == Op::kSd) return 8;
    return op == Op::kLw || op == Op::kLwu || op == Op::kSw ? 4 : 2;
  }
  /// The loaded value, from 8 bytes starting at the address.
  EPOCHD_HD static u64 extend(Op op, u64 bytes) {
    if (op == Op::kLw) return static_cast<u64>(static_cast<i64>(static_cast<i32>(bytes)));
    if (op == Op::kLwu) return bytes & 0xffffffff;
    if (op == Op::kLh) return static_cast<u64>(static_cast<i64>(static_cast<int16_t>(bytes)));
    if (op == Op::kLhu) return bytes & 0xffff;
    return bytes;
  }
  /// Both cells after the store.
  EPOCHD_HD static u128 stored(u128 cells, u32 offset, u32 width, u64 value) {
    const u64 low_mask = width == 8 ? ~0ull : (1ull << (8 * width)) - 1;
    const u128 mask = static_cast<u128>(low_mask) << (8 * offset);
    return (cells & ~mask) | ((static_cast<u128>(value) << (8 * offset)) & mask);
  }
  /// The four words before and after, and the three around the access: their bytes and changes.
  template <class Row>
  EPOCHD_HD static void set_bytes(Row& row, u128 before, u128 after, u32 offset) {
    for (u32 k = 0; k < 4; ++k) {
      row.set(Air::kMem0 + k, lo32(static_cast<u64>(before >> (32 * k))));
      row.set(Air::kNew0 + k, lo32(static_cast<u64>(after >> (32 * k))));
    }
    const u32 first_bit = 8 * (offset & 4);
    for (u32 i = 0; i < 12; ++i) {
      row.set(Air::kY0 + i, static_cast<u64>(before >> (first_bit + 8 * i)) & 0xff);
    }
    for (u32 j = 0; j < 3; ++j) {
      const u64 old = lo32(static_cast<u64>(before >> (first_bit + 32 * j)));
      const u64 now = lo32(static_cast<u64>(after >> (first_bit + 32 * j)));
      row.set_fp(Air::kD0 + j, Fp::from_canonical(now) - Fp::from_canonical(old));
    }
  }
};

}  // namespace epochd::chips
