// One row of one table: what LogupEval defines, over a program and a tile. Host and device.
#pragma once

#include "cuda/field/lazy_cubic.hpp"
#include "cuda/logup/program.hpp"

namespace epochd::cuda {

/// The values of a row's slots, `stride` words apart.
struct LogupTile {
  const u64* values;
  u32 stride;
  EPOCHD_HD_INLINE u64 operator[](u64 slot) const {
    return values[static_cast<u32>(slot) * stride];
  }
};

/// Walks over the interactions, two at a time.
class LogupRow {
 public:
  EPOCHD_HD_INLINE LogupRow(const LogupProgram& program, LogupTile tile)
      : step_(program.steps()), terms_(program.terms()), factors_(program.factors()), tile_(tile) {}

  struct Fraction {
    LooseCubic numerator, denominator;
  };
  /// The next two, over a common denominator.
  EPOCHD_HD_INLINE Fraction fraction() {
    advance();
    const LooseCubic a = fingerprint_;
    const u64 a_times = multiplicity(LogupStep::kNegative);
    advance();
    LazyCubicSum numerator(fingerprint_, a_times);
    numerator.add(a, multiplicity(LogupStep::kNegative));
    return {numerator.value(), product(a, LooseFactor::of(fingerprint_))};
  }

  /// u * denominator - numerator of the next two.
  EPOCHD_HD_INLINE LooseCubic constraint(const LooseCubic& u) {
    advance();
    const LooseCubic a = fingerprint_;
    LazyCubicSum inner(LooseCubic{multiplicity(0), 0, 0});
    inner.add(u, LooseFactor::of(a));
    const LooseCubic t = inner.value();
    advance();
    LazyCubicSum outer(a, multiplicity(0));
    outer.add(t, LooseFactor::of(fingerprint_));
    return outer.value();
  }

 private:
  EPOCHD_HD_INLINE void advance() {
    const LogupStep& s = *step_++;
    LazyCubicSum f(LooseCubic::of(s.constant));
    if ((s.flags & LogupStep::kFromPrevious) != 0) f.add_early(fingerprint_);
    const LogupTerm* term = terms_ + s.first_term;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (u32 i = s.term_count; i != 0; --i, ++term) {
      f.add(LooseCubic::of(term->weight), tile_[term->slot]);
    }
    fingerprint_ = f.value();
    flags_ = s.flags;
    if ((s.flags & LogupStep::kSameMultiplicity) != 0) return;
    LazySum m(s.multiplicity_constant.value());
    const LogupFactor* factor = factors_ + s.first_factor;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (u32 i = s.factor_count; i != 0; --i, ++factor) {
      m.add(factor->coefficient.value(), tile_[factor->slot]);
    }
    multiplicity_ = m.value();
  }
  /// Negated where the step's kNegative bit is `negative_bit`.
  EPOCHD_HD_INLINE u64 multiplicity(u8 negative_bit) const {
    const bool negative = (flags_ & LogupStep::kNegative) == negative_bit;
    return negative ? loose::negate(multiplicity_) : multiplicity_;
  }

  const LogupStep* step_;
  const LogupTerm* terms_;
  const LogupFactor* factors_;
  LogupTile tile_;
  LooseCubic fingerprint_{};
  u64 multiplicity_ = 0;
  u8 flags_ = 0;
};

}  // namespace epochd::cuda
