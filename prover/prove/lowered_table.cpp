#include "prover/prove/lowered_table.hpp"

#include "prover/core/assert.hpp"

namespace epochd::prover {

LoweredTable lower_table(const TableShape& shape, Fp3 gamma, Fp3 beta) {
  const AirInfo& air = *shape.air;
  const u32 columns = air.fixed_width + air.main_width;
  LoweredTable out;
  for (u32 i = 0; i < air.interaction_count; ++i) {
    const Interaction& interaction = air.interactions[i];
    const LinearForm* forms = air.forms + interaction.first_form;
    LogupAccess a{};
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

std::vector<Fp3> powers(Fp3 base, size_t count) {
  std::vector<Fp3> out(count);
  Fp3 p = fp3_one();
  for (Fp3& x : out) {
    x = p;
    p *= base;
  }
  return out;
}

}  // namespace epochd::prover
