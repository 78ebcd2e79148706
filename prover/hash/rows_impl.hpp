// Hashing over a vector type V of V::kLanes 32-bit lanes: a row of a matrix in each, or a chunk of
// one long message. What is in the lanes has the same length, so flags and the chunk tree are the
// same in every lane; counters too, but for chunks. V provides
//   + ^ , rotate<n>() to the right, V::broadcast(u32), V::load_words(const Fp*, V& low, V& high):
//   the two halves of kLanes elements in some lane order, V::store_digests(const V[8], Digest*):
//   undoes it, V::load_digests(const Digest*, stride, V[8]): digests in that order,
//   V::row_numbers(): for each lane which row it holds.
#pragma once

#include "prover/core/cpu_features.hpp"
#include "prover/core/hd.hpp"
#include "prover/field/fp.hpp"
#include "prover/hash/blake3_compress.hpp"

namespace epochd::prover::rows {

inline constexpr u32 kBlockColumns = blake3::kBlockBytes / sizeof(Fp);
inline constexpr u32 kChunkColumns = blake3::kChunkBytes / sizeof(Fp);
/// Subtrees of a row of up to 2^14 columns, of which the last chunk is not stacked.
inline constexpr u32 kStackMax = 7;

template <class V>
EPOCHD_INLINE void mix(V& a, V& b, V& c, V& d, V x, V y) {
  a = a + b + x;
  d = (d ^ a).template rotate<16>();
  c = c + d;
  b = (b ^ c).template rotate<12>();
  a = a + b + y;
  d = (d ^ a).template rotate<8>();
  c = c + d;
  b = (b ^ c).template rotate<7>();
}

template <class V, int kRound>
EPOCHD_INLINE void round(V* v, const V* m) {
  constexpr const u8* w = blake3::kSchedule.word[kRound];
  mix(v[0], v[4], v[8], v[12], m[w[0]], m[w[1]]);
  mix(v[1], v[5], v[9], v[13], m[w[2]], m[w[3]]);
  mix(v[2], v[6], v[10], v[14], m[w[4]], m[w[5]]);
  mix(v[3], v[7], v[11], v[15], m[w[6]], m[w[7]]);
  mix(v[0], v[5], v[10], v[15], m[w[8]], m[w[9]]);
  mix(v[1], v[6], v[11], v[12], m[w[10]], m[w[11]]);
  mix(v[2], v[7], v[8], v[13], m[w[12]], m[w[13]]);
  mix(v[3], v[4], v[9], v[14], m[w[14]], m[w[15]]);
}

/// cv = the chaining value of one compression. Kept out of line: it is 900 instructions.
template <class V>
[[gnu::noinline]] void compress(V* cv, const V* m, V counter, u32 block_bytes, u32 flags) {
  V v[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) v[i] = cv[i];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) v[8 + i] = V::broadcast(blake3::kIv.words[i]);
  v[12] = counter;
  v[13] = V::broadcast(0);
  v[14] = V::broadcast(block_bytes);
  v[15] = V::broadcast(flags);
  round<V, 0>(v, m);
  round<V, 1>(v, m);
  round<V, 2>(v, m);
  round<V, 3>(v, m);
  round<V, 4>(v, m);
  round<V, 5>(v, m);
  round<V, 6>(v, m);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) cv[i] = v[i] ^ v[i + 8];
}

template <class V>
void set_key(V* cv, const Blake3Key& key) {
  for (int i = 0; i < 8; ++i) cv[i] = V::broadcast(key.words[i]);
}

/// Rows hashed together. Columns are read eight at a time over a whole tile, because columns a
/// power of two apart share cache sets: row by row, each would evict the others before its line is
/// used up.
inline constexpr u32 kTileRows = 128;

template <class V>
struct Tile {
  static constexpr u32 kGroupsMax = kTileRows / V::kLanes;
  V cv[kGroupsMax][8];
};

/// What a tile is hashed from: rows row .. row + groups * V::kLanes of `columns`.
struct TileInput {
  const Fp* const* columns;
  u32 width;
  size_t row;
  u32 groups;
};

/// Asks for the lines that a later group needs: two groups on, or the start of the next eight
/// columns.
template <class V>
EPOCHD_INLINE void prefetch_ahead(const TileInput& in, u32 column, u32 group) {
  constexpr u32 kAhead = 2;
  const bool wraps = group + kAhead >= in.groups;
  const u32 first = wraps ? column + kBlockColumns : column;
  const size_t at = in.row + (wraps ? group + kAhead - in.groups : group + kAhead) * V::kLanes;
  for (u32 i = first; i < first + kBlockColumns && i < in.width; ++i) {
    for (u32 l = 0; l < V::kLanes; l += 8) __builtin_prefetch(in.columns[i] + at + l);
  }
}

/// Chaining values of chunk `chunk`, which is columns[0 .. width) of the input.
template <class V>
void hash_chunk(Tile<V>& tile, const Blake3Key& key, const TileInput& in, u32 chunk,
                u32 root_flag) {
  for (u32 g = 0; g < in.groups; ++g) set_key(tile.cv[g], key);
  for (u32 done = 0; done < in.width; done += kBlockColumns) {
    const u32 count = in.width - done < kBlockColumns ? in.width - done : kBlockColumns;
    const u32 start = done == 0 ? blake3::kChunkStart : 0u;
    const u32 end = done + count == in.width ? blake3::kChunkEnd | root_flag : 0u;
    V m[16];
    for (u32 i = 2 * count; i < 16; ++i) m[i] = V::broadcast(0);
    for (u32 g = 0; g < in.groups; ++g) {
      prefetch_ahead<V>(in, done, g);
      const Fp* const* columns = in.columns + done;
      for (u32 i = 0; i < count; ++i) {
        V::load_words(columns[i] + in.row + g * V::kLanes, m[2 * i], m[2 * i + 1]);
      }
      compress(tile.cv[g], m, V::broadcast(chunk), count * static_cast<u32>(sizeof(Fp)),
               blake3::kKeyedHash | start | end);
    }
  }
}

/// right = the parents of left and right.
template <class V>
void merge(Tile<V>& right, const Tile<V>& left, u32 groups, const Blake3Key& key, u32 root_flag) {
  for (u32 g = 0; g < groups; ++g) {
    V m[16];
    for (int i = 0; i < 8; ++i) {
      m[i] = left.cv[g][i];
      m[i + 8] = right.cv[g][i];
    }
    set_key(right.cv[g], key);
    compress(right.cv[g], m, V::broadcast(0), blake3::kBlockBytes,
             blake3::kKeyedHash | blake3::kParent | root_flag);
  }
}

/// Rows of more than one chunk. Subtrees wait on the stack as in blake3.cpp; the last chunk stays
/// apart, it makes the root.
template <class V>
void hash_chunks(Tile<V>& tile, const Blake3Key& key, const TileInput& in) {
  Tile<V> stack[kStackMax];
  u32 stacked = 0;
  u32 chunk = 0;
  for (u32 done = 0;; done += kChunkColumns) {
    const u32 count = in.width - done < kChunkColumns ? in.width - done : kChunkColumns;
    hash_chunk(tile, key, {in.columns + done, count, in.row, in.groups}, chunk, 0);
    ++chunk;
    if (done + count == in.width) break;
    for (u32 c = chunk; (c & 1) == 0; c >>= 1) merge(tile, stack[--stacked], in.groups, key, 0);
    stack[stacked++] = tile;
  }
  while (stacked > 0) {
    --stacked;
    merge(tile, stack[stacked], in.groups, key, stacked == 0 ? blake3::kRoot : 0u);
  }
}

template <class V>
void hash_tile(const Blake3Key& key, const TileInput& in, Digest* out) {
  Tile<V> tile;
  if (in.width <= kChunkColumns) {
    hash_chunk(tile, key, in, 0, blake3::kRoot);
  } else {
    hash_chunks(tile, key, in);
  }
  for (u32 g = 0; g < in.groups; ++g) V::store_digests(tile.cv[g], out + g * V::kLanes);
}

/// As many rows as fill whole vectors; returns their number.
template <class V>
size_t hash_row_groups(const Blake3Key& key, const Fp* const* columns, u32 width, size_t first_row,
                       size_t count, Digest* out) {
  size_t i = 0;
  while (count - i >= V::kLanes) {
    const size_t left = (count - i) / V::kLanes;
    const u32 groups = left < Tile<V>::kGroupsMax ? static_cast<u32>(left) : Tile<V>::kGroupsMax;
    hash_tile<V>(key, {columns, width, first_row + i, groups}, out + i);
    i += groups * V::kLanes;
  }
  return i;
}

/// The same for pairs of digests: one compression each, with these flags.
template <class V>
size_t hash_pair_groups(const Blake3Key& key, u32 flags, const Digest* left, const Digest* right,
                        size_t stride, size_t count, Digest* out) {
  size_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) {
    V m[16];
    V::load_digests(left + i * stride, stride, m);
    V::load_digests(right + i * stride, stride, m + 8);
    V cv[8];
    set_key(cv, key);
    compress(cv, m, V::broadcast(0), blake3::kBlockBytes, flags);
    V::store_digests(cv, out + i);
  }
  return i;
}

/// Chaining values of whole chunks of one message, of which the first is number `first`; as many as
/// fill whole vectors. Pre: first + count <= 2^32.
template <class V>
size_t hash_chunk_groups(const Blake3Key& key, u32 flags, const u8* chunks, u32 first, size_t count,
                         Digest* out) {
  constexpr size_t kDigestsOfBlock = blake3::kBlockBytes / sizeof(Digest);
  constexpr size_t kDigestsOfChunk = blake3::kChunkBytes / sizeof(Digest);
  size_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) {
    // load_digests() reads bytes, wherever they lie.
    const Digest* const data = reinterpret_cast<const Digest*>(chunks + i * blake3::kChunkBytes);
    const V counter = V::broadcast(first + static_cast<u32>(i)) + V::row_numbers();
    V cv[8];
    set_key(cv, key);
    for (u32 block = 0; block < blake3::kChunkBlocks; ++block) {
      const u32 start = block == 0 ? blake3::kChunkStart : 0u;
      const u32 end = block + 1 == blake3::kChunkBlocks ? blake3::kChunkEnd : 0u;
      V m[16];
      V::load_digests(data + block * kDigestsOfBlock, kDigestsOfChunk, m);
      V::load_digests(data + block * kDigestsOfBlock + 1, kDigestsOfChunk, m + 8);
      compress(cv, m, counter, blake3::kBlockBytes, flags | start | end);
    }
    V::store_digests(cv, out + i);
  }
  return i;
}

struct Kernels {
  size_t (*hash_row_groups)(const Blake3Key& key, const Fp* const* columns, u32 width,
                            size_t first_row, size_t count, Digest* out);
  size_t (*hash_pair_groups)(const Blake3Key& key, u32 flags, const Digest* left,
                             const Digest* right, size_t stride, size_t count, Digest* out);
  size_t (*hash_chunk_groups)(const Blake3Key& key, u32 flags, const u8* chunks, u32 first,
                              size_t count, Digest* out);
};

template <class V>
constexpr Kernels make_kernels() {
  return {hash_row_groups<V>, hash_pair_groups<V>, hash_chunk_groups<V>};
}

const Kernels& scalar_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
const Kernels& kernels_of(Isa isa);

}  // namespace epochd::prover::rows
