// Every buffer of one proof on the device, placed in one pass over the layout. The same pass from a
// null base is the memory plan: what a proof of this shape needs, before anything is allocated.
// Host code without CUDA.
//
// Two places are used twice, by what is not needed at the same time:
//   LogUp columns, until they are extended     | records, before; quotient and FRI, after
//   main columns and LogUp's scratch, until    | LogUp's and the quotient's extensions and trees
//   the LogUp columns are made                 |
#pragma once

#include <vector>

#include "prover/hash/digest.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::cuda {

/// Addresses in a block of device memory, front to back, aligned. With a null base it only counts.
class Placer {
 public:
  explicit Placer(u8* base) : base_(base) {}

  template <class T>
  T* take(size_t count) {
    u8* at = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(at);
  }
  size_t used() const { return used_; }
  /// Goes back to an earlier used(), or forward.
  void move_to(size_t used) { used_ = used; }

 private:
  static constexpr size_t kAlignment = 256;

  u8* base_;
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
  /// By table: as large as its LogUp columns. While LogUp runs the extensions of these do not
  /// exist: main columns are where they will be.
  std::vector<u64*> logup_scratch;
  prover::Fp3* sums = nullptr;           ///< [tables]
  std::vector<prover::Fp3*> block_sums;  ///< by table: scratch of LogUp's scan
  prover::Fp3* openings = nullptr;       ///< [opening_count], in the order of launches
  prover::Fp3* partials = nullptr;       ///< of openings: chunks of every value
  u64* gathered = nullptr;               ///< query rows and digests
  size_t gathered_words = 0;
  u64* nonce = nullptr;
  u8* records = nullptr;    ///< tables' records, until LogUp
  size_t record_bytes = 0;  ///< room for any one table's, for several's where LogUp needs more

  SessionBuffers(const prover::Layout& layout, Placer& placer);

 private:
  void place_small(const prover::Layout& layout, Placer& placer);
  void place_records(const prover::Layout& layout, Placer& placer);
  void place_traces(const prover::Layout& layout, prover::Part part, Placer& placer);
  void place_logup_scratch(const prover::Layout& layout, Placer& placer);
  void place_ldes(const prover::Layout& layout, prover::Part part, Placer& placer);
  void place_base_trees(const prover::Layout& layout, Placer& placer);
  void place_tree(const prover::Layout& layout, u32 tree, Placer& placer);
  void place_quotient_and_fri(const prover::Layout& layout, Placer& placer);
};

/// Upper bound of the words a gather writes: every row and digest of every query.
size_t gathered_words_max(const prover::Layout& layout);

/// Device bytes a session of this layout takes from the arena.
size_t session_bytes(const prover::Layout& layout);

/// Rows that a block of LogUp's scan sums up, at least.
inline constexpr u32 kScanRowsMin = 128;
/// Rows of one partial sum of an opening, at least.
inline constexpr u32 kPartialRowsMin = 4096;

}  // namespace epochd::cuda
