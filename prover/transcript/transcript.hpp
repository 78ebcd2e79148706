// The Fiat-Shamir transcript: a BLAKE3 chain over one 32-byte state. Freestanding. docs/protocol.md
// §2.
//
//   start              state = H_absorb("epochd" name, format version, proof kind)
//   absorb(label, m)   state = H_absorb(state 32 | H(label) 24 | length u64 | m)
//   draw(label)        XOF_draw(state 32 | H(label) 24 | count u64); words >= p are skipped;
//   afterwards
//                      the state is the next 32 bytes of that stream
//   grind              smallest nonce with first word of H_grind(state | nonce) < 2^(64 - bits);
//   absorbed
//
// The header before absorbed data is exactly one compression block, so proof data is hashed in
// place. Labels form the readable path of a proof ("epoch/fri/layer 2") that logs and stage digests
// share.
#pragma once

#include "prover/field/fp3.hpp"
#include "prover/hash/blake3.hpp"

namespace epochd::prover {

/// Told of every state change, in order: the stage digests that name where two provers first
/// differ.
struct TranscriptObserver {
  void (*on_state)(void* context, const char* label, const Digest& state) = nullptr;
  void* context = nullptr;
};

class Transcript {
 public:
  Transcript(const char* protocol, u64 version, const char* proof_kind);

  void observe(TranscriptObserver observer) { observer_ = observer; }

  void absorb_bytes(const char* label, const void* data, size_t bytes);
  void absorb_words(const char* label, const u64* words, size_t count) {
    absorb_bytes(label, words, count * sizeof(u64));
  }
  void absorb_digest(const char* label, const Digest& d) { absorb_words(label, d.words, 4); }
  void absorb(const char* label, const Fp3* values, size_t count) {
    absorb_bytes(label, values, count * sizeof(Fp3));
  }

  /// `count` elements of K, each three consecutive field elements.
  void draw(const char* label, Fp3* out, size_t count);
  Fp3 draw(const char* label) {
    Fp3 r;
    draw(label, &r, 1);
    return r;
  }
  /// `count` indices of `bits` low bits of raw XOF words, with replacement.
  void draw_indices(const char* label, u32 bits, u32* out, size_t count);

  /// Whether nonce satisfies `bits` (0 accepts only nonce 0), without absorbing it.
  static bool grind_ok(const Digest& state, u64 nonce, u32 bits);

  const Digest& state() const { return state_; }
  /// A transcript that continues from this state with an index: how global sub-proofs fork.
  Transcript fork(const char* label, u64 index) const;

 private:
  void set_state(const char* label, const Digest& d);

  Digest state_;
  TranscriptObserver observer_;
};

}  // namespace epochd::prover
