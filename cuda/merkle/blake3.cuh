// BLAKE3's compression in registers. The message is permuted between rounds instead of indexed by a
// schedule, all indices being constants once unrolled. Bound by the ALU: 605 of 720 instructions.
//
// Device code only.
#pragma once

#include "prover/hash/blake3_compress.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::cuda {

using prover::Blake3Key;
using prover::Digest;
namespace b3 = prover::blake3;

/// Flags of a message of one block.
inline constexpr u32 kWholeFlags = b3::kKeyedHash | b3::kChunkStart | b3::kChunkEnd | b3::kRoot;

struct ChainingValue {
  u32 words[8];
};
struct Message {
  u32 words[16];
};

constexpr __device__ int message_permutation(int i) {
  constexpr int kTo[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  return kTo[i];
}

__device__ __forceinline__ u32 rotate_right(u32 x, int n) {
  return __funnelshift_r(x, x, n);
}

__device__ __forceinline__ void mix(u32& a, u32& b, u32& c, u32& d, u32 x, u32 y) {
  a += b + x;
  d = rotate_right(d ^ a, 16);
  c += d;
  b = rotate_right(b ^ c, 12);
  a += b + y;
  d = rotate_right(d ^ a, 8);
  c += d;
  b = rotate_right(b ^ c, 7);
}

/// cv becomes the chaining value after block m.
__device__ __forceinline__ void compress(ChainingValue& cv, Message m, u32 counter, u32 block_bytes,
                                         u32 flags) {
  // The first four words of BLAKE3's IV; arrays of constants cannot be read in device code.
  u32 v[16] = {cv.words[0], cv.words[1], cv.words[2], cv.words[3], cv.words[4], cv.words[5],
               cv.words[6], cv.words[7], 0x6a09e667,  0xbb67ae85,  0x3c6ef372,  0xa54ff53a,
               counter,     0,           block_bytes, flags};
#pragma unroll
  for (int r = 0; r < 7; ++r) {
    const u32* w = m.words;
    mix(v[0], v[4], v[8], v[12], w[0], w[1]);
    mix(v[1], v[5], v[9], v[13], w[2], w[3]);
    mix(v[2], v[6], v[10], v[14], w[4], w[5]);
    mix(v[3], v[7], v[11], v[15], w[6], w[7]);
    mix(v[0], v[5], v[10], v[15], w[8], w[9]);
    mix(v[1], v[6], v[11], v[12], w[10], w[11]);
    mix(v[2], v[7], v[8], v[13], w[12], w[13]);
    mix(v[3], v[4], v[9], v[14], w[14], w[15]);
    Message next;
#pragma unroll
    for (int i = 0; i < 16; ++i) next.words[i] = w[message_permutation(i)];
    m = next;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) cv.words[i] = v[i] ^ v[i + 8];
}

__device__ __forceinline__ ChainingValue key_value(const Blake3Key& key) {
  ChainingValue cv;
#pragma unroll
  for (int i = 0; i < 8; ++i) cv.words[i] = key.words[i];
  return cv;
}

__device__ __forceinline__ ChainingValue load_digest(const Digest* at) {
  const uint4 low = reinterpret_cast<const uint4*>(at)[0];
  const uint4 high = reinterpret_cast<const uint4*>(at)[1];
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}
__device__ __forceinline__ void store_digest(Digest* at, const ChainingValue& cv) {
  const u32* w = cv.words;
  reinterpret_cast<uint4*>(at)[0] = make_uint4(w[0], w[1], w[2], w[3]);
  reinterpret_cast<uint4*>(at)[1] = make_uint4(w[4], w[5], w[6], w[7]);
}

/// H_key(left | right), or a parent inside a message of several chunks.
__device__ __forceinline__ ChainingValue hash_pair(const Blake3Key& key, const ChainingValue& left,
                                                   const ChainingValue& right,
                                                   u32 flags = kWholeFlags) {
  Message m;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    m.words[i] = left.words[i];
    m.words[8 + i] = right.words[i];
  }
  ChainingValue cv = key_value(key);
  compress(cv, m, 0, b3::kBlockBytes, flags);
  return cv;
}

}  // namespace epochd::cuda
