// The pack interface with one lane: the portable kernels, and the oracle for the SIMD packs. Every
// pack P has P::kLanes, P::load(const Fp*), P::store(Fp*), P::broadcast(Fp or const Fp*), P() = 0,
// + - * unary -, += -= *=, times_power_of_2<k>(), and P::Sum for sums of products
// (split_factor.hpp). Lanes are canonical after every operation.
#pragma once

#include "prover/field/split_factor.hpp"

namespace epochd::prover {

struct PackedScalar {
  static constexpr u32 kLanes = 1;
  Fp v;

  EPOCHD_HD_INLINE static PackedScalar load(const Fp* p) { return {*p}; }
  EPOCHD_HD_INLINE static PackedScalar broadcast(Fp a) { return {a}; }
  EPOCHD_HD_INLINE static PackedScalar broadcast(const Fp* p) { return {*p}; }
  EPOCHD_HD_INLINE void store(Fp* p) const { *p = v; }
  EPOCHD_HD_INLINE friend PackedScalar operator+(PackedScalar a, PackedScalar b) {
    return {a.v + b.v};
  }
  EPOCHD_HD_INLINE friend PackedScalar operator-(PackedScalar a, PackedScalar b) {
    return {a.v - b.v};
  }
  EPOCHD_HD_INLINE friend PackedScalar operator*(PackedScalar a, PackedScalar b) {
    return {a.v * b.v};
  }
  EPOCHD_HD_INLINE PackedScalar operator-() const { return {-v}; }
  PackedScalar& operator+=(PackedScalar b) { return *this = *this + b; }
  PackedScalar& operator-=(PackedScalar b) { return *this = *this - b; }
  PackedScalar& operator*=(PackedScalar b) { return *this = *this * b; }

  /// The product with 2^kExponent, a twiddle inside a radix-16 butterfly. 0 < kExponent < 96.
  template <u32 kExponent>
  EPOCHD_HD_INLINE PackedScalar times_power_of_2() const {
    // 2^64 = 2^32 - 1.
    constexpr u64 kLow = 1ull << (kExponent % 64);
    constexpr u64 kHigh = 0xffffffffull << (kExponent % 32);
    return {v * Fp::from_canonical(kExponent < 64 ? kLow : kHigh)};
  }

  /// Sums of products. One lane reduces each: the SIMD packs' way costs more here.
  using Pieces = PackedScalar;
  using Factors = PackedScalar;
  EPOCHD_HD_INLINE Pieces pieces() const { return *this; }
  EPOCHD_HD_INLINE Factors factors() const { return *this; }
  struct Sum {
    Fp sum = Fp::zero();

    EPOCHD_HD_INLINE void add(const Pieces& x, const SplitFactor& f) { sum += x.v * f.value; }
    EPOCHD_HD_INLINE void add(const Pieces& x, const Factors& f) { sum += x.v * f.v; }
    EPOCHD_HD_INLINE PackedScalar value() const { return {sum}; }
  };
};

}  // namespace epochd::prover
