// Faults that tests order: the paths that only a broken device would take. A backend without a plan
// asks a null pointer and nothing else. Host code without CUDA.
#pragma once

#include <array>

#include "prover/core/types.hpp"

namespace epochd::cuda {

enum class Fault : u8 {
  kGatherError,    ///< the query gather fails with a transient error
  kGatheredWord,   ///< a gathered word has a bit flipped
  kCommittedWord,  ///< a word of an extension has a bit flipped once its tree is built
  kMisgatedTable,  ///< a table has no constraint kernel although its gate held
};
inline constexpr u32 kFaultCount = 4;

/// Threads: one at a time.
class FaultPlan {
 public:
  /// The next `times` occasions of `fault` after `skip` others.
  void order(Fault fault, u32 times = 1, u32 skip = 0) { at(fault) = {skip, times, 0}; }
  /// Whether this occasion is one that was ordered.
  bool strikes(Fault fault) {
    Order& order = at(fault);
    if (order.times == 0) return false;
    if (order.skip > 0) {
      --order.skip;
      return false;
    }
    --order.times;
    ++order.struck;
    return true;
  }
  u32 struck(Fault fault) const { return orders_[static_cast<size_t>(fault)].struck; }

 private:
  struct Order {
    u32 skip = 0;
    u32 times = 0;
    u32 struck = 0;
  };
  Order& at(Fault fault) { return orders_[static_cast<size_t>(fault)]; }

  std::array<Order, kFaultCount> orders_{};
};

}  // namespace epochd::cuda
