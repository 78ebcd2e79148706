// What a proof's tables are made from, as the machine layer hands it to a backend: functions that
// write rows, fixed columns, and where lookups are counted. The prover knows nothing else of the
// machine.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "prover/air/packed_fold.hpp"
#include "prover/core/cpu_features.hpp"

namespace epochd::prover {

/// Constraint kernels of one AIR, one per instruction set this build has.
struct AirKernels {
  std::array<FoldRows, 3> fold;  ///< indexed by Isa
};

/// The rows of a table as raw records, for backends that fill on a device. `kind` is the machine's
/// number for the fill, `shared` what all rows may read (the program; previous keys), `argument` a
/// scalar (a label).
struct RecordBlock {
  u32 kind = 0;
  const void* records = nullptr;
  u32 record_bytes = 0;
  const void* shared = nullptr;
  size_t shared_bytes = 0;
  u64 argument = 0;
};

/// One table's main columns.
struct TableSource {
  const AirKernels* kernels = nullptr;
  size_t used_rows = 0;  ///< rows [used_rows, height) are the all-zero padding row
  /// Writes rows [begin, end) of every main column: column c of row r is base[c * stride + r]. The
  /// buffer is zero before. Empty for tables whose main columns are only lookup counters.
  std::function<void(size_t begin, size_t end, Fp* base, size_t stride)> fill_rows;
  RecordBlock block;  ///< the same rows; records is null where fill_rows is empty
};

/// How sends on a lookup bus are counted: tuple -> row of a fixed table -> its multiplicity column.
///   row    = sum of weight_i * tuple_i, then through `row_of` if present (entry kNone: no such
///   row) column = first_counter, plus the tuple's first entry if `selects_column`
/// A tuple that names no row is not counted: the proof then fails, as it must.
struct LookupSpec {
  u8 bus = 0;
  u32 table = 0;       ///< index of the fixed table in the proof; kNone: it stands in a later proof
  u32 log_height = 0;  ///< of that table
  u32 first_counter = 0;
  u32 counter_count = 1;
  bool selects_column = false;
  std::array<u64, 8> weights{};
  u64 row_base = 0;   ///< subtracted from the weighted sum
  u32 row_shift = 0;  ///< then shifted right (the shifted-out bits must be 0)
  const std::vector<u32>* row_of = nullptr;
  /// Counts carried between proofs that share one fixed table, [counter_count << log_height]: added
  /// to where table is kNone, added from where it is not. May be null.
  std::vector<u64>* carried = nullptr;
};

}  // namespace epochd::prover
