#include "prover/hash/rows.hpp"

#include "prover/core/assert.hpp"
#include "prover/hash/rows_impl.hpp"

namespace epochd::prover {
namespace {

/// One lane: the portable kernel, and what is left over by the wide ones.
struct Word {
  static constexpr u32 kLanes = 1;
  u32 v;

  static Word broadcast(u32 x) { return {x}; }
  friend Word operator+(Word a, Word b) { return {a.v + b.v}; }
  friend Word operator^(Word a, Word b) { return {a.v ^ b.v}; }
  template <int kBits>
  Word rotate() const {
    return {v >> kBits | v << (32 - kBits)};
  }
  static void load_words(const Fp* p, Word& low, Word& high) {
    low.v = static_cast<u32>(p->value());
    high.v = static_cast<u32>(p->value() >> 32);
  }
  static void load_digests(const Digest* in, size_t, Word* w) {
    u64 words[4];
    __builtin_memcpy(words, in, sizeof words);
    for (int i = 0; i < 4; ++i) {
      w[2 * i].v = static_cast<u32>(words[i]);
      w[2 * i + 1].v = static_cast<u32>(words[i] >> 32);
    }
  }
  static Word row_numbers() { return {0}; }
  static void store_digests(const Word* w, Digest* out) {
    for (int i = 0; i < 4; ++i) {
      out->words[i] = w[2 * i].v | static_cast<u64>(w[2 * i + 1].v) << 32;
    }
  }
};

constexpr rows::Kernels kScalarKernels = rows::make_kernels<Word>();

}  // namespace

const rows::Kernels& rows::scalar_kernels() {
  return kScalarKernels;
}

const rows::Kernels& rows::kernels_of(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return avx512_kernels();
    case Isa::kAvx2:
      return avx2_kernels();
    case Isa::kScalar:
      break;
  }
  return kScalarKernels;
}

void hash_rows(Isa isa, const Blake3Key& key, const Fp* const* columns, u32 width, size_t first_row,
               size_t count, Digest* out) {
  EPOCHD_ASSERT(width >= 1 && width <= kRowWidthMax);
  const size_t done =
      rows::kernels_of(isa).hash_row_groups(key, columns, width, first_row, count, out);
  kScalarKernels.hash_row_groups(key, columns, width, first_row + done, count - done, out + done);
}

void hash_pairs(Isa isa, const Blake3Key& key, const Digest* left, const Digest* right,
                size_t stride, size_t count, Digest* out) {
  constexpr u32 kFlags =
      blake3::kKeyedHash | blake3::kChunkStart | blake3::kChunkEnd | blake3::kRoot;
  const size_t done =
      rows::kernels_of(isa).hash_pair_groups(key, kFlags, left, right, stride, count, out);
  kScalarKernels.hash_pair_groups(key, kFlags, left + done * stride, right + done * stride, stride,
                                  count - done, out + done);
}

}  // namespace epochd::prover
