#include "prover/air/trace_check.hpp"

namespace epochd::prover {
namespace {

Fp eval_form(const TraceView& view, const LinearForm& form, size_t row) {
  Fp v = form.constant;
  for (u32 t = form.first_term; t < form.first_term + form.term_count; ++t) {
    const LinearTerm& term = view.air->terms[t];
    const u32 columns = view.air->fixed_width + view.air->main_width;
    v += term.coefficient *
         (term.slot < columns ? view.columns[term.slot][row] : view.params[term.slot - columns]);
  }
  return v;
}

}  // namespace

void add_tuple(BusBalance& balance, u8 bus, const std::vector<u64>& tuple, Fp multiplicity) {
  if (multiplicity.is_zero()) return;
  std::vector<u64> key{bus};
  key.insert(key.end(), tuple.begin(), tuple.end());
  const auto it = balance.try_emplace(std::move(key), Fp::zero()).first;
  it->second += multiplicity;
  if (it->second.is_zero()) balance.erase(it);
}

void add_interactions(const TraceView& view, BusBalance& balance) {
  std::vector<u64> tuple;
  for (u32 i = 0; i < view.air->interaction_count; ++i) {
    const Interaction& interaction = view.air->interactions[i];
    const LinearForm* forms = view.air->forms + interaction.first_form;
    for (size_t row = 0; row < view.rows; ++row) {
      const Fp m = eval_form(view, forms[0], row);
      if (m.is_zero()) continue;
      tuple.clear();
      for (u32 k = 1; k <= interaction.arity; ++k) {
        tuple.push_back(eval_form(view, forms[k], row).value());
      }
      add_tuple(balance, interaction.bus, tuple, interaction.is_send ? m : -m);
    }
  }
}

}  // namespace epochd::prover
