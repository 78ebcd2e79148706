// AirInfo: what prover and verifier know of a table's AIR at run time, all of it derived at compile
// time from the chip's single `eval` (prover/air/describe.hpp). Freestanding.
#pragma once

#include "prover/air/interaction.hpp"
#include "prover/field/fp3.hpp"

namespace epochd::prover {

constexpr u32 kParamsMax = 4;

struct AirInfo {
  const char* name;
  u16 fixed_width;
  u16 main_width;
  u16 param_count;
  u16 constraint_count;  ///< those of `eval`; LogUp adds aux_columns() more
  u16 max_degree;
  u16 interaction_count;
  u16 form_count;
  u16 term_count;
  const Interaction* interactions;
  const LinearForm* forms;
  const LinearTerm* terms;
  const char* const* constraint_labels;
  /// sum_j alpha_power * alpha^j * constraint_j at an extension point; alpha_power leaves
  /// multiplied by alpha^constraint_count. Shapes: fixed[fixed_width], main[main_width],
  /// params[param_count].
  Fp3 (*fold_at_point)(const Fp3* fixed, const Fp3* main, const Fp* params, Fp3 alpha,
                       Fp3& alpha_power);

  /// K columns of the LogUp argument: one a pair of interactions, the last being the accumulator.
  constexpr u32 aux_columns() const { return (interaction_count + 1u) / 2u; }
  constexpr u32 total_constraints() const { return constraint_count + aux_columns(); }
};

}  // namespace epochd::prover
