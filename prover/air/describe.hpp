// Describe: runs an AIR's `eval` at compile time on symbolic values. From it come the constraint
// count and degrees, the labels, and the interactions lowered to sparse linear forms. A constraint
// of degree above 3, an interaction that is not linear, or a count that differs from the declared
// one does not compile.
#pragma once

#include <array>

#include "prover/air/air_info.hpp"
#include "prover/air/context.hpp"
#include "prover/air/point_fold.hpp"

namespace epochd::prover {

/// A polynomial in the slots, known only by its degree and, while it is linear, its coefficients.
/// `at[kSlots]` is the constant.
template <u32 kSlots>
struct Symbolic {
  u32 degree = 0;
  std::array<Fp, kSlots + 1> at{};

  friend constexpr Symbolic operator+(const Symbolic& a, const Symbolic& b) {
    Symbolic r;
    r.degree = a.degree > b.degree ? a.degree : b.degree;
    for (u32 i = 0; i <= kSlots; ++i) r.at[i] = a.at[i] + b.at[i];
    return r;
  }
  constexpr Symbolic operator-() const {
    Symbolic r = *this;
    for (u32 i = 0; i <= kSlots; ++i) r.at[i] = -at[i];
    return r;
  }
  friend constexpr Symbolic operator-(const Symbolic& a, const Symbolic& b) { return a + (-b); }
  friend constexpr Symbolic operator*(const Symbolic& a, const Symbolic& b) {
    Symbolic r;
    r.degree = a.degree + b.degree;
    if (r.degree <= 1) {
      const Symbolic& scalar = a.degree == 0 ? a : b;
      const Symbolic& linear = a.degree == 0 ? b : a;
      for (u32 i = 0; i <= kSlots; ++i) r.at[i] = linear.at[i] * scalar.at[kSlots];
    }
    return r;
  }
};

struct DescribeCounts {
  u32 constraints = 0;
  u32 interactions = 0;
  u32 forms = 0;
  u32 terms = 0;
  u32 max_degree = 0;
};

/// Storage for a lowered AIR; sizes are capacities.
template <u32 kConstraints, u32 kInteractions, u32 kForms, u32 kTerms>
struct Lowered {
  DescribeCounts counts;
  std::array<const char*, kConstraints + 1> constraint_labels{};
  std::array<Interaction, kInteractions + 1> interactions{};
  std::array<LinearForm, kForms + 1> forms{};
  std::array<LinearTerm, kTerms + 1> terms{};
};

/// Not constexpr on purpose: reaching one of these while describing is the compile error.
inline void interaction_is_not_linear() {}
inline void constraint_degree_exceeds_3() {}

template <AirType A, class Storage>
struct DescribeContext : ContextMixin<DescribeContext<A, Storage>> {
  static constexpr u32 kSlots = A::kFixedWidth + A::kMainWidth + A::kParams;
  using Value = Symbolic<kSlots>;
  Storage out{};

  constexpr Value slot(u32 i) const {
    Value v;
    v.degree = 1;
    v.at[i] = Fp::one();
    return v;
  }
  constexpr Value fixed(u32 i) const { return slot(i); }
  constexpr Value local(u32 i) const { return slot(A::kFixedWidth + i); }
  /// Parameters are constants of degree 0 in constraints, but slots in interactions; they enter
  /// linearly.
  constexpr Value param(u32 i) const { return slot(A::kFixedWidth + A::kMainWidth + i); }
  constexpr Value constant(u64 c) const {
    Value v;
    v.at[kSlots] = Fp::from_u64(c);
    return v;
  }
  constexpr void assert_zero(const Value& v, const char* label) {
    if (v.degree > 3) constraint_degree_exceeds_3();
    if (v.degree > out.counts.max_degree) out.counts.max_degree = v.degree;
    out.constraint_labels[out.counts.constraints++] = label;
  }
  template <class... Tuple>
  constexpr void interact(u8 bus, bool is_send, const char* label, const Value& multiplicity,
                          const Tuple&... tuple) {
    static_assert(sizeof...(Tuple) <= kArityMax);
    out.interactions[out.counts.interactions++] = {bus, is_send, static_cast<u8>(sizeof...(Tuple)),
                                                   static_cast<u16>(out.counts.forms), label};
    push_form(multiplicity);
    (push_form(tuple), ...);
  }

 private:
  constexpr void push_form(const Value& v) {
    if (v.degree > 1) interaction_is_not_linear();
    LinearForm& form = out.forms[out.counts.forms++];
    form = {static_cast<u16>(out.counts.terms), 0, v.at[kSlots]};
    for (u32 i = 0; i < kSlots; ++i) {
      if (v.at[i].is_zero()) continue;
      out.terms[out.counts.terms++] = {static_cast<u16>(i), v.at[i]};
      ++form.term_count;
    }
  }
};

template <AirType A>
class Description {
  using Roomy = Lowered<400, 64, 64 * (kArityMax + 1), 4096>;
  template <class Storage>
  static consteval Storage run() {
    DescribeContext<A, Storage> c;
    A::eval(c);
    return c.out;
  }
  static constexpr DescribeCounts kCounts = run<Roomy>().counts;
  using Exact = Lowered<kCounts.constraints, kCounts.interactions, kCounts.forms, kCounts.terms>;

 public:
  static_assert(kCounts.constraints == A::kConstraints,
                "constraint count differs from kConstraints");
  static_assert(kCounts.interactions == A::kInteractions, "interactions differ from kInteractions");
  static_assert(A::kParams <= kParamsMax);
  static constexpr Exact kLowered = run<Exact>();
  static constexpr AirInfo kInfo = {
      A::kName,
      static_cast<u16>(A::kFixedWidth),
      static_cast<u16>(A::kMainWidth),
      static_cast<u16>(A::kParams),
      static_cast<u16>(kCounts.constraints),
      static_cast<u16>(kCounts.max_degree),
      static_cast<u16>(kCounts.interactions),
      static_cast<u16>(kCounts.forms),
      static_cast<u16>(kCounts.terms),
      kLowered.interactions.data(),
      kLowered.forms.data(),
      kLowered.terms.data(),
      kLowered.constraint_labels.data(),
      &fold_at_point<A>,
  };
};

}  // namespace epochd::prover
