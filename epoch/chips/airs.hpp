// Every chip's AIR by ChipId, as run-time data. Freestanding.
#pragma once

#include "epoch/machine.hpp"
#include "prover/air/air_info.hpp"

namespace epochd::chips {

/// Null for a ChipId without an AIR in all_airs.hpp: no proof can have such a table.
const prover::AirInfo* find_air(ChipId chip);

}  // namespace epochd::chips
