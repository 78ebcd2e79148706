// The context an AIR's `eval` is written against. A chip is a stateless struct
//
//   struct AddAir {
//     static constexpr const char* kName = "add";
//     enum Col : u32 { kPc, ..., kWidth };
//     static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
//     static constexpr u32 kConstraints = ..., kInteractions = ...;   // checked against the
//     metered numbers template <class C> EPOCHD_HD static constexpr void eval(C& c);
//   };
//
// and `eval` runs over: Describe (compile time: counts, degrees, labels, interactions as data),
// PackedFold (CPU quotient), PointFold (verifier), TraceCheck (every violated constraint by name),
// and device folds. A context provides fixed(i), local(i), param(i), constant(u64), assert_zero(v,
// label) and interact(...); this mixin gives the rest. Constraints are polynomials of degree <= 3
// that vanish on every row; there are no next-row reads, no selectors of first or last row.
// Interactions are linear forms; fold contexts ignore them.
#pragma once

#include "prover/core/hd.hpp"
#include "prover/core/types.hpp"

namespace epochd::prover {

template <class Derived>
struct ContextMixin {
  /// v is 0 or 1.
  template <class V>
  EPOCHD_HD constexpr void assert_bool(const V& v, const char* label) {
    self().assert_zero(v * (v - self().constant(1)), label);
  }
  template <class V>
  EPOCHD_HD constexpr void assert_eq(const V& a, const V& b, const char* label) {
    self().assert_zero(a - b, label);
  }
  /// Bus send (+) and receive (-) of a tuple with a multiplicity; all linear in the columns.
  template <class BusId, class V, class... Tuple>
  EPOCHD_HD constexpr void send(BusId bus, const char* label, const V& multiplicity,
                                const Tuple&... tuple) {
    self().interact(static_cast<u8>(bus), true, label, multiplicity, tuple...);
  }
  template <class BusId, class V, class... Tuple>
  EPOCHD_HD constexpr void receive(BusId bus, const char* label, const V& multiplicity,
                                   const Tuple&... tuple) {
    self().interact(static_cast<u8>(bus), false, label, multiplicity, tuple...);
  }

 private:
  EPOCHD_HD constexpr Derived& self() { return static_cast<Derived&>(*this); }
};

/// What a chip must declare.
template <class A>
concept AirType = requires {
  A::kName;
  A::kFixedWidth + A::kMainWidth + A::kParams;
  A::kConstraints + A::kInteractions;
};

}  // namespace epochd::prover
