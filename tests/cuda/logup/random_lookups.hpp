// Random interactions for LogUp tests, like the chips'.
#pragma once

#include <iterator>
#include <random>

#include "prover/prove/lowered_table.hpp"

namespace epochd::cuda {

/// Of kColumns columns.
class RandomLookups {
 public:
  static constexpr u32 kColumns = 12;

  prover::Fp element() {
    // Words at the modulus and around 0 are where carries and borrows happen.
    constexpr u64 kEdges[] = {
        0, 1, 2, prover::Fp::kEpsilon, prover::Fp::kModulus - 1, prover::Fp::kModulus - 2};
    const u64 r = rng_();
    return r % 4 == 0 ? prover::Fp::from_u64(kEdges[r / 4 % std::size(kEdges)])
                      : prover::Fp::from_u64(rng_());
  }
  prover::Fp3 cubic() { return {element(), element(), element()}; }

  /// Interactions like the chips': some repeat the one before but for a column, most share a
  /// multiplicity up to its sign.
  prover::LoweredTable table(u32 accesses) {
    prover::LoweredTable t;
    for (u32 i = 0; i < accesses; ++i) {
      prover::LogupAccess a{};
      a.constant = cubic();
      a.first_weight = static_cast<u32>(t.weights.size());
      if (i > 0 && rng_() % 2 == 0) {
        const prover::LogupAccess& before = t.accesses.back();
        for (u32 k = 0; k < before.weight_count; ++k) {
          const auto w = t.weights[before.first_weight + k];
          if (k > 0) t.weights.push_back(w);
        }
      } else {
        for (u32 k = rng_() % 6; k > 0; --k) {
          t.add_weight(a.first_weight, static_cast<u32>(rng_() % kColumns), cubic());
        }
      }
      a.weight_count = static_cast<u32>(t.weights.size()) - a.first_weight;
      add_multiplicity(t, a);
      t.accesses.push_back(a);
    }
    return t;
  }
  void add_multiplicity(prover::LoweredTable& t, prover::LogupAccess& a) {
    a.first_coefficient = static_cast<u32>(t.coefficients.size());
    const u64 kind = rng_() % 4;
    if (kind < 2 && !t.accesses.empty()) {
      const prover::Fp sign = kind == 0 ? prover::Fp::one() : -prover::Fp::one();
      const prover::LogupAccess& before = t.accesses.back();
      a.multiplicity_constant = sign * before.multiplicity_constant;
      for (u32 k = 0; k < before.coefficient_count; ++k) {
        const auto c = t.coefficients[before.first_coefficient + k];
        t.coefficients.push_back({c.column, sign * c.coefficient});
      }
    } else {
      a.multiplicity_constant = kind == 2 ? prover::Fp::zero() : element();
      for (u64 k = rng_() % 3; k > 0; --k) {
        t.coefficients.push_back({static_cast<u32>(rng_() % kColumns), element()});
      }
    }
    a.coefficient_count = static_cast<u32>(t.coefficients.size()) - a.first_coefficient;
  }

 private:
  std::mt19937_64 rng_{61};
};

}  // namespace epochd::cuda
