#include <immintrin.h>

#include "prover/hash/rows_impl.hpp"

namespace epochd::prover::rows {

namespace {

struct Words8 {
  static constexpr u32 kLanes = 8;
  __m256i v;

  EPOCHD_INLINE static Words8 broadcast(u32 x) { return {_mm256_set1_epi32(static_cast<int>(x))}; }
  EPOCHD_INLINE friend Words8 operator+(Words8 a, Words8 b) { return {_mm256_add_epi32(a.v, b.v)}; }
  EPOCHD_INLINE friend Words8 operator^(Words8 a, Words8 b) { return {_mm256_xor_si256(a.v, b.v)}; }
  template <int kBits>
  EPOCHD_INLINE Words8 rotate() const {
    if constexpr (kBits == 16) {
      return {_mm256_shuffle_epi8(v, byte_rotation(2))};
    } else if constexpr (kBits == 8) {
      return {_mm256_shuffle_epi8(v, byte_rotation(1))};
    } else {
      return {_mm256_or_si256(_mm256_srli_epi32(v, kBits), _mm256_slli_epi32(v, 32 - kBits))};
    }
  }
  /// Lanes hold rows 0 1 4 5 2 3 6 7: shuffles stay within 128-bit halves.
  EPOCHD_INLINE static void load_words(const Fp* p, Words8& low, Words8& high) {
    const __m256 a = _mm256_loadu_ps(reinterpret_cast<const float*>(p));
    const __m256 b = _mm256_loadu_ps(reinterpret_cast<const float*>(p + 4));
    low.v = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
    high.v = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
  }
  EPOCHD_INLINE static Words8 row_numbers() { return {_mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7)}; }
  EPOCHD_INLINE static void load_digests(const Digest* in, size_t stride, Words8* w) {
    constexpr size_t kRowOfLane[8] = {0, 1, 4, 5, 2, 3, 6, 7};
    __m256i rows[8];
    __m256i pairs[8];
    __m256i fours[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) rows[i] = load(in + kRowOfLane[i] * stride);
      // Transposes 8 x 8 words: pairs, then fours, then 128-bit parts.
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
      pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
      pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
      fours[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
      fours[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
      fours[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
      fours[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      w[i].v = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
      w[i + 4].v = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
    }
  }
  EPOCHD_INLINE static void store_digests(const Words8* w, Digest* out) {
    __m256i low[4];   // u64 number i of rows 0 .. 3
    __m256i high[4];  // and of rows 4 .. 7
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      low[i] = _mm256_unpacklo_epi32(w[2 * i].v, w[2 * i + 1].v);
      high[i] = _mm256_unpackhi_epi32(w[2 * i].v, w[2 * i + 1].v);
    }
    store_transposed(low, out);
    store_transposed(high, out + 4);
  }

 private:
  EPOCHD_INLINE static __m256i byte_rotation(int n) {
    return n == 1 ? _mm256_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3,
                                     0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12)
                  : _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0,
                                     1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  }
  EPOCHD_INLINE static __m256i load(const Digest* in) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  }
  EPOCHD_INLINE static void store(Digest* out, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out->words), v);
  }
  EPOCHD_INLINE static void store_transposed(const __m256i* v, Digest* out) {
    const __m256i a = _mm256_unpacklo_epi64(v[0], v[1]);
    const __m256i b = _mm256_unpackhi_epi64(v[0], v[1]);
    const __m256i c = _mm256_unpacklo_epi64(v[2], v[3]);
    const __m256i d = _mm256_unpackhi_epi64(v[2], v[3]);
    store(out, _mm256_permute2x128_si256(a, c, 0x20));
    store(out + 1, _mm256_permute2x128_si256(b, d, 0x20));
    store(out + 2, _mm256_permute2x128_si256(a, c, 0x31));
    store(out + 3, _mm256_permute2x128_si256(b, d, 0x31));
  }
};

constexpr Kernels kKernels = make_kernels<Words8>();

}  // namespace

const Kernels& avx2_kernels() {
  return kKernels;
}

}  // namespace epochd::prover::rows
