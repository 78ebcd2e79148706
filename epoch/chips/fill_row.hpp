// What `fill` writes through. A chip's Fill<Air> turns one record into one row, the same function
// on CPU and GPU; columns it does not set stay 0, and the padding row of every chip is the all-zero
// row.
#pragma once

#include "epoch/exec/records.hpp"
#include "epoch/isa/opcode.hpp"
#include "prover/field/fp.hpp"

namespace epochd::chips {

/// One row of a column-major table: column c of this row is base[c * stride].
struct RowWriter {
  prover::Fp* base;
  size_t stride;

  /// Pre: value < p (every use stores words, limbs, flags and times).
  EPOCHD_HD void set(u32 column, u64 value) {
    base[column * stride] = prover::Fp::from_canonical(value);
  }
  EPOCHD_HD void set_fp(u32 column, prover::Fp value) { base[column * stride] = value; }
};

EPOCHD_HD constexpr u64 lo32(u64 x) {
  return x & 0xffffffffull;
}
EPOCHD_HD constexpr u64 hi32(u64 x) {
  return x >> 32;
}
EPOCHD_HD constexpr u64 limb16(u64 x, u32 i) {
  return (x >> (16 * i)) & 0xffffull;
}

/// Specialised beside each chip: `using Record = ...;` and
/// `template <class Row> EPOCHD_HD static void fill(const Record&, const ProgramRow*, Row&)`, where
/// the pointer is the whole Program table (instruction chips read row record.program_row; others
/// ignore it).
template <class Air>
struct Fill;

/// Specialised in `fixed.hpp` beside each chip with fixed columns: writes the fixed columns of one
/// row, by index, through a writer whose column 0 is the first fixed column.
template <class Air>
struct FixedFill;

/// The columns most instruction chips share, by enumerator.
template <class Row>
EPOCHD_HD void set_word(Row& row, u32 lo_column, u64 value) {
  row.set(lo_column, lo32(value));
  row.set(lo_column + 1, hi32(value));
}
template <class Row>
EPOCHD_HD void set_limbs(Row& row, u32 first_column, u64 value) {
  for (u32 i = 0; i < 4; ++i) row.set(first_column + i, limb16(value, i));
}

/// Cell and page columns of an address: bits 3..15 and 16..31.
template <class Row>
EPOCHD_HD void set_address(Row& row, u32 cell_column, u64 address) {
  row.set(cell_column, (address >> 3) & 0x1fff);
  row.set(cell_column + 1, (address >> 16) & 0xffff);
}

/// The byte, half and word bits of a byte or halfword access, a halfword counting as its high byte;
/// and that byte, its neighbour in the half, and the other half of the word.
template <class Row>
EPOCHD_HD void set_narrow_parts(Row& row, u32 first_bit_column, u32 top_column, u64 address,
                                bool is_half, u64 cell) {
  const u32 byte = (address & 7) + (is_half ? 1 : 0);
  for (u32 i = 0; i < 3; ++i) row.set(first_bit_column + i, (byte >> i) & 1);
  row.set(top_column, (cell >> (8 * byte)) & 0xff);
  row.set(top_column + 1, (cell >> (8 * (byte ^ 1))) & 0xff);
  row.set(top_column + 2, limb16(cell, (byte >> 1) ^ 1));
}

/// The cell after the low `bytes` bytes of value were stored at an address within it. Pre: they lie
/// in one cell.
EPOCHD_HD constexpr u64 stored_cell(u64 cell, u64 address, u32 bytes, u64 value) {
  const u64 shift = 8 * (address & 7);
  const u64 mask = (bytes == 8 ? ~0ull : (1ull << (8 * bytes)) - 1) << shift;
  return (cell & ~mask) | ((value << shift) & mask);
}

/// What every rd <- rs1 (, rs2) (, imm) row starts with: where it stands, its operands' names, the
/// times and the old value of its accesses. Sets those columns of the step that the chip has.
template <class Air, class Row>
EPOCHD_HD void fill_step(const InstructionRecord& r, const ProgramRow& p, Row& row) {
  row.set(Air::kPc, p.pc);
  row.set(Air::kTs, r.ts);
  row.set(Air::kRd, p.rd);
  row.set(Air::kRs1, p.rs1);
  row.set(Air::kTRs1, r.t_rs1);
  row.set(Air::kTRd, r.t_rd);
  set_word(row, Air::kOldLo, r.rd_old);
  if constexpr (requires { Air::kRs2; }) {
    row.set(Air::kRs2, p.rs2);
    row.set(Air::kTRs2, r.t_rs2);
  }
  if constexpr (requires { Air::kImmHi; }) set_word(row, Air::kImmLo, p.imm);
}

}  // namespace epochd::chips
