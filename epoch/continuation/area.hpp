// What an epoch may cost (docs/machine.md, "Chips"): the scout adds a constant an instruction and
// ends the epoch before the one that would outgrow the cap. A function of the parameters alone, so
// that a run is cut the same way everywhere.
#pragma once

#include "epoch/continuation/proof_format.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd {

/// Cost of one row of a chip's table: its committed base columns, main and LogUp, and the six of a
/// quotient it may be alone with. Units: base columns. Pre: the chip has an AIR.
u32 row_area(ChipId chip);

/// Cost of one instruction of an operation, at worst: its chip's row, and for every access of that
/// row a refresh row and a boundary row. Units: base columns.
u32 instruction_area(Op op);
/// The same for a load or store not aligned to its width, which may reach two cells.
u32 unaligned_area();

/// The scout's model: cap = preset.area_per_cycle * 2^EPOCH_SIZE_LOG2. At 192 columns a cycle every
/// ordinary mix runs through (measured, 2^18: fib 132, keccak 166, sha256 167, alledge 169, sort
/// at most 173), while pure divrem (239), mul (218) or misaligned
/// code (386) is cut, so that an epoch's memory is planned for what programs do. No padding is
/// counted; with two instances a table of 2^14 rows or more has at most 4/3 of those it uses.
/// A cell that an instruction touches costs one column more than a cycle has, at least: so there
/// are fewer cells than 2^EPOCH_SIZE_LOG2, with room for the registers from 2^13 cycles on, and the
/// boundary table, of which the global proof takes a whole group at once, is never twice as tall.
/// Post: every instruction's cost is at most the cap.
AreaModel epoch_area(const RunParams& params);

}  // namespace epochd
