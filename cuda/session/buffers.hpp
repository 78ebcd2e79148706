// Every buffer of one proof on the device, taken in one pass over the layout. The same pass over a
// counting arena is the memory plan: what a proof of this shape needs, before anything is
// allocated.
#pragma once

#include <vector>

#include "cuda/rt/memory.hpp"
#include "prover/hash/digest.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::cuda {

/// An arena that hands out nothing and counts.
class CountingArena {
 public:
  template <class T>
  T* take(size_t count) {
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return nullptr;
  }
  size_t used() const { return used_; }

 private:
  size_t used_ = 0;
};

struct FriLayerBuffers {
  u64* word = nullptr;  ///< three planes of 2^log_word: this layer's word
  u32 log_word = 0;
  u32 log_fold = 0;
  prover::Digest* tree = nullptr;
};

struct SessionBuffers {
  std::vector<u64*>
      trace;  ///< by segment: [width][2^h]; null for fixed columns. Quotient: parts' coefficients
  std::vector<u64*> lde;              ///< by segment: [width][2^(h+b)]
  std::vector<prover::Digest*> tree;  ///< by tree; null for fixed trees
  std::vector<u64*> folded;           ///< by height: three planes of 2^(h+1)
  std::vector<FriLayerBuffers> fri;
  u64* final_word = nullptr;
  u32 log_final_word = 0;
  u64* scratch = nullptr;  ///< NTT, openings and DEEP in turn
  size_t scratch_words = 0;
  prover::Fp3* sums = nullptr;           ///< [tables]
  std::vector<prover::Fp3*> block_sums;  ///< by table: scratch of LogUp's scan
  prover::Fp3* openings = nullptr;       ///< [opening_count], in the order of launches
  prover::Fp3* partials = nullptr;       ///< of openings: chunks of every value
  u64* gathered = nullptr;               ///< query rows and digests
  size_t gathered_words = 0;
  u64* nonce = nullptr;
  u8* records = nullptr;  ///< one table's records at a time
  size_t record_bytes = 0;

  template <class A>
  SessionBuffers(const prover::Layout& layout, A& arena);
};

/// Upper bound of the words a gather writes: every row and digest of every query.
size_t gathered_words_max(const prover::Layout& layout);

/// Device bytes a session of this layout takes from the arena.
size_t session_bytes(const prover::Layout& layout);

}  // namespace epochd::cuda
