#include "prover/prove/cpu/arena.hpp"

#include <algorithm>

namespace epochd::prover::cpu {

ArenaPool::Arena ArenaPool::take(u64 bytes) {
  const u64 words = (bytes + sizeof(u64) - 1) / sizeof(u64);
  const std::lock_guard lock(mutex_);
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    if (it->size() < words) continue;
    Arena arena = std::move(*it);
    kept_.erase(it);
    return arena;
  }
  if (!kept_.empty()) kept_.pop_back();
  return Arena(words);
}

void ArenaPool::give_back(Arena arena) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(kept_.begin(), kept_.end(),
                               [&](const Arena& a) { return a.size() >= arena.size(); });
  kept_.insert(at, std::move(arena));
}

}  // namespace epochd::prover::cpu
