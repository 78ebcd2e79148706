// A table's interactions after gamma and beta: what the LogUp kernels read.
#pragma once

#include <vector>

#include "prover/prove/cpu/kernels.hpp"

namespace epochd::prover::cpu {

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

}  // namespace epochd::prover::cpu
