// The work of one epoch's proof by stage, from its list of tables alone: what `epoch inspect
// --json` prints of a bundle.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/floor/floor.hpp"
#include "prover/air/air_info.hpp"
#include "prover/security/presets.hpp"

namespace epochd::bench {

struct FloorTable {
  const prover::AirInfo* air = nullptr;
  uint32_t log_rows = 0;
};

/// The AIR of that chip name; null when there is none.
const prover::AirInfo* air_by_name(std::string_view chip);

/// The columns of LogUp: weighted sums of the table's columns, an inversion and a product a pair of
/// interactions and row.
Work logup_work(const prover::AirInfo& air, double rows);
/// The share of LogUp's constraints in the quotient, on `rows` rows of the extension.
Work logup_quotient_work(const prover::AirInfo& air, double rows);
/// Folding the chip's own constraints with powers of alpha. What the constraints themselves
/// multiply is not counted: the floor is a floor.
Work constraints_work(const prover::AirInfo& air, double rows);
/// Dot products of `columns` columns of 2^log_n with weights of K.
Work open_work(double columns, double rows);
/// `columns` columns on `rows` rows of the extension, combined to one of K.
Work deep_work(double columns, double rows);
/// One fold by 2^log_fold of a word of 2^log_word elements of K.
Work fri_fold_work(uint32_t log_word, uint32_t log_fold);

/// By the stages' names in `epoch prove --json`.
using StageWork = std::map<std::string, Work>;
StageWork epoch_work(const std::vector<FloorTable>& tables, const prover::Preset& preset);

}  // namespace epochd::bench
