// One quotient per height: all constraints of its tables folded with powers of alpha on a coset of
// size 2N, divided by X^N - 1, interpolated and split into two parts of degree < N.
#include <algorithm>

#include "prover/core/assert.hpp"
#include "prover/pcs/ntt.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::prover {
void CpuSession::quotient(Fp3 alpha) {
  for (u32 h = 0; h < layout_->height_count; ++h) quotient_height(h, alpha);
}

void CpuSession::quotient_height(u32 height_index, Fp3 alpha) {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  // The first 2N rows of a bit-reversed LDE are the evaluations on 7 * <g_2N>, whatever the blowup;
  // of these the first N lie on 7 * H, the others on 7 * g_2N * H.
  const size_t rows = 2 * n;
  Matrix folded = place_columns(plan_.traces[layout_->quotient_segment[height_index]], 3, rows);
  Fp* out = folded.column(0);

  for_rows(rows, [&](size_t begin, size_t end) {
    for (u32 c = 0; c < 3; ++c) std::fill(folded.column(c) + begin, folded.column(c) + end, Fp{});
  });
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& table = layout_->shape.tables[t];
    if (table.log_height != log_height) continue;
    const u32 total = layout_->first_constraint[t] + table.air->total_constraints();
    const std::vector<Fp3> alphas = powers(alpha, total);
    const Fp3* alpha_of = alphas.data() + layout_->first_constraint[t];
    const TableColumns columns = lde_columns(t);
    FoldArgs args{columns, {}, alpha_of};
    std::copy(table.params, table.params + kParamsMax, args.params);
    const u32 logup = layout_->logup_segment[t];
    cpu::LogupFold lookup{};
    std::vector<cpu::SplitProduct> lookup_alphas;
    if (logup != kNone) {
      for (u32 i = table.air->constraint_count; i < table.air->total_constraints(); ++i) {
        lookup_alphas.emplace_back(alpha_of[i]);
      }
      lookup = {prepared_[t].view(), columns,    lde(logup).column(0),
                lde(logup).stride,   log_height, sums_[t] * Fp::from_u64(n).inverse(),
                lookup_alphas.data()};
    }
    const FoldRows fold = sources_[t].kernels->fold[static_cast<size_t>(backend_.isa())];
    for_rows(rows, [&](size_t begin, size_t end) {
      fold(args, begin, end, out, rows);
      if (logup != kNone) backend_.kernels().logup_quotient(lookup, begin, end, {out, rows});
    });
  }
  divide_and_interpolate(height_index, std::move(folded));
}

void CpuSession::divide_and_interpolate(u32 height_index, Matrix folded) {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  // X^N is 7^N on the first coset and -7^N on the second.
  const Fp shift_n = Fp::generator().pow(n);
  const Fp inverse[2] = {(shift_n - Fp::one()).inverse(), (-shift_n - Fp::one()).inverse()};
  for_rows(2 * n, [&](size_t begin, size_t end) {
    for (u32 c = 0; c < 3; ++c) {
      Fp* column = folded.column(c);
      for (size_t i = begin; i < end; ++i) column[i] *= inverse[i >= n];
    }
  });
  coset_interpolate_bitrev(backend_.isa(), folded.column(0), folded.stride, 3, log_height + 1,
                           backend_.pool());
  trace_[layout_->quotient_segment[height_index]] = std::move(folded);
}

void CpuSession::extend_quotient(u32 segment) {
  Matrix& coefficients = trace_[segment];
  const size_t n = coefficients.rows / 2;
  const u32 log_blowup = layout_->shape.preset->log_blowup;
  lde_[segment] = place_columns(plan_.ldes[segment], kQuotientWidth, n << log_blowup);
  for (u32 part = 0; part < 2; ++part) {
    coset_lde_from_coefficients(backend_.isa(), coefficients.column(0) + part * n,
                                coefficients.stride, lde_[segment].column(3 * part),
                                lde_[segment].stride, 3, layout_->segments[segment].log_height,
                                log_blowup, backend_.pool());
  }
  coefficients = Matrix();
}

}  // namespace epochd::prover
