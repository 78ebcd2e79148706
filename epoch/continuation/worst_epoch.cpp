#include "epoch/continuation/worst_epoch.hpp"

#include <algorithm>
#include <vector>

#include "epoch/chips/airs.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/exec/access_shape.hpp"

namespace epochd {
namespace {

constexpr u32 kLogLookups = 16;
/// A table of n rows is padded to at most min(2 n + 32, 4/3 n + 5462): to twice from 32 rows on, to
/// 4/3 where it may have two instances. The lines cross at 2^13 rows.
constexpr double kPadSmall = 2;
constexpr double kPadLarge = 4.0 / 3;
constexpr double kCrossing = 8192;
constexpr u32 kRegisterKeys = kSinkKey - kRegBase + 1;
/// No register waits longer than this between two refreshes. Units: cycles.
constexpr u32 kRefreshCycles = (1u << 16) / kTicksPerCycle;

double row_of(ChipId chip, const RowBytes& row_bytes) {
  return row_bytes(*chips::find_air(chip));
}

/// Bytes that instructions of one chip cost, by the area they are charged for.
struct Density {
  double bytes;  ///< an unpadded row, its refresh and boundary rows included and padded
  double own;    ///< the part of the chip's own row, unpadded
  double area;   ///< what the scout charges a row
};

/// What the instructions of one chip may need besides their own row.
struct ChipUse {
  ChipId chip;
  u32 cells;  ///< that one touches at most
  u32 area;   ///< charged for the cheapest
};

std::vector<ChipUse> chip_uses(const AreaModel& model) {
  std::vector<ChipUse> uses{{ChipId::kUnaligned, 2, model.unaligned}};
  for (u32 i = 1; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const ChipUse use{chip_of(op), access_shape(op).mem ? 1u : 0u, model.per_op[i]};
    const auto known = std::find_if(uses.begin(), uses.end(),
                                    [&](const ChipUse& u) { return u.chip == use.chip; });
    if (known == uses.end()) {
      uses.push_back(use);
    } else {
      known->cells = std::max(known->cells, use.cells);
      known->area = std::min(known->area, use.area);
    }
  }
  return uses;
}

std::vector<Density> densities(const AreaModel& model, const RowBytes& row_bytes) {
  const double refresh = row_of(ChipId::kRefresh, row_bytes) * kPadLarge;
  const double boundary = row_of(ChipId::kBoundary, row_bytes) * kPadSmall;
  std::vector<Density> all;
  for (const ChipUse& use : chip_uses(model)) {
    const double own = row_of(use.chip, row_bytes);
    all.push_back({own + use.cells * (refresh + boundary), own, double(use.area)});
  }
  return all;
}

/// The dearest mix of instructions under the cap, as if rows were divisible: each chip's first 2^13
/// rows are padded to twice, the rest to 4/3; the best bytes for the area first.
double dearest_mix(const RunParams& params, const RowBytes& row_bytes) {
  struct Piece {
    double bytes, area, rows;
  };
  std::vector<Piece> pieces;
  const AreaModel model = epoch_area(params);
  for (const Density& d : densities(model, row_bytes)) {
    pieces.push_back({d.bytes + (kPadSmall - 1) * d.own, d.area, kCrossing});
    pieces.push_back({d.bytes + (kPadLarge - 1) * d.own, d.area, 1e18});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& x, const Piece& y) { return x.bytes * y.area > y.bytes * x.area; });
  double left = static_cast<double>(model.cap);
  double bytes = 0;
  for (const Piece& p : pieces) {
    const double rows = std::min(p.rows, left / p.area);
    bytes += rows * p.bytes;
    left -= rows * p.area;
  }
  return bytes;
}

/// Tables that are there whatever runs, registers' rows, and the padding of almost empty tables.
double constant_tables(const RunParams& params, u32 log_program, const RowBytes& row_bytes) {
  const double cycles = double(u64{1} << params.epoch_size_log2);
  const double refreshes = kRegisterKeys * (cycles / kRefreshCycles + 1) + kCrossing;
  double bytes = row_of(ChipId::kRefresh, row_bytes) * kPadLarge * refreshes +
                 row_of(ChipId::kBoundary, row_bytes) * kPadSmall * kRegisterKeys +
                 row_of(ChipId::kProgram, row_bytes) * double(u64{1} << log_program) +
                 (row_of(ChipId::kRange16, row_bytes) + row_of(ChipId::kBytes, row_bytes)) *
                     (1u << kLogLookups);
  for (u32 chip = 0; chip <= static_cast<u32>(ChipId::kBoundary); ++chip) {
    bytes += row_of(static_cast<ChipId>(chip), row_bytes) * (1u << prover::kLogHeightMin);
  }
  return bytes;
}

/// Instructions of one epoch that can be `use`'s.
u64 rows_max(const RunParams& params, const ChipUse& use) {
  return std::min(u64{1} << params.epoch_size_log2, epoch_area(params).cap / use.area);
}

/// Memory cells of one epoch: one of every load and store, two of every misaligned one.
u64 cells_max(const RunParams& params) {
  u64 cells = 0;
  for (const ChipUse& use : chip_uses(epoch_area(params))) {
    cells = std::max(cells, use.cells * rows_max(params, use));
  }
  return cells;
}

/// A taller table than there may be is no epoch's: its proof is refused before it is made.
u32 tall_as_allowed(u64 rows) {
  return std::min(height_for(rows), prover::kLogHeightMax);
}

}  // namespace

double epoch_table_bytes_max(const RunParams& params, u32 log_program, const RowBytes& row_bytes) {
  return dearest_mix(params, row_bytes) + constant_tables(params, log_program, row_bytes);
}

u32 boundary_log_height_max(const RunParams& params) {
  return tall_as_allowed(cells_max(params) + kRegisterKeys);
}

u32 chip_log_height_max(const RunParams& params, ChipId chip) {
  const u64 cycles = u64{1} << params.epoch_size_log2;
  if (chip == ChipId::kBoundary) return boundary_log_height_max(params);
  if (chip == ChipId::kRefresh) {
    return tall_as_allowed(cells_max(params) + kRegisterKeys * (cycles / kRefreshCycles + 1));
  }
  for (const ChipUse& use : chip_uses(epoch_area(params))) {
    if (use.chip == chip) return tall_as_allowed(rows_max(params, use));
  }
  return kLogLookups;
}

u32 epoch_log_height_max(const RunParams& params, u32 log_program) {
  u32 height = std::max(kLogLookups, log_program);
  for (u32 chip = 0; chip <= static_cast<u32>(ChipId::kBoundary); ++chip) {
    height = std::max(height, chip_log_height_max(params, static_cast<ChipId>(chip)));
  }
  return height;
}

}  // namespace epochd
