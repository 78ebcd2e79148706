// The pack interface with one lane: the portable kernels, and the oracle for the SIMD packs. Every
// pack P has P::kLanes, P::load(const Fp*), P::store(Fp*), P::broadcast(Fp or const Fp*), P() = 0,
// + - * unary -, += -= *=, times_2_24(), times_2_48() and times_2_72().
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

  /// Products with 2^24, 2^48 and 2^72: the twiddles inside a radix-8 butterfly.
  PackedScalar times_2_24() const { return {v * Fp::from_canonical(1ull << 24)}; }
  PackedScalar times_2_48() const { return {v * Fp::from_canonical(1ull << 48)}; }
  PackedScalar times_2_72() const { return {v * Fp::from_canonical((1ull << 40) - (1ull << 8))}; }
};

}  // namespace epochd::prover
