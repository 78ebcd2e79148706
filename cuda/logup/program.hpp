// A table's interactions as the LogUp kernels read them: one array of words that a block copies to
// shared memory. Columns are numbered by slots of the block's tile, so a row's values wait in
// shared memory too and no load depends on another one.
#pragma once

#include <vector>

#include "prover/air/table_columns.hpp"
#include "prover/prove/lowered_table.hpp"

namespace epochd::cuda {

/// weight * (the value in a slot), of a fingerprint.
struct LogupTerm {
  prover::Fp3 weight;
  u64 slot;
};
/// The same of a multiplicity.
struct LogupFactor {
  prover::Fp coefficient;
  u64 slot;
};
/// One interaction. fingerprint = constant + terms, and the fingerprint before if kFromPrevious;
/// multiplicity = constant + factors unless kSameMultiplicity, negative if kNegative.
struct LogupStep {
  static constexpr u8 kFromPrevious = 1;
  static constexpr u8 kSameMultiplicity = 2;
  static constexpr u8 kNegative = 4;

  prover::Fp3 constant;
  prover::Fp multiplicity_constant;
  u16 first_term, first_factor;
  u8 term_count, factor_count;
  u8 flags;
  u8 unused;
  u64 unused_word;
};
static_assert(sizeof(LogupTerm) == 32 && sizeof(LogupFactor) == 16 && sizeof(LogupStep) == 48,
              "sixteen bytes are read at once");

/// Bounds sums over a row's pairs.
inline constexpr u32 kLogupPairsMax = 24;

/// Where the parts of a program are: steps, terms, factors, then the column of every slot.
struct LogupProgram {
  const u64* words = nullptr;
  u32 pairs = 0;  ///< half as many as steps: an odd last interaction is paired with 0 / 1
  u32 term_count = 0;
  u32 factor_count = 0;
  u32 slot_count = 0;

  EPOCHD_HD_INLINE u32 first_term() const { return 12 * pairs; }
  EPOCHD_HD_INLINE u32 first_factor() const { return first_term() + 4 * term_count; }
  EPOCHD_HD_INLINE u32 first_column() const { return first_factor() + 2 * factor_count; }
  /// Even.
  EPOCHD_HD_INLINE u32 word_count() const { return first_column() + (slot_count + 1) / 2 * 2; }

  EPOCHD_HD_INLINE const LogupStep* steps() const {
    return reinterpret_cast<const LogupStep*>(words);
  }
  EPOCHD_HD_INLINE const LogupTerm* terms() const {
    return reinterpret_cast<const LogupTerm*>(words + first_term());
  }
  EPOCHD_HD_INLINE const LogupFactor* factors() const {
    return reinterpret_cast<const LogupFactor*>(words + first_factor());
  }
  EPOCHD_HD_INLINE const u64* columns() const { return words + first_column(); }
};

/// Rows of a block, a row a thread.
inline constexpr u32 kLogupRows = 128;
/// Dynamic shared memory that every device from sm_80 on has, beside a little static; the widest
/// chip needs 68 KB.
inline constexpr u32 kLogupSharedBytesMax = 96 << 10;
/// Words of a block's program and tile.
EPOCHD_HD_INLINE u32 program_and_tile_words(const LogupProgram& program) {
  return program.word_count() + program.slot_count * kLogupRows;
}

/// Appends a table's program to `words`; what is returned has no words yet. A fingerprint that
/// differs from the one before in fewer columns than it has is written as that difference: a read
/// of memory sends back what it received, but for the time. Pre: `lowered` has accesses.
LogupProgram append_program(const prover::LoweredTable& lowered, std::vector<u64>& words);

}  // namespace epochd::cuda
