// The largest epochs that the area cap lets through, as a backend's memory sees them: what a plan
// for a size of epoch is made from, whatever runs.
#pragma once

#include <functional>

#include "epoch/continuation/proof_format.hpp"
#include "prover/air/air_info.hpp"

namespace epochd {

/// Rows of `program` and `image` that are reckoned with where no program is known.
struct ProgramSize {
  u32 log_program = 16;
  u32 log_image = 16;
};

/// What a backend spends on one padded row of a table. Units: bytes. It may depend on the table's
/// columns, not on its height.
using RowBytes = std::function<double(const prover::AirInfo&)>;

/// The most that the tables of one epoch can take, rows times row_bytes summed over them: over all
/// mixes of instructions under the cap, padded, with every table that is there whatever runs. An
/// upper bound. Most programs need a quarter to a half of it: the cap counts a refresh and a
/// boundary row for every access.
double epoch_table_bytes_max(const RunParams& params, u32 log_program, const RowBytes& row_bytes);

/// log2 of the tallest boundary table there can be.
u32 boundary_log_height_max(const RunParams& params);
/// log2 of the tallest table there can be of a chip. Of program: of one with 2^16 rows.
u32 chip_log_height_max(const RunParams& params, ChipId chip);
/// log2 of the tallest table of an epoch there can be.
u32 epoch_log_height_max(const RunParams& params, u32 log_program);

}  // namespace epochd
