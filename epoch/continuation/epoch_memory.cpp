#include "epoch/continuation/epoch_memory.hpp"

#include <algorithm>
#include <vector>

#include "epoch/chips/airs.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/exec/access_shape.hpp"
#include "epoch/exec/records.hpp"
#include "prover/pcs/ntt.hpp"

namespace epochd {
namespace {

/// Rows of `program` that are reckoned with: fixed tables of larger programs come on top.
constexpr u32 kLogProgram = 16;
constexpr u32 kLogLookups = 16;
/// A table of n rows is padded to at most min(2 n + 32, 4/3 n + 5462): to twice from 32 rows on, to
/// 4/3 where it may have two instances. The lines cross at 2^13 rows.
constexpr double kPadSmall = 2;
constexpr double kPadLarge = 4.0 / 3;
constexpr double kCrossing = 8192;
constexpr u32 kRegisterKeys = kSinkKey - kRegBase + 1;
/// No register waits longer than this between two refreshes. Units: cycles.
constexpr u32 kRefreshCycles = (1u << 16) / kTicksPerCycle;

/// Columns of one segment, for transforms in batches.
constexpr u32 kColumnsMax = 128;

struct Weights {
  double early;  ///< while LogUp columns are extended: bytes a padded row
  double late;   ///< from the quotient on
};

Weights weights_of(ChipId chip, u32 log_blowup) {
  const prover::AirInfo& air = *chips::find_air(chip);
  const double blowup = 1u << log_blowup;
  const double main = air.main_width;
  const double aux = 3.0 * air.aux_columns();
  // Main values are dropped when the LogUp columns, made from them, are extended.
  const double made = blowup * main + main + aux;
  const double extended = blowup * (main + aux) + aux;
  return {sizeof(prover::Fp) * std::max(made, extended),
          sizeof(prover::Fp) * blowup * (main + aux)};
}

/// Bytes that instructions of one chip cost, by the area they are charged for.
struct Density {
  double bytes;  ///< an unpadded row, its refresh and boundary rows included and padded
  double own;    ///< the part of the chip's own row, unpadded
  double area;   ///< what the scout charges a row
};

std::vector<Density> densities(const RunParams& params, double Weights::*when) {
  const u32 b = params.preset->log_blowup;
  const double refresh = weights_of(ChipId::kRefresh, b).*when * kPadLarge;
  const double boundary = weights_of(ChipId::kBoundary, b).*when * kPadSmall;
  std::vector<Density> all;
  ChipId seen = ChipId::kCount;
  for (u32 i = 1; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (chip_of(op) == seen) continue;
    seen = chip_of(op);
    const double own = weights_of(seen, b).*when;
    const double cells = access_shape(op).mem ? 1 : 0;
    all.push_back({own + cells * (refresh + boundary), own, double(instruction_area(op))});
  }
  const double own = weights_of(ChipId::kUnaligned, b).*when;
  all.push_back({own + 2 * (refresh + boundary), own, double(unaligned_area())});
  return all;
}

/// The dearest mix of instructions under the cap, as if rows were divisible: each chip's first 2^13
/// rows are padded to twice, the rest to 4/3; the best bytes for the area first.
double dearest_mix(const RunParams& params, double Weights::*when) {
  struct Piece {
    double bytes, area, rows;
  };
  std::vector<Piece> pieces;
  for (const Density& d : densities(params, when)) {
    pieces.push_back({d.bytes + (kPadSmall - 1) * d.own, d.area, kCrossing});
    pieces.push_back({d.bytes + (kPadLarge - 1) * d.own, d.area, 1e18});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& x, const Piece& y) { return x.bytes * y.area > y.bytes * x.area; });
  double left = static_cast<double>(epoch_area(params).cap);
  double bytes = 0;
  for (const Piece& p : pieces) {
    const double rows = std::min(p.rows, left / p.area);
    bytes += rows * p.bytes;
    left -= rows * p.area;
  }
  return bytes;
}

/// Tables that are there whatever runs, registers' rows, and the padding of almost empty tables.
double constant_tables(const RunParams& params, double Weights::*when) {
  const u32 b = params.preset->log_blowup;
  const double cycles = u64{1} << params.epoch_size_log2;
  const double refreshes = kRegisterKeys * (cycles / kRefreshCycles + 1) + kCrossing;
  double bytes = weights_of(ChipId::kRefresh, b).*when * kPadLarge * refreshes +
                 weights_of(ChipId::kBoundary, b).*when * kPadSmall * kRegisterKeys +
                 weights_of(ChipId::kProgram, b).*when * (1u << kLogProgram) +
                 (weights_of(ChipId::kRange16, b).*when + weights_of(ChipId::kBytes, b).*when) *
                     (1u << kLogLookups);
  for (u32 chip = 0; chip <= static_cast<u32>(ChipId::kBoundary); ++chip) {
    bytes += weights_of(static_cast<ChipId>(chip), b).*when * (1u << prover::kLogHeightMin);
  }
  return bytes;
}

/// log2 of the tallest table there can be.
u32 log_height_max(const RunParams& params) {
  // Boundary rows: registers, and two cells of every misaligned access.
  const u64 cap = epoch_area(params).cap;
  const u64 cycles = u64{1} << params.epoch_size_log2;
  const u64 one_cell = std::min(cycles, cap / instruction_area(Op::kSd));
  const u64 two_cells = 2 * std::min(cycles, cap / unaligned_area());
  const u64 rows = std::max(cycles, std::max(one_cell, two_cells) + kRegisterKeys);
  return std::max(height_for(rows), kLogLookups);
}

}  // namespace

u64 cpu_epoch_bytes_max(const RunParams& params, u32 threads) {
  const u32 b = params.preset->log_blowup;
  const u32 h = log_height_max(params);
  const double lde_rows = double(u64{1} << (h + b));
  const double digests = 2 * sizeof(prover::Digest) * lde_rows;  // of one tree
  const double early =
      dearest_mix(params, &Weights::early) + constant_tables(params, &Weights::early) + 3 * digests;
  // A quotient a height; heights differ, so that their rows add up to less than twice the tallest.
  const double quotients =
      2 * prover::kQuotientWidth * sizeof(prover::Fp) * (lde_rows + double(u64{1} << h));
  // Points, the FRI words, layers and trees: all layers together are less than 8/7 of the first.
  const double fri =
      lde_rows * (8 + 24 * 9.0 / 8 + (24 + 2.0 * sizeof(prover::Digest) / 8) * 8 / 7);
  const double late = dearest_mix(params, &Weights::late) +
                      constant_tables(params, &Weights::late) + 4 * digests + quotients + fri;
  const u64 scratch = prover::coset_lde_scratch_bytes(kColumnsMax, h, b, threads);
  const u64 record_bytes =
      sizeof(UnalignedRecord) + 2 * (sizeof(RefreshRecord) + sizeof(BoundaryRecord));
  return static_cast<u64>(std::max(early, late)) + scratch +
         (record_bytes << params.epoch_size_log2);
}

}  // namespace epochd
