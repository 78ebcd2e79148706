// The BLAKE3 compression function and its constants, constexpr so that domain keys are compile-time
// constants. Everything longer than one chunk is in blake3.hpp. Freestanding: no allocation, no
// exceptions, no library beyond fixed-width integers.
// Source: the BLAKE3 paper (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020), sections 2.2 to 2.6.
#pragma once

#include "prover/core/hd.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::prover::blake3 {

inline constexpr size_t kBlockBytes = 64;
inline constexpr size_t kChunkBytes = 1024;
inline constexpr u32 kChunkBlocks = kChunkBytes / kBlockBytes;

/// Flags of a compression (section 2.3, table 3).
inline constexpr u32 kChunkStart = 1u << 0;
inline constexpr u32 kChunkEnd = 1u << 1;
inline constexpr u32 kParent = 1u << 2;
inline constexpr u32 kRoot = 1u << 3;
inline constexpr u32 kKeyedHash = 1u << 4;
inline constexpr u32 kDeriveKeyContext = 1u << 5;
inline constexpr u32 kDeriveKeyMaterial = 1u << 6;

inline constexpr Blake3Key kIv = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};

/// Which message word each of a round's 16 slots takes: row r + 1 is row r permuted.
struct Schedule {
  u8 word[7][16];
};
constexpr Schedule make_schedule() {
  constexpr u8 kPermutation[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  Schedule s{};
  for (u8 i = 0; i < 16; ++i) s.word[0][i] = i;
  for (int r = 1; r < 7; ++r) {
    for (int i = 0; i < 16; ++i) s.word[r][i] = s.word[r - 1][kPermutation[i]];
  }
  return s;
}
inline constexpr Schedule kSchedule = make_schedule();

struct Block {
  u32 words[16];
};
/// All 64 bytes a compression yields; the first 8 words are the chaining value.
struct Output {
  u32 words[16];
};

namespace detail {

EPOCHD_INLINE constexpr u32 rotate_right(u32 x, u32 n) {
  return (x >> n) | (x << (32 - n));
}

EPOCHD_INLINE constexpr void mix(u32& a, u32& b, u32& c, u32& d, u32 x, u32 y) {
  a += b + x;
  d = rotate_right(d ^ a, 16);
  c += d;
  b = rotate_right(b ^ c, 12);
  a += b + y;
  d = rotate_right(d ^ a, 8);
  c += d;
  b = rotate_right(b ^ c, 7);
}

template <int kRound>
EPOCHD_INLINE constexpr void round(u32* v, const u32* m) {
  constexpr const u8* w = kSchedule.word[kRound];
  mix(v[0], v[4], v[8], v[12], m[w[0]], m[w[1]]);
  mix(v[1], v[5], v[9], v[13], m[w[2]], m[w[3]]);
  mix(v[2], v[6], v[10], v[14], m[w[4]], m[w[5]]);
  mix(v[3], v[7], v[11], v[15], m[w[6]], m[w[7]]);
  mix(v[0], v[5], v[10], v[15], m[w[8]], m[w[9]]);
  mix(v[1], v[6], v[11], v[12], m[w[10]], m[w[11]]);
  mix(v[2], v[7], v[8], v[13], m[w[12]], m[w[13]]);
  mix(v[3], v[4], v[9], v[14], m[w[14]], m[w[15]]);
}

}  // namespace detail

constexpr Output compress(const Blake3Key& cv, const Block& block, u64 counter, u32 block_bytes,
                          u32 flags) {
  u32 v[16] = {cv.words[0],
               cv.words[1],
               cv.words[2],
               cv.words[3],
               cv.words[4],
               cv.words[5],
               cv.words[6],
               cv.words[7],
               kIv.words[0],
               kIv.words[1],
               kIv.words[2],
               kIv.words[3],
               static_cast<u32>(counter),
               static_cast<u32>(counter >> 32),
               block_bytes,
               flags};
  detail::round<0>(v, block.words);
  detail::round<1>(v, block.words);
  detail::round<2>(v, block.words);
  detail::round<3>(v, block.words);
  detail::round<4>(v, block.words);
  detail::round<5>(v, block.words);
  detail::round<6>(v, block.words);
  Output out{};
  for (int i = 0; i < 8; ++i) {
    out.words[i] = v[i] ^ v[i + 8];
    out.words[i + 8] = v[i + 8] ^ cv.words[i];
  }
  return out;
}

constexpr Blake3Key chaining_value(const Output& o) {
  return {{o.words[0], o.words[1], o.words[2], o.words[3], o.words[4], o.words[5], o.words[6],
           o.words[7]}};
}

/// Hash of one chunk that is the whole input. Pre: bytes <= kChunkBytes.
template <class Byte>
constexpr Blake3Key hash_single_chunk(const Blake3Key& key, u32 flags, const Byte* data,
                                      size_t bytes) {
  Blake3Key cv = key;
  size_t done = 0;
  do {
    const size_t n = bytes - done < kBlockBytes ? bytes - done : kBlockBytes;
    Block block{};
    for (size_t i = 0; i < n; ++i) {
      block.words[i / 4] |= static_cast<u32>(static_cast<u8>(data[done + i])) << (8 * (i % 4));
    }
    const u32 start = done == 0 ? kChunkStart : 0u;
    const u32 end = done + n == bytes ? kChunkEnd | kRoot : 0u;
    cv = chaining_value(compress(cv, block, 0, static_cast<u32>(n), flags | start | end));
    done += n;
  } while (done < bytes);
  return cv;
}

/// derive_key(context, no key material), at compile time. `context` is a string literal.
template <size_t kSize>
consteval Blake3Key derive_domain_key(const char (&context)[kSize]) {
  static_assert(kSize >= 2 && kSize - 1 <= kChunkBytes, "a context is one non-empty chunk");
  const Blake3Key context_key =
      hash_single_chunk(kIv, kDeriveKeyContext, static_cast<const char*>(context), kSize - 1);
  return hash_single_chunk(context_key, kDeriveKeyMaterial, static_cast<const char*>(context), 0);
}

}  // namespace epochd::prover::blake3
