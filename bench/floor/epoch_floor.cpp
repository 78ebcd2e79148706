#include "bench/floor/epoch_floor.hpp"

#include <cmath>
#include <set>

#include "epoch/chips/airs.hpp"

namespace epochd::bench {
namespace {

using prover::AirInfo;
using prover::Preset;

// Base field products: of two elements of K; of one of F and one of K.
constexpr double kCubicProduct = 9;
constexpr double kScaledCubic = 3;
/// 1 / x in K in a batch: adjugate and norm, then the norms' inverses by running products.
constexpr double kBatchedInverse = kCubicProduct + kScaledCubic + 3 + kScaledCubic;
constexpr double kCubicBytes = 3 * kElementBytes;
constexpr double kQuotientColumns = 6;

double column_count(const AirInfo& air) {
  return air.fixed_width + air.main_width;
}

/// Fingerprints and multiplicities of all interactions at one row: a product a column that takes
/// part, whatever the number of terms it stands in. Parameters are constants.
double fingerprint_multiplications(const AirInfo& air) {
  const uint32_t columns = air.fixed_width + air.main_width;
  double count = 0;
  for (uint32_t i = 0; i < air.interaction_count; ++i) {
    const prover::Interaction& interaction = air.interactions[i];
    const prover::LinearForm* forms = air.forms + interaction.first_form;
    std::set<uint32_t> weighted;
    for (uint32_t j = 1; j <= interaction.arity; ++j) {
      for (uint32_t t = 0; t < forms[j].term_count; ++t) {
        const uint32_t slot = air.terms[forms[j].first_term + t].slot;
        if (slot < columns) weighted.insert(slot);
      }
    }
    count += forms[0].term_count + kScaledCubic * static_cast<double>(weighted.size());
  }
  return count;
}

/// Two fractions added.
constexpr double kPairOfFractions = kCubicProduct + 2 * kScaledCubic;

double rows_of(uint32_t log_rows) {
  return std::exp2(log_rows);
}

/// Leaves and levels of one tree over matrices: log height -> width.
Work tree_work(const std::map<uint32_t, double>& widths) {
  Work work;
  if (widths.empty()) return work;
  const uint32_t tallest = widths.rbegin()->first;
  for (const auto& [log_height, width] : widths) {
    work += row_hash_work(width, rows_of(log_height));
    // A lower matrix's digest is hashed into the node at its height.
    if (log_height != tallest) work.compressions += rows_of(log_height);
  }
  return work + tree_levels_work(tallest);
}

Work fri_work(uint32_t log_word, const Preset& preset) {
  Work work;
  const uint32_t log_end = preset.log_final + preset.log_blowup;
  while (log_word > log_end) {
    const uint32_t fold = std::min(preset.log_fold, log_word - log_end);
    work += row_hash_work(3 * rows_of(fold), rows_of(log_word - fold));
    work += tree_levels_work(log_word - fold);
    work += fri_fold_work(log_word, fold);
    log_word -= fold;
  }
  return work;
}

}  // namespace

const AirInfo* air_by_name(std::string_view chip) {
  for (uint32_t id = 0; id < kChipCount; ++id) {
    const AirInfo* air = chips::find_air(static_cast<ChipId>(id));
    if (air != nullptr && chip == air->name) return air;
  }
  return nullptr;
}

Work logup_work(const AirInfo& air, double rows) {
  const double pairs = air.aux_columns();
  Work work;
  work.multiplications = rows * (fingerprint_multiplications(air) +
                                 pairs * (kPairOfFractions + kBatchedInverse + kCubicProduct));
  work.bytes = rows * (column_count(air) * kElementBytes + pairs * kCubicBytes);
  return work;
}

Work logup_quotient_work(const AirInfo& air, double rows) {
  const double pairs = air.aux_columns();
  Work work;
  work.multiplications =
      rows * (fingerprint_multiplications(air) + pairs * (kPairOfFractions + 2 * kCubicProduct));
  work.bytes = rows * (column_count(air) * kElementBytes + pairs * kCubicBytes + kCubicBytes);
  return work;
}

Work constraints_work(const AirInfo& air, double rows) {
  Work work;
  work.multiplications = rows * kScaledCubic * air.constraint_count;
  work.bytes = rows * (column_count(air) * kElementBytes + 2 * kCubicBytes);
  return work;
}

Work open_work(double columns, double rows) {
  Work work;
  work.multiplications = kScaledCubic * columns * rows;
  work.bytes = rows * (columns * kElementBytes + kCubicBytes);
  return work;
}

Work deep_work(double columns, double rows) {
  return open_work(columns, rows);  // a product a column and row, and a word out instead of in
}

Work fri_fold_work(uint32_t log_word, uint32_t log_fold) {
  // Each binary step halves the word: beta (a - b), then by the point; halves are worked in.
  const double pairs = rows_of(log_word) - rows_of(log_word - log_fold);
  Work work;
  work.multiplications = pairs * (kCubicProduct + 2 * kScaledCubic);
  work.bytes = (rows_of(log_word) + rows_of(log_word - log_fold)) * kCubicBytes;
  return work;
}

StageWork epoch_work(const std::vector<FloorTable>& tables, const Preset& preset) {
  StageWork stages;
  std::map<uint32_t, double> main_widths, logup_widths, quotient_widths;
  const uint32_t blowup = preset.log_blowup;
  uint32_t tallest = 0;
  for (const auto& [air, log_rows] : tables) {
    const double rows = rows_of(log_rows);
    const double logup_columns = 3.0 * air->aux_columns();
    tallest = std::max(tallest, log_rows);
    stages["fill"].bytes += rows * air->main_width * kElementBytes;
    stages["commit main"] += lde_work(air->main_width, log_rows, blowup);
    stages["logup"] += logup_work(*air, rows);
    stages["commit logup"] += lde_work(logup_columns, log_rows, blowup);
    // Constraints of degree 3 are determined by twice as many points as the trace has.
    stages["quotient"] += constraints_work(*air, 2 * rows) + logup_quotient_work(*air, 2 * rows);
    const double columns = column_count(*air) + logup_columns;
    // The accumulator's three columns are opened at a second point.
    stages["open"] += open_work(columns + 3, rows);
    stages["deep"] += deep_work(columns + 3, rows_of(log_rows + blowup));
    if (air->main_width > 0) main_widths[log_rows + blowup] += air->main_width;
    logup_widths[log_rows + blowup] += logup_columns;
    quotient_widths[log_rows + blowup] = kQuotientColumns;
  }
  for (const auto& [log_height, width] : quotient_widths) {
    const uint32_t log_rows = log_height - blowup;
    stages["quotient"] += transform_work(3, log_rows + 1);
    stages["commit quotient"] += rows_of(blowup) * transform_work(width, log_rows);
    stages["open"] += open_work(width, rows_of(log_rows));
    stages["deep"] += deep_work(width, rows_of(log_height));
  }
  stages["commit main"] += tree_work(main_widths);
  stages["commit logup"] += tree_work(logup_widths);
  stages["commit quotient"] += tree_work(quotient_widths);
  stages["fri"] = fri_work(tallest + blowup, preset);
  stages["grind"] = grind_work(preset.grinding_bits);
  return stages;
}

}  // namespace epochd::bench
