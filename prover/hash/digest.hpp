// The 32-byte values that commitments, transcripts and proofs are made of. Freestanding.
#pragma once

#include "prover/core/types.hpp"

namespace epochd::prover {

/// A BLAKE3 output: its 32 bytes read as four little-endian words.
struct Digest {
  u64 words[4];

  friend constexpr bool operator==(const Digest& a, const Digest& b) {
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1]) | (a.words[2] ^ b.words[2]) |
            (a.words[3] ^ b.words[3])) == 0;
  }
  friend constexpr bool operator!=(const Digest& a, const Digest& b) { return !(a == b); }
};
static_assert(sizeof(Digest) == 32);

/// A BLAKE3 key: its 32 bytes read as eight little-endian words, as the compression wants them.
struct Blake3Key {
  u32 words[8];
};

}  // namespace epochd::prover
