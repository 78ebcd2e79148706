// PointFold: an AIR's constraints at one point of K, folded with powers of alpha: what the verifier
// computes. Freestanding.
#pragma once

#include "prover/air/context.hpp"
#include "prover/field/fp3.hpp"

namespace epochd::prover {

struct PointFold : ContextMixin<PointFold> {
  using Value = Fp3;
  const Fp3* fixed_values;
  const Fp3* main_values;
  const Fp* params;
  Fp3 alpha;
  Fp3 alpha_power;
  Fp3 sum{};

  constexpr PointFold(const Fp3* fixed, const Fp3* main, const Fp* p, Fp3 a, Fp3 power)
      : fixed_values(fixed), main_values(main), params(p), alpha(a), alpha_power(power) {}
  constexpr Fp3 fixed(u32 i) const { return fixed_values[i]; }
  constexpr Fp3 local(u32 i) const { return main_values[i]; }
  constexpr Fp3 param(u32 i) const { return fp3(params[i]); }
  constexpr Fp3 constant(u64 v) const { return fp3(Fp::from_u64(v)); }
  constexpr void assert_zero(const Fp3& v, const char*) {
    sum += v * alpha_power;
    alpha_power *= alpha;
  }
  template <class... T>
  constexpr void interact(u8, bool, const char*, const T&...) {}
};

template <class A>
Fp3 fold_at_point(const Fp3* fixed, const Fp3* main, const Fp* params, Fp3 alpha,
                  Fp3& alpha_power) {
  PointFold c(fixed, main, params, alpha, alpha_power);
  A::eval(c);
  alpha_power = c.alpha_power;
  return c.sum;
}

}  // namespace epochd::prover
