// Eight Goldilocks lanes in an AVX-512 register; the interface is packed_scalar.hpp's. Only files
// named
// *_avx512.cpp may include this. Same reductions as packed_avx2.hpp, with unsigned compares into
// masks.
#pragma once

#include <immintrin.h>

#include "prover/core/hd.hpp"
#include "prover/field/split_factor.hpp"

namespace epochd::prover {

struct PackedAvx512 {
  static constexpr u32 kLanes = 8;
  __m512i v;

  EPOCHD_INLINE PackedAvx512() : v(_mm512_setzero_si512()) {}
  EPOCHD_INLINE explicit PackedAvx512(__m512i x) : v(x) {}

  EPOCHD_INLINE static PackedAvx512 load(const Fp* p) {
    return PackedAvx512(_mm512_loadu_si512(static_cast<const void*>(p)));
  }
  EPOCHD_INLINE void store(Fp* p) const { _mm512_storeu_si512(static_cast<void*>(p), v); }
  EPOCHD_INLINE static PackedAvx512 broadcast(Fp a) {
    return PackedAvx512(_mm512_set1_epi64(__builtin_bit_cast(long long, a)));
  }
  EPOCHD_INLINE static PackedAvx512 broadcast(const Fp* p) { return broadcast(*p); }

  EPOCHD_INLINE friend PackedAvx512 operator+(PackedAvx512 a, PackedAvx512 b) {
    return add_negated(a.v, _mm512_sub_epi64(modulus(), b.v));
  }
  EPOCHD_INLINE friend PackedAvx512 operator-(PackedAvx512 a, PackedAvx512 b) {
    return add_negated(a.v, b.v);
  }
  EPOCHD_INLINE PackedAvx512 operator-() const {
    return PackedAvx512(_mm512_maskz_sub_epi64(_mm512_test_epi64_mask(v, v), modulus(), v));
  }
  EPOCHD_INLINE friend PackedAvx512 operator*(PackedAvx512 a, PackedAvx512 b) {
    const __m512i a_hi = _mm512_srli_epi64(a.v, 32);
    const __m512i b_hi = _mm512_srli_epi64(b.v, 32);
    const __m512i ll = _mm512_mul_epu32(a.v, b.v);
    const __m512i lh = _mm512_mul_epu32(a.v, b_hi);
    const __m512i hl = _mm512_mul_epu32(a_hi, b.v);
    const __m512i hh = _mm512_mul_epu32(a_hi, b_hi);
    const __m512i t0 = _mm512_add_epi64(hl, _mm512_srli_epi64(ll, 32));
    const __m512i t1 = _mm512_add_epi64(lh, _mm512_and_si512(t0, epsilon()));
    const __m512i hi = _mm512_add_epi64(_mm512_add_epi64(hh, _mm512_srli_epi64(t0, 32)),
                                        _mm512_srli_epi64(t1, 32));
    const __m512i lo = _mm512_mask_blend_epi32(0xaaaa, ll, _mm512_slli_epi64(t1, 32));
    return reduce(lo, hi);
  }
  EPOCHD_INLINE PackedAvx512& operator+=(PackedAvx512 b) { return *this = *this + b; }
  EPOCHD_INLINE PackedAvx512& operator-=(PackedAvx512 b) { return *this = *this - b; }
  EPOCHD_INLINE PackedAvx512& operator*=(PackedAvx512 b) { return *this = *this * b; }

  /// The product with 2^kExponent, 0 < kExponent < 96; explained in packed_avx2.hpp.
  template <u32 kExponent>
  EPOCHD_INLINE PackedAvx512 times_power_of_2() const {
    if constexpr (kExponent >= 64) {
      const auto m = _mm512_mul_epu32(_mm512_slli_epi64(v, kExponent - 64), epsilon());
      return add_negated(m, _mm512_srli_epi64(v, 96 - kExponent));
    } else {
      const auto low = _mm512_slli_epi64(v, kExponent);
      const auto m = _mm512_mul_epu32(_mm512_srli_epi64(v, 64 - kExponent), epsilon());
      if constexpr (kExponent <= 32) return add_to_any(low, m);
      return add_to_any(low, (add_negated(m, _mm512_srli_epi64(v, 96 - kExponent))).v);
    }
  }

  /// A value cut into pieces of 22 bits.
  struct Pieces {
    __m512i v[3];
  };
  EPOCHD_INLINE Pieces pieces() const {
    const __m512i mask = _mm512_set1_epi64((1 << 22) - 1);
    return {_mm512_and_si512(v, mask), _mm512_and_si512(_mm512_srli_epi64(v, 22), mask),
            _mm512_srli_epi64(v, 44)};
  }
  /// SplitFactor of every lane.
  struct Factors {
    __m512i low[3], high[3];
  };
  EPOCHD_INLINE Factors factors() const {
    const __m512i at[3] = {v, times_power_of_2<22>().v, times_power_of_2<44>().v};
    Factors f;
    for (u32 i = 0; i < 3; ++i) {
      f.low[i] = at[i];
      f.high[i] = _mm512_srli_epi64(at[i], 32);
    }
    return f;
  }
  /// A sum of products, reduced once: low + 2^32 high. Pre: at most kSumTermsMax are added.
  struct Sum {
    __m512i low = _mm512_setzero_si512(), high = _mm512_setzero_si512();

    EPOCHD_INLINE void add(const Pieces& x, const SplitFactor& f) {
      for (u32 i = 0; i < 3; ++i) {
        const __m512i fl = _mm512_set1_epi32(static_cast<int>(f.low[i]));
        const __m512i fh = _mm512_set1_epi32(static_cast<int>(f.high[i]));
        low = _mm512_add_epi64(low, _mm512_mul_epu32(x.v[i], fl));
        high = _mm512_add_epi64(high, _mm512_mul_epu32(x.v[i], fh));
      }
    }
    EPOCHD_INLINE void add(const Pieces& x, const Factors& f) {
      for (u32 i = 0; i < 3; ++i) {
        low = _mm512_add_epi64(low, _mm512_mul_epu32(x.v[i], f.low[i]));
        high = _mm512_add_epi64(high, _mm512_mul_epu32(x.v[i], f.high[i]));
      }
    }
    EPOCHD_INLINE PackedAvx512 value() const {
      return add_to_any(low, PackedAvx512(high).times_power_of_2<32>().v);
    }
  };

 private:
  EPOCHD_INLINE static __m512i epsilon() { return _mm512_set1_epi64(0xffffffffll); }
  EPOCHD_INLINE static __m512i modulus() {
    return _mm512_set1_epi64(static_cast<long long>(Fp::kModulus));
  }
  /// a - n, and p more if that borrowed. Canonical if -p <= a - n < p.
  EPOCHD_INLINE static PackedAvx512 add_negated(__m512i a, __m512i n) {
    const __m512i t = _mm512_sub_epi64(a, n);
    return PackedAvx512(_mm512_mask_add_epi64(t, _mm512_cmplt_epu64_mask(a, n), t, modulus()));
  }
  /// x + m for any x < 2^64 and m such that x + m - p < p, e.g. m <= eps^2: one correction is
  /// enough.
  EPOCHD_INLINE static PackedAvx512 add_to_any(__m512i x, __m512i m) {
    return add_negated(x, _mm512_sub_epi64(modulus(), m));
  }
  /// lo + 2^64 hi = lo - hi32(hi) + lo32(hi) eps.
  EPOCHD_INLINE static PackedAvx512 reduce(__m512i lo, __m512i hi) {
    const __m512i hi_hi = _mm512_srli_epi64(hi, 32);
    const __m512i t = _mm512_sub_epi64(lo, hi_hi);
    const __m512i low = _mm512_mask_sub_epi64(t, _mm512_cmplt_epu64_mask(lo, hi_hi), t, epsilon());
    return add_to_any(low, _mm512_mul_epu32(hi, epsilon()));
  }
};

}  // namespace epochd::prover
