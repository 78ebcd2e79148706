#include "prover/field/packed_avx512.hpp"
#include "prover/pcs/ntt_kernels_impl.hpp"

namespace epochd::prover::ntt {

namespace {

struct Avx512Tile {
  static void transpose(const Fp* const* in, Fp* const* out) {
    __m512i a[8];
    __m512i b[8];
#pragma GCC unroll 8
    for (u32 i = 0; i < 8; ++i) a[i] = _mm512_loadu_si512(static_cast<const void*>(in[i]));
      // Pairs of elements, then pairs of 128-bit quarters, then pairs of halves.
#pragma GCC unroll 4
    for (u32 i = 0; i < 8; i += 2) {
      b[i] = _mm512_unpacklo_epi64(a[i], a[i + 1]);
      b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 1]);
    }
#pragma GCC unroll 2
    for (u32 i = 0; i < 2; ++i) {
      a[i] = _mm512_shuffle_i64x2(b[i], b[i + 2], 0x88);
      a[i + 2] = _mm512_shuffle_i64x2(b[i], b[i + 2], 0xdd);
      a[i + 4] = _mm512_shuffle_i64x2(b[i + 4], b[i + 6], 0x88);
      a[i + 6] = _mm512_shuffle_i64x2(b[i + 4], b[i + 6], 0xdd);
    }
#pragma GCC unroll 4
    for (u32 i = 0; i < 4; ++i) {
      store(out[i], _mm512_shuffle_i64x2(a[i], a[i + 4], 0x88));
      store(out[i + 4], _mm512_shuffle_i64x2(a[i], a[i + 4], 0xdd));
    }
  }
  static void store(Fp* p, __m512i v) {
    _mm512_storeu_si512(static_cast<void*>(p), v);
  }
};

}  // namespace

const Kernels& avx512_kernels() {
  static constexpr Kernels kernels = make_kernels<PackedAvx512, Avx512Tile>();
  return kernels;
}

}  // namespace epochd::prover::ntt
