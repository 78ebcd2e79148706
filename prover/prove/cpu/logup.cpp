// LogUp columns (docs/machine.md, LogUp): pairs of interactions as fractions, one K column a pair,
// the last pair folded into the circular accumulator acc[i+1] - acc[i] = row_sum[i] - L / N.
#include "prover/core/assert.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::prover {

void CpuSession::logup(Fp3 gamma, Fp3 beta, std::span<Fp3> sums) {
  lowered_.clear();
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    lowered_.push_back(lower_table(layout_->shape.tables[t], gamma, beta));
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
  trace_[segment] = Matrix(layout_->segments[segment].width, rows);
  Fp* aux = trace_[segment].data.data();
  const LogupTable lowered = lowered_[table].view();
  const cpu::Planes acc{aux + 3 * (lowered.pair_count() - 1) * rows, rows};
  const TableColumns columns = trace_set(table);
  for_rows(rows, [&](size_t begin, size_t end) {
    backend_.kernels().logup_rows(lowered, columns, begin, end, aux, rows, acc);
  });

  sum = fp3_zero();
  for (size_t i = 0; i < rows; ++i) sum += acc.get(i);
  const Fp3 mean = sum * Fp::from_u64(rows).inverse();
  Fp3 running = fp3_zero();
  for (size_t i = 0; i < rows; ++i) {
    const Fp3 row_sum = acc.get(i);
    acc.set(i, running);
    running += row_sum - mean;
  }
}

}  // namespace epochd::prover
