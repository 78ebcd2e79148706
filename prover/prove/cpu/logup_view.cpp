#include "prover/prove/cpu/logup_view.hpp"

#include "prover/core/assert.hpp"

namespace epochd::prover::cpu {
namespace {

Multiplicity multiplicity_of(const LoweredTable& t, const LogupAccess& a) {
  if (a.coefficient_count != 1 || !a.multiplicity_constant.is_zero()) return Multiplicity::kForm;
  const Fp c = t.coefficients[a.first_coefficient].coefficient;
  if (c == Fp::one()) return Multiplicity::kColumn;
  return c == -Fp::one() ? Multiplicity::kMinusColumn : Multiplicity::kForm;
}

/// Whether the multiplicity of b is `sign` times that of a.
bool is_multiple(const LoweredTable& t, const LogupAccess& a, const LogupAccess& b, Fp sign) {
  if (a.coefficient_count != b.coefficient_count ||
      b.multiplicity_constant != sign * a.multiplicity_constant) {
    return false;
  }
  for (u32 i = 0; i < a.coefficient_count; ++i) {
    const LogupCoefficient& x = t.coefficients[a.first_coefficient + i];
    const LogupCoefficient& y = t.coefficients[b.first_coefficient + i];
    if (x.column != y.column || y.coefficient != sign * x.coefficient) return false;
  }
  return true;
}

}  // namespace

PreparedLogup::PreparedLogup(LoweredTable lowered, u32 column_count)
    : lowered_(std::move(lowered)), column_count_(column_count) {
  for (const LogupWeight& w : lowered_.weights) weights_.emplace_back(w.weight);
  const auto& accesses = lowered_.accesses;
  EPOCHD_ASSERT(accesses.size() <= 2 * kLogupPairsMax);
  for (const LogupAccess& a : accesses) {
    EPOCHD_ASSERT(a.weight_count <= kSumTermsMax);
    multiplicities_.push_back(multiplicity_of(lowered_, a));
  }
  for (size_t i = 0; i < accesses.size(); i += 2) {
    PairKind kind = PairKind::kIndependent;
    if (i + 1 < accesses.size()) {
      const LogupAccess& a = accesses[i];
      const LogupAccess& b = accesses[i + 1];
      if (is_multiple(lowered_, a, b, Fp::one())) kind = PairKind::kEqual;
      if (is_multiple(lowered_, a, b, -Fp::one())) kind = PairKind::kOpposite;
    }
    pairs_.push_back(kind);
  }
}

}  // namespace epochd::prover::cpu
