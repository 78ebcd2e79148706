// K = F[w]/(w^3 - 2), 192 bits: the field challenges are drawn from. Elements are c0 + c1 w + c2
// w^2.
#pragma once

#include "prover/field/fp.hpp"

namespace epochd::prover {

/// The arithmetic of the cubic extension over any base type with + - *: one Fp, a SIMD pack, a CUDA
/// register. `doubled` keeps the reduction w^3 = 2 free of multiplications.
template <class Base>
struct Cubic {
  Base c0, c1, c2;

  EPOCHD_HD_INLINE static constexpr Cubic from_base(Base a) { return {a, Base{}, Base{}}; }

  EPOCHD_HD_INLINE friend constexpr Cubic operator+(Cubic a, Cubic b) {
    return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
  }
  EPOCHD_HD_INLINE friend constexpr Cubic operator-(Cubic a, Cubic b) {
    return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
  }
  EPOCHD_HD_INLINE constexpr Cubic operator-() const { return {-c0, -c1, -c2}; }
  EPOCHD_HD_INLINE friend constexpr Cubic operator*(Cubic a, Base b) {
    return {a.c0 * b, a.c1 * b, a.c2 * b};
  }
  EPOCHD_HD_INLINE friend constexpr Cubic operator+(Cubic a, Base b) {
    return {a.c0 + b, a.c1, a.c2};
  }
  EPOCHD_HD_INLINE friend constexpr Cubic operator-(Cubic a, Base b) {
    return {a.c0 - b, a.c1, a.c2};
  }
  /// Karatsuba: six base multiplications.
  EPOCHD_HD_INLINE friend constexpr Cubic operator*(Cubic a, Cubic b) {
    const Base m0 = a.c0 * b.c0;
    const Base m1 = a.c1 * b.c1;
    const Base m2 = a.c2 * b.c2;
    const Base s01 = (a.c0 + a.c1) * (b.c0 + b.c1) - m0 - m1;
    const Base s02 = (a.c0 + a.c2) * (b.c0 + b.c2) - m0 - m2;
    const Base s12 = (a.c1 + a.c2) * (b.c1 + b.c2) - m1 - m2;
    return {m0 + s12 + s12, s01 + m2 + m2, s02 + m1};
  }
  EPOCHD_HD_INLINE constexpr Cubic& operator+=(Cubic b) { return *this = *this + b; }
  EPOCHD_HD_INLINE constexpr Cubic& operator-=(Cubic b) { return *this = *this - b; }
  EPOCHD_HD_INLINE constexpr Cubic& operator*=(Cubic b) { return *this = *this * b; }
  EPOCHD_HD_INLINE constexpr Cubic square() const { return *this * *this; }
};

using Fp3 = Cubic<Fp>;
static_assert(sizeof(Fp3) == 24);

EPOCHD_HD_INLINE constexpr bool operator==(const Fp3& a, const Fp3& b) {
  return a.c0 == b.c0 && a.c1 == b.c1 && a.c2 == b.c2;
}
EPOCHD_HD_INLINE constexpr bool operator!=(const Fp3& a, const Fp3& b) {
  return !(a == b);
}

EPOCHD_HD_INLINE constexpr Fp3 fp3(Fp a) {
  return Fp3::from_base(a);
}
EPOCHD_HD_INLINE constexpr Fp3 fp3_zero() {
  return Fp3{};
}
EPOCHD_HD_INLINE constexpr Fp3 fp3_one() {
  return fp3(Fp::one());
}
EPOCHD_HD_INLINE constexpr bool is_zero(const Fp3& a) {
  return a.c0.is_zero() && a.c1.is_zero() && a.c2.is_zero();
}
/// Whether a lies in F.
EPOCHD_HD_INLINE constexpr bool is_base(const Fp3& a) {
  return a.c1.is_zero() && a.c2.is_zero();
}

EPOCHD_HD_INLINE constexpr Fp3 pow(Fp3 b, u64 e) {
  Fp3 r = fp3_one();
  for (; e != 0; e >>= 1) {
    if ((e & 1) != 0) r *= b;
    b = b.square();
  }
  return r;
}

/// 1/a by the adjugate of multiplication by a; 0 for 0.
/// norm = a0^3 + 2 a1^3 + 4 a2^3 - 6 a0 a1 a2.
EPOCHD_HD_INLINE constexpr Fp3 inverse(const Fp3& a) {
  const Fp b0 = a.c0 * a.c0 - (a.c1 * a.c2 + a.c1 * a.c2);
  const Fp b1 = a.c2 * a.c2 + a.c2 * a.c2 - a.c0 * a.c1;
  const Fp b2 = a.c1 * a.c1 - a.c0 * a.c2;
  const Fp s = a.c2 * b1 + a.c1 * b2;
  const Fp norm = a.c0 * b0 + s + s;
  const Fp n = norm.inverse();
  return {b0 * n, b1 * n, b2 * n};
}

}  // namespace epochd::prover
