// LogUp columns (docs/machine.md, LogUp): pairs of interactions as fractions, one K column a pair,
// the last pair folded into the circular accumulator acc[i+1] - acc[i] = row_sum[i] - L / N.
#include <utility>

#include "prover/core/assert.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::prover {

void CpuSession::logup(Fp3 gamma, Fp3 beta, std::span<Fp3> sums) {
  prepared_.clear();
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& shape = layout_->shape.tables[t];
    prepared_.emplace_back(lower_table(shape, gamma, beta),
                           u32{shape.air->fixed_width} + shape.air->main_width);
    sums[t] = fp3_zero();
    if (layout_->logup_segment[t] != kNone) logup_table(t, sums[t]);
  }
  sums_.assign(sums.begin(), sums.end());
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    if (layout_->main_segment[t] != kNone) trace_[layout_->main_segment[t]] = Matrix();
  }
}

void CpuSession::logup_table(u32 table, Fp3& sum) {
  const u32 segment = layout_->logup_segment[table];
  const size_t rows = size_t{1} << layout_->shape.tables[table].log_height;
  trace_[segment] = place_columns(plan_.traces[segment], layout_->segments[segment].width, rows);
  Fp* aux = trace_[segment].column(0);
  const size_t stride = trace_[segment].stride;
  const cpu::LogupView view = prepared_[table].view();
  const cpu::Planes acc{aux + 3 * (view.table.pair_count() - 1) * stride, stride};
  const TableColumns columns = trace_set(table);
  for_rows(rows, [&](size_t begin, size_t end) {
    backend_.kernels().logup_rows(view, columns, begin, end, aux, stride, acc);
  });

  sum = accumulate(acc, rows);
}

/// Turns a column of row sums into the accumulator and returns their total.
Fp3 CpuSession::accumulate(const cpu::Planes& row_sums, size_t rows) const {
  constexpr size_t kPiece = 4096;
  std::vector<Fp3> before((rows + kPiece - 1) / kPiece);
  backend_.pool().for_ranges(rows, kPiece, [&](size_t begin, size_t end) {
    Fp3 piece = fp3_zero();
    for (size_t i = begin; i < end; ++i) piece += row_sums.get(i);
    before[begin / kPiece] = piece;
  });
  Fp3 total = fp3_zero();
  for (Fp3& b : before) total += std::exchange(b, total);
  const Fp3 mean = total * Fp::from_u64(rows).inverse();
  backend_.pool().for_ranges(rows, kPiece, [&](size_t begin, size_t end) {
    Fp3 running = before[begin / kPiece] - mean * Fp::from_u64(begin);
    for (size_t i = begin; i < end; ++i) {
      const Fp3 row_sum = row_sums.get(i);
      row_sums.set(i, running);
      running += row_sum - mean;
    }
  });
  return total;
}

}  // namespace epochd::prover
