// The shape of one proof and everything that follows from it: which columns stand in which tree, at
// which height, in which order; how many openings; how FRI folds. Prover and verifier both derive
// it from the table list here, once, so that "the order in which rows are hashed" is one piece of
// code. Freestanding.
//
// Order everywhere: tree, height (tallest first), table, column, point.
#pragma once

#include "prover/air/air_info.hpp"
#include "prover/security/presets.hpp"

namespace epochd::prover {

constexpr u32 kTablesMax = 64;
constexpr u32 kBaseTreesMax = 18;
constexpr u32 kTreesMax = kBaseTreesMax + 2;
constexpr u32 kLogHeightMin = 5;
constexpr u32 kLogHeightMax = 26;
constexpr u32 kHeightsMax = kLogHeightMax - kLogHeightMin + 1;
constexpr u32 kSegmentsMax = 3 * kTablesMax + kHeightsMax;
constexpr u32 kGroupsMax = kTreesMax * kHeightsMax;
constexpr u32 kFriStepsMax = 10;
/// Openings of one proof; bounds the verifier's memory.
constexpr u32 kOpeningsMax = 6144;
constexpr u32 kNone = ~u32{0};
/// K-columns of a quotient: two parts of three base columns.
constexpr u32 kQuotientWidth = 6;

/// One table of a proof. Its fixed and main columns stand in base trees, which are committed before
/// the first challenge; kNone where it has no such columns.
struct TableShape {
  const AirInfo* air = nullptr;
  u32 log_height = 0;
  u32 fixed_tree = kNone;
  u32 main_tree = kNone;
  Fp params[kParamsMax];
};

struct ProofShape {
  const Preset* preset = nullptr;
  u32 base_tree_count = 0;
  u32 table_count = 0;
  TableShape tables[kTablesMax];
};

enum class Part : u8 { kFixed, kMain, kLogup, kQuotient };

/// The columns of one table (or one height's quotient) in one tree.
struct Segment {
  Part part;
  u32 table;  ///< kQuotient: index into Layout::heights
  u32 log_height;
  u32 width;  ///< base columns
  u32 first_opening;

  /// Columns from here on are opened at zeta and at zeta * g (the accumulator); width if none.
  u32 first_double_column() const { return part == Part::kLogup ? width - 3 : width; }
  u32 opening(u32 column, u32 point) const {
    const u32 d = first_double_column();
    return first_opening + (column < d ? column : d + 2 * (column - d) + point);
  }
  u32 opening_count() const { return width + (width - first_double_column()); }
};

/// The segments of one tree at one height: a row of it is their concatenation.
struct HeightGroup {
  u32 log_height;
  u32 first_segment;
  u32 segment_count;
  u32 width;
};

struct TreeLayout {
  u32 first_group;
  u32 group_count;
  u32 log_height;  ///< of the tallest group
};

struct Layout {
  ProofShape shape;
  u32 tree_count = 0;  ///< base trees, then LogUp, then quotient
  TreeLayout trees[kTreesMax];
  HeightGroup groups[kGroupsMax];
  Segment segments[kSegmentsMax];
  u32 segment_count = 0;
  u32 height_count = 0;
  u32 heights[kHeightsMax];  ///< distinct log heights of tables, tallest first
  u32 opening_count = 0;
  u32 fixed_segment[kTablesMax];
  u32 main_segment[kTablesMax];
  u32 logup_segment[kTablesMax];
  u32 quotient_segment[kHeightsMax];
  u32 first_constraint[kTablesMax];  ///< exponent of alpha of a table's first constraint
  u32 fri_step_count = 0;
  u32 fri_steps[kFriStepsMax];  ///< log2 of each fold
  u32 fri_final_log = 0;

  u32 logup_tree() const { return shape.base_tree_count; }
  u32 quotient_tree() const { return shape.base_tree_count + 1; }
  u32 log_height_max() const { return heights[0]; }
  u32 log_domain() const { return heights[0] + shape.preset->log_blowup; }
  u32 height_index(u32 log_height) const {
    for (u32 i = 0; i < height_count; ++i) {
      if (heights[i] == log_height) return i;
    }
    return kNone;
  }
};

/// Fills `out` from the shape. False if the shape breaks a limit: too many tables or trees, a
/// height out of range, an empty tree, no table with interactions.
[[nodiscard]] bool derive_layout(const ProofShape& shape, Layout& out);

}  // namespace epochd::prover
