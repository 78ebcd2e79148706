// Goldilocks, p = 2^64 - 2^32 + 1. Every Fp is canonical, in [0, p): hashing, comparing and storing
// need no further step. 2^64 = 2^32 - 1 =: eps and 2^96 = -1 (mod p) drive the reductions.
// Corrections are masks, never branches: g++ 12 turns `borrow ? eps : 0` into a jump (4x slower).
#pragma once

#include "prover/core/hd.hpp"
#include "prover/core/types.hpp"

namespace epochd::prover {

class Fp {
 public:
  static constexpr u64 kModulus = 0xffffffff00000001ull;
  static constexpr u64 kEpsilon = 0xffffffffull;
  static constexpr u32 kTwoAdicity = 32;
  static constexpr u64 kGenerator = 7;

  EPOCHD_HD_INLINE constexpr Fp() : v_(0) {}
  /// Pre: v < p.
  EPOCHD_HD_INLINE static constexpr Fp from_canonical(u64 v) { return Fp(v); }
  /// Any u64, reduced.
  EPOCHD_HD_INLINE static constexpr Fp from_u64(u64 v) { return Fp(reduce_once(v)); }
  /// A signed value, e.g. a negative coefficient of a linear form.
  EPOCHD_HD_INLINE static constexpr Fp from_i64(i64 v) {
    return v >= 0 ? from_u64(static_cast<u64>(v)) : -from_u64(0 - static_cast<u64>(v));
  }
  EPOCHD_HD_INLINE static constexpr Fp zero() { return Fp(0); }
  EPOCHD_HD_INLINE static constexpr Fp one() { return Fp(1); }
  EPOCHD_HD_INLINE static constexpr bool is_canonical(u64 v) { return v < kModulus; }

  EPOCHD_HD_INLINE constexpr u64 value() const { return v_; }
  EPOCHD_HD_INLINE constexpr bool is_zero() const { return v_ == 0; }

  EPOCHD_HD_INLINE friend constexpr Fp operator+(Fp a, Fp b) {
    // a + b - p, and p back if that borrowed: never leaves 64 bits.
    const u64 t = a.v_ - (kModulus - b.v_);
    return Fp(t + (kModulus & mask(a.v_ < kModulus - b.v_)));
  }
  EPOCHD_HD_INLINE friend constexpr Fp operator-(Fp a, Fp b) {
    return Fp(a.v_ - b.v_ + (kModulus & mask(a.v_ < b.v_)));
  }
  EPOCHD_HD_INLINE constexpr Fp operator-() const { return Fp((kModulus - v_) & mask(v_ != 0)); }
  EPOCHD_HD_INLINE friend constexpr Fp operator*(Fp a, Fp b) {
    return Fp(reduce128(static_cast<u128>(a.v_) * b.v_));
  }
  EPOCHD_HD_INLINE constexpr Fp& operator+=(Fp b) { return *this = *this + b; }
  EPOCHD_HD_INLINE constexpr Fp& operator-=(Fp b) { return *this = *this - b; }
  EPOCHD_HD_INLINE constexpr Fp& operator*=(Fp b) { return *this = *this * b; }
  EPOCHD_HD_INLINE friend constexpr bool operator==(Fp a, Fp b) { return a.v_ == b.v_; }
  EPOCHD_HD_INLINE friend constexpr bool operator!=(Fp a, Fp b) { return a.v_ != b.v_; }

  /// x mod p for any 128-bit x, canonical.
  EPOCHD_HD_INLINE static constexpr u64 reduce128(u128 x) {
    const u64 lo = static_cast<u64>(x);
    const u64 hi = static_cast<u64>(x >> 64);
    const u64 hi_hi = hi >> 32;
    const u64 hi_lo = hi & kEpsilon;
    u64 t = lo - hi_hi;                   // hi_hi * 2^96 = -hi_hi
    t -= kEpsilon & mask(lo < hi_hi);     // a borrow of 2^64 is a borrow of eps
    const u64 m = (hi_lo << 32) - hi_lo;  // hi_lo * eps
    const u64 s = t + m;
    return reduce_once(s + (kEpsilon & mask(s < t)));
  }

  EPOCHD_HD_INLINE constexpr Fp square() const { return *this * *this; }
  EPOCHD_HD_INLINE constexpr Fp pow(u64 e) const {
    Fp r = one();
    Fp b = *this;
    for (; e != 0; e >>= 1) {
      if ((e & 1) != 0) r *= b;
      b = b.square();
    }
    return r;
  }
  /// 1/x; 0 for 0 (callers that cannot exclude 0 check first).
  EPOCHD_HD_INLINE constexpr Fp inverse() const { return pow(kModulus - 2); }
  /// A generator of the subgroup of order 2^log_n: 7^((p-1)/2^log_n). Pre: log_n <= 32.
  EPOCHD_HD_INLINE static constexpr Fp two_adic_root(u32 log_n) {
    return from_canonical(kGenerator).pow((kModulus - 1) >> log_n);
  }
  EPOCHD_HD_INLINE static constexpr Fp generator() { return from_canonical(kGenerator); }

 private:
  EPOCHD_HD_INLINE constexpr explicit Fp(u64 v) : v_(v) {}
  EPOCHD_HD_INLINE static constexpr u64 mask(bool b) { return 0 - static_cast<u64>(b); }
  EPOCHD_HD_INLINE static constexpr u64 reduce_once(u64 v) {
    return v - (kModulus & mask(v >= kModulus));
  }

  u64 v_;
};
static_assert(sizeof(Fp) == 8);

}  // namespace epochd::prover
