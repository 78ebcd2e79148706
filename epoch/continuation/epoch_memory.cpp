#include "epoch/continuation/epoch_memory.hpp"

#include <algorithm>

#include "epoch/continuation/worst_epoch.hpp"
#include "epoch/exec/records.hpp"
#include "prover/pcs/ntt.hpp"

namespace epochd {
namespace {

/// Columns of one segment, for transforms in batches.
constexpr u32 kColumnsMax = 128;

/// While LogUp columns are extended.
double early_row_bytes(const prover::AirInfo& air, u32 log_blowup) {
  const double blowup = 1u << log_blowup;
  const double main = air.main_width;
  const double aux = 3.0 * air.aux_columns();
  // Main values are dropped when the LogUp columns, made from them, are extended.
  const double made = blowup * main + main + aux;
  const double extended = blowup * (main + aux) + aux;
  return sizeof(prover::Fp) * std::max(made, extended);
}

/// From the quotient on.
double late_row_bytes(const prover::AirInfo& air, u32 log_blowup) {
  return sizeof(prover::Fp) * double(1u << log_blowup) * (air.main_width + 3.0 * air.aux_columns());
}

}  // namespace

u64 cpu_epoch_bytes_max(const RunParams& params, u32 threads) {
  const u32 b = params.preset->log_blowup;
  const u32 log_program = ProgramSize{}.log_program;
  const u32 h = epoch_log_height_max(params, log_program);
  const double lde_rows = double(u64{1} << (h + b));
  const double digests = 2 * sizeof(prover::Digest) * lde_rows;  // of one tree
  const auto tables = [&](double (*row_bytes)(const prover::AirInfo&, u32)) {
    return epoch_table_bytes_max(params, log_program,
                                 [&](const prover::AirInfo& air) { return row_bytes(air, b); });
  };
  const double early = tables(early_row_bytes) + 3 * digests;
  // A quotient a height; heights differ, so that their rows add up to less than twice the tallest.
  const double quotients =
      2 * prover::kQuotientWidth * sizeof(prover::Fp) * (lde_rows + double(u64{1} << h));
  // Points, the FRI words, layers and trees: all layers together are less than 8/7 of the first.
  const double fri =
      lde_rows * (8 + 24 * 9.0 / 8 + (24 + 2.0 * sizeof(prover::Digest) / 8) * 8 / 7);
  const double late = tables(late_row_bytes) + 4 * digests + quotients + fri;
  const u64 scratch = prover::coset_lde_scratch_bytes(kColumnsMax, h, b, threads);
  const u64 record_bytes =
      sizeof(UnalignedRecord) + 2 * (sizeof(RefreshRecord) + sizeof(BoundaryRecord));
  return static_cast<u64>(std::max(early, late)) + scratch +
         (record_bytes << params.epoch_size_log2);
}

}  // namespace epochd
