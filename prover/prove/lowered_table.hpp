// A table's interactions after gamma and beta are known: what LogUp kernels of any backend read.
#pragma once

#include <vector>

#include "prover/air/logup_eval.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::prover {

/// Columns are numbered fixed then main; parameters are folded into the constants.
struct LoweredTable {
  std::vector<LogupAccess> accesses;
  std::vector<LogupWeight> weights;
  std::vector<LogupCoefficient> coefficients;

  /// Adds to the weight of a column within the access that began at `first`.
  void add_weight(u32 first, u32 column, Fp3 weight) {
    for (size_t i = first; i < weights.size(); ++i) {
      if (weights[i].column == column) {
        weights[i].weight += weight;
        return;
      }
    }
    weights.push_back({column, weight});
  }
  LogupTable view() const {
    return {accesses.data(), static_cast<u32>(accesses.size()), weights.data(),
            coefficients.data()};
  }
};

LoweredTable lower_table(const TableShape& table, Fp3 gamma, Fp3 beta);

/// 1, base, base^2, ...
std::vector<Fp3> powers(Fp3 base, size_t count);

}  // namespace epochd::prover
