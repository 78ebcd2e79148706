// The pack interface with one lane: the portable kernels, and the oracle for the SIMD packs. Every
// pack P has P::kLanes, P::load(const Fp*), P::store(Fp*), P::broadcast(Fp or const Fp*), P() = 0,
// + - * unary -, += -= *=, times_power_of_2<k>().
// Lanes are canonical after every operation.
#pragma once

#include "prover/field/fp3.hpp"

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
};

}  // namespace epochd::prover
