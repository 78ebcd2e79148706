#include "prover/field/packed_avx2.hpp"
#include "prover/pcs/ntt_kernels_impl.hpp"

namespace epochd::prover::ntt {

namespace {

struct Avx2Tile {
  static __m256i load(const Fp* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store(Fp* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  /// The 4 x 4 block at rows r, columns c of `in`.
  static void transpose_block(const Fp* const* in, Fp* const* out, u32 r, u32 c) {
    const __m256i a0 = load(in[r] + c);
    const __m256i a1 = load(in[r + 1] + c);
    const __m256i a2 = load(in[r + 2] + c);
    const __m256i a3 = load(in[r + 3] + c);
    const __m256i b0 = _mm256_unpacklo_epi64(a0, a1);
    const __m256i b1 = _mm256_unpackhi_epi64(a0, a1);
    const __m256i b2 = _mm256_unpacklo_epi64(a2, a3);
    const __m256i b3 = _mm256_unpackhi_epi64(a2, a3);
    store(out[c] + r, _mm256_permute2x128_si256(b0, b2, 0x20));
    store(out[c + 1] + r, _mm256_permute2x128_si256(b1, b3, 0x20));
    store(out[c + 2] + r, _mm256_permute2x128_si256(b0, b2, 0x31));
    store(out[c + 3] + r, _mm256_permute2x128_si256(b1, b3, 0x31));
  }
  static void transpose(const Fp* const* in, Fp* const* out) {
    for (u32 r = 0; r < kLanes; r += 4) {
      for (u32 c = 0; c < kLanes; c += 4) transpose_block(in, out, r, c);
    }
  }
};

}  // namespace

const Kernels& avx2_kernels() {
  static constexpr Kernels kernels = make_kernels<PackedAvx2, Avx2Tile>();
  return kernels;
}

}  // namespace epochd::prover::ntt
