// Four Goldilocks lanes in an AVX2 register; the interface is packed_scalar.hpp's. Only files named
// *_avx2.cpp may include this.
//
// AVX2 compares signed, so one side of each comparison carries the sign bit flipped ("shifted"
// below). Flipping is adding 2^63, so differences of two shifted values are differences of the
// values.
#pragma once

#include <immintrin.h>

#include "prover/core/hd.hpp"
#include "prover/field/split_factor.hpp"

namespace epochd::prover {

struct PackedAvx2 {
  static constexpr u32 kLanes = 4;
  __m256i v;

  EPOCHD_INLINE PackedAvx2() : v(_mm256_setzero_si256()) {}
  EPOCHD_INLINE explicit PackedAvx2(__m256i x) : v(x) {}

  EPOCHD_INLINE static PackedAvx2 load(const Fp* p) {
    return PackedAvx2(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  EPOCHD_INLINE void store(Fp* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  EPOCHD_INLINE static PackedAvx2 broadcast(Fp a) {
    return PackedAvx2(_mm256_set1_epi64x(__builtin_bit_cast(long long, a)));
  }
  EPOCHD_INLINE static PackedAvx2 broadcast(const Fp* p) { return broadcast(*p); }

  EPOCHD_INLINE friend PackedAvx2 operator+(PackedAvx2 a, PackedAvx2 b) {
    return add_negated(_mm256_xor_si256(a.v, sign()), _mm256_sub_epi64(shifted_modulus(), b.v));
  }
  EPOCHD_INLINE friend PackedAvx2 operator-(PackedAvx2 a, PackedAvx2 b) {
    return add_negated(_mm256_xor_si256(a.v, sign()), _mm256_xor_si256(b.v, sign()));
  }
  EPOCHD_INLINE PackedAvx2 operator-() const {
    const __m256i zero = _mm256_cmpeq_epi64(v, _mm256_setzero_si256());
    return PackedAvx2(_mm256_andnot_si256(zero, _mm256_sub_epi64(modulus(), v)));
  }
  EPOCHD_INLINE friend PackedAvx2 operator*(PackedAvx2 a, PackedAvx2 b) {
    const __m256i a_hi = _mm256_srli_epi64(a.v, 32);
    const __m256i b_hi = _mm256_srli_epi64(b.v, 32);
    const __m256i ll = _mm256_mul_epu32(a.v, b.v);
    const __m256i lh = _mm256_mul_epu32(a.v, b_hi);
    const __m256i hl = _mm256_mul_epu32(a_hi, b.v);
    const __m256i hh = _mm256_mul_epu32(a_hi, b_hi);
    const __m256i t0 = _mm256_add_epi64(hl, _mm256_srli_epi64(ll, 32));
    const __m256i t1 = _mm256_add_epi64(lh, _mm256_and_si256(t0, epsilon()));
    const __m256i hi = _mm256_add_epi64(_mm256_add_epi64(hh, _mm256_srli_epi64(t0, 32)),
                                        _mm256_srli_epi64(t1, 32));
    const __m256i lo = _mm256_blend_epi32(ll, _mm256_slli_epi64(t1, 32), 0xaa);
    return reduce(lo, hi);
  }
  EPOCHD_INLINE PackedAvx2& operator+=(PackedAvx2 b) { return *this = *this + b; }
  EPOCHD_INLINE PackedAvx2& operator-=(PackedAvx2 b) { return *this = *this - b; }
  EPOCHD_INLINE PackedAvx2& operator*=(PackedAvx2 b) { return *this = *this * b; }

  /// The product with 2^kExponent, a twiddle inside a radix-16 butterfly. 0 < kExponent < 96.
  /// x 2^k is cut at bit 64, and h 2^64 = lo32(h) eps - hi32(h) because 2^64 = eps, 2^96 = -1.
  template <u32 kExponent>
  EPOCHD_INLINE PackedAvx2 times_power_of_2() const {
    if constexpr (kExponent >= 64) {
      const auto m = _mm256_mul_epu32(_mm256_slli_epi64(v, kExponent - 64), epsilon());
      return PackedAvx2(m) - PackedAvx2(_mm256_srli_epi64(v, 96 - kExponent));
    } else {
      const auto low = _mm256_slli_epi64(v, kExponent);
      const auto m = _mm256_mul_epu32(_mm256_srli_epi64(v, 64 - kExponent), epsilon());
      if constexpr (kExponent <= 32) return add_to_any(low, m);
      return add_to_any(low, (PackedAvx2(m) - PackedAvx2(_mm256_srli_epi64(v, 96 - kExponent))).v);
    }
  }

  /// A value cut into pieces of 22 bits.
  struct Pieces {
    __m256i v[3];
  };
  EPOCHD_INLINE Pieces pieces() const {
    const __m256i mask = _mm256_set1_epi64x((1 << 22) - 1);
    return {_mm256_and_si256(v, mask), _mm256_and_si256(_mm256_srli_epi64(v, 22), mask),
            _mm256_srli_epi64(v, 44)};
  }
  /// SplitFactor of every lane.
  struct Factors {
    __m256i low[3], high[3];
  };
  EPOCHD_INLINE Factors factors() const {
    const __m256i at[3] = {v, times_power_of_2<22>().v, times_power_of_2<44>().v};
    Factors f;
    for (u32 i = 0; i < 3; ++i) {
      f.low[i] = at[i];
      f.high[i] = _mm256_srli_epi64(at[i], 32);
    }
    return f;
  }
  /// A sum of products, reduced once: low + 2^32 high. Pre: at most kSumTermsMax are added.
  struct Sum {
    __m256i low = _mm256_setzero_si256(), high = _mm256_setzero_si256();

    EPOCHD_INLINE void add(const Pieces& x, const SplitFactor& f) {
      for (u32 i = 0; i < 3; ++i) {
        const __m256i fl = _mm256_set1_epi32(static_cast<int>(f.low[i]));
        const __m256i fh = _mm256_set1_epi32(static_cast<int>(f.high[i]));
        low = _mm256_add_epi64(low, _mm256_mul_epu32(x.v[i], fl));
        high = _mm256_add_epi64(high, _mm256_mul_epu32(x.v[i], fh));
      }
    }
    EPOCHD_INLINE void add(const Pieces& x, const Factors& f) {
      for (u32 i = 0; i < 3; ++i) {
        low = _mm256_add_epi64(low, _mm256_mul_epu32(x.v[i], f.low[i]));
        high = _mm256_add_epi64(high, _mm256_mul_epu32(x.v[i], f.high[i]));
      }
    }
    EPOCHD_INLINE PackedAvx2 value() const {
      return add_to_any(low, PackedAvx2(high).times_power_of_2<32>().v);
    }
  };

 private:
  EPOCHD_INLINE static __m256i sign() { return _mm256_set1_epi64x(INT64_MIN); }
  EPOCHD_INLINE static __m256i epsilon() { return _mm256_set1_epi64x(0xffffffffll); }
  EPOCHD_INLINE static __m256i modulus() {
    return _mm256_set1_epi64x(static_cast<long long>(Fp::kModulus));
  }
  EPOCHD_INLINE static __m256i shifted_modulus() {
    return _mm256_set1_epi64x(static_cast<long long>(Fp::kModulus ^ (1ull << 63)));
  }
  /// a - n, and p more if that borrowed; both shifted. Canonical if -p <= a - n < p.
  EPOCHD_INLINE static PackedAvx2 add_negated(__m256i a, __m256i n) {
    const __m256i borrow = _mm256_cmpgt_epi64(n, a);
    return PackedAvx2(
        _mm256_add_epi64(_mm256_sub_epi64(a, n), _mm256_and_si256(borrow, modulus())));
  }
  /// x + m for any x < 2^64 and m such that x + m - p < p, e.g. m <= eps^2: one correction is
  /// enough.
  EPOCHD_INLINE static PackedAvx2 add_to_any(__m256i x, __m256i m) {
    return add_negated(_mm256_xor_si256(x, sign()), _mm256_sub_epi64(shifted_modulus(), m));
  }
  /// lo + 2^64 hi = lo - hi32(hi) + lo32(hi) eps.
  EPOCHD_INLINE static PackedAvx2 reduce(__m256i lo, __m256i hi) {
    const __m256i shifted = _mm256_xor_si256(lo, sign());
    const __m256i t = _mm256_sub_epi64(shifted, _mm256_srli_epi64(hi, 32));
    const __m256i borrow = _mm256_cmpgt_epi64(t, shifted);
    const __m256i low = _mm256_sub_epi64(t, _mm256_srli_epi64(borrow, 32));
    const __m256i m = _mm256_mul_epu32(hi, epsilon());
    return add_negated(low, _mm256_sub_epi64(shifted_modulus(), m));
  }
};

}  // namespace epochd::prover
