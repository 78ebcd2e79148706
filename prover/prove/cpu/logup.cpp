// LogUp columns (docs/machine.md, LogUp): pairs of interactions as fractions, one K column a pair,
// the last pair folded into the circular accumulator acc[i+1] - acc[i] = row_sum[i] - L / N.
#include "prover/core/assert.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::prover {

cpu::LoweredTable CpuSession::lower(u32 table, Fp3 gamma, Fp3 beta) const {
  const TableShape& shape = layout_->shape.tables[table];
  const AirInfo& air = *shape.air;
  const u32 columns = air.fixed_width + air.main_width;
  cpu::LoweredTable out;
  for (u32 i = 0; i < air.interaction_count; ++i) {
    const Interaction& interaction = air.interactions[i];
    const LinearForm* forms = air.forms + interaction.first_form;
    cpu::LogupAccess a{};
    a.first_weight = static_cast<u32>(out.weights.size());
    a.constant = gamma + Fp::from_u64(interaction.bus);
    Fp3 power = beta;
    for (u32 k = 1; k <= interaction.arity; ++k, power *= beta) {
      a.constant += power * forms[k].constant;
      for (u32 t = forms[k].first_term; t < forms[k].first_term + forms[k].term_count; ++t) {
        const LinearTerm& term = air.terms[t];
        const Fp3 weight = power * term.coefficient;
        if (term.slot >= columns) {
          a.constant += weight * shape.params[term.slot - columns];
        } else {
          out.add_weight(a.first_weight, term.slot, weight);
        }
      }
    }
    a.weight_count = static_cast<u32>(out.weights.size()) - a.first_weight;
    const Fp sign = interaction.is_send ? Fp::one() : -Fp::one();
    a.first_coefficient = static_cast<u32>(out.coefficients.size());
    a.multiplicity_constant = sign * forms[0].constant;
    for (u32 t = forms[0].first_term; t < forms[0].first_term + forms[0].term_count; ++t) {
      const LinearTerm& term = air.terms[t];
      EPOCHD_ASSERT(term.slot < columns);
      out.coefficients.push_back({term.slot, sign * term.coefficient});
    }
    a.coefficient_count = static_cast<u32>(out.coefficients.size()) - a.first_coefficient;
    out.accesses.push_back(a);
  }
  return out;
}

void CpuSession::logup(Fp3 gamma, Fp3 beta, std::span<Fp3> sums) {
  lowered_.clear();
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    lowered_.push_back(lower(t, gamma, beta));
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
  const cpu::LogupTable lowered = lowered_[table].view();
  const cpu::Planes acc{aux + 3 * (lowered.pair_count() - 1) * rows, rows};
  const std::vector<const Fp*> columns = trace_columns(table);
  for_rows(rows, [&](size_t begin, size_t end) {
    backend_.kernels().logup_rows(lowered, columns.data(), begin, end, aux, rows, acc);
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
