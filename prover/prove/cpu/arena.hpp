// Memory for sessions: one block a session, kept by the backend from one proof to the next, so that
// a run of epochs faults its pages in once.
#pragma once

#include <mutex>
#include <vector>

#include "prover/core/aligned_buffer.hpp"

namespace epochd::prover::cpu {

class ArenaPool {
 public:
  using Arena = AlignedBuffer<u64>;

  /// At least `bytes`, uninitialised: the smallest kept block that is large enough; else a new one,
  /// in place of the largest kept.
  Arena take(u64 bytes);
  void give_back(Arena arena);

 private:
  std::mutex mutex_;
  std::vector<Arena> kept_;  ///< sizes ascending
};

}  // namespace epochd::prover::cpu
