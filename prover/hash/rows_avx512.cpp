#include <immintrin.h>

#include "prover/hash/rows_impl.hpp"

namespace epochd::prover::rows {

namespace {

struct Words16 {
  static constexpr u32 kLanes = 16;
  __m512i v;

  EPOCHD_INLINE static Words16 broadcast(u32 x) { return {_mm512_set1_epi32(static_cast<int>(x))}; }
  EPOCHD_INLINE friend Words16 operator+(Words16 a, Words16 b) {
    return {_mm512_add_epi32(a.v, b.v)};
  }
  EPOCHD_INLINE friend Words16 operator^(Words16 a, Words16 b) {
    return {_mm512_xor_si512(a.v, b.v)};
  }
  template <int kBits>
  EPOCHD_INLINE Words16 rotate() const {
    return {_mm512_ror_epi32(v, kBits)};
  }
  /// Lanes hold rows 0 1 8 9 2 3 10 11 ..: shuffles stay within 128-bit quarters.
  EPOCHD_INLINE static void load_words(const Fp* p, Words16& low, Words16& high) {
    const __m512 a = _mm512_loadu_ps(static_cast<const void*>(p));
    const __m512 b = _mm512_loadu_ps(static_cast<const void*>(p + 8));
    low.v = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88));
    high.v = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd));
  }
  EPOCHD_INLINE static Words16 row_numbers() {
    return {_mm512_setr_epi32(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15)};
  }
  EPOCHD_INLINE static void load_digests(const Digest* in, size_t stride, Words16* w) {
    constexpr size_t kRowOfLane[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
    __m512i rows[8];
    __m512i pairs[8];
    __m512i fours[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      rows[i] = _mm512_inserti64x4(_mm512_castsi256_si512(load(in + kRowOfLane[i] * stride)),
                                   load(in + kRowOfLane[i + 8] * stride), 1);
    }
    // Transposes 8 x 8 words: pairs, then fours, then 128-bit parts.
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
      pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
      pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
      fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
      fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
      fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
      fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      w[i].v = _mm512_permutex2var_epi64(fours[i], even, fours[i + 4]);
      w[i + 4].v = _mm512_permutex2var_epi64(fours[i], odd, fours[i + 4]);
    }
  }
  EPOCHD_INLINE static void store_digests(const Words16* w, Digest* out) {
    __m512i low[4];   // u64 number i of rows 0 .. 7
    __m512i high[4];  // and of rows 8 .. 15
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      low[i] = _mm512_unpacklo_epi32(w[2 * i].v, w[2 * i + 1].v);
      high[i] = _mm512_unpackhi_epi32(w[2 * i].v, w[2 * i + 1].v);
    }
    store_transposed(low, out);
    store_transposed(high, out + 8);
  }

 private:
  EPOCHD_INLINE static __m256i load(const Digest* in) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  }
  EPOCHD_INLINE static void store_halves(Digest* low, Digest* high, __m512i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(low->words), _mm512_castsi512_si256(v));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(high->words), _mm512_extracti64x4_epi64(v, 1));
  }
  EPOCHD_INLINE static void store_transposed(const __m512i* v, Digest* out) {
    const __m512i a = _mm512_unpacklo_epi64(v[0], v[1]);
    const __m512i b = _mm512_unpackhi_epi64(v[0], v[1]);
    const __m512i c = _mm512_unpacklo_epi64(v[2], v[3]);
    const __m512i d = _mm512_unpackhi_epi64(v[2], v[3]);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    store_halves(out, out + 2, _mm512_permutex2var_epi64(a, first, c));
    store_halves(out + 1, out + 3, _mm512_permutex2var_epi64(b, first, d));
    store_halves(out + 4, out + 6, _mm512_permutex2var_epi64(a, second, c));
    store_halves(out + 5, out + 7, _mm512_permutex2var_epi64(b, second, d));
  }
};

constexpr Kernels kKernels = make_kernels<Words16>();

}  // namespace

const Kernels& avx512_kernels() {
  return kKernels;
}

}  // namespace epochd::prover::rows
