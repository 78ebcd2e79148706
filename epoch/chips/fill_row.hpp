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

}  // namespace epochd::chips
