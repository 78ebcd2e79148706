#include "daemon/worker/spread_pool.hpp"

#include <algorithm>
#include <tuple>

namespace epochd {
namespace {

/// A member that failed so often in a row gets work only when there is no other.
constexpr u32 kFailuresTolerated = 2;
/// No epoch has it: for the global proof.
constexpr u32 kGlobalLabel = 0;

}  // namespace

SpreadPool::SpreadPool(std::vector<std::unique_ptr<ProverPool>> members)
    : members_(std::move(members)), loads_(members_.size()) {}

SpreadPool::~SpreadPool() {
  members_.clear();  // while the rest is still there for their threads
}

u32 SpreadPool::capacity() const {
  u32 sum = 0;
  for (const auto& member : members_) sum += member->capacity();
  return sum;
}

/// Pre: mutex_ is held.
size_t SpreadPool::choose(u32 label) const {
  const auto failed = failed_at_.find(label);
  const auto cost = [&](size_t m) {
    const Load& load = loads_[m];
    return std::tuple(failed != failed_at_.end() && failed->second == m,
                      load.failures_in_a_row > kFailuresTolerated,
                      double(load.outstanding) / members_[m]->capacity(), m);
  };
  size_t best = 0;
  for (size_t m = 1; m < members_.size(); ++m) {
    if (cost(m) < cost(best)) best = m;
  }
  return best;
}

void SpreadPool::note(size_t member, u32 label, bool is_proved) {
  const std::lock_guard lock(mutex_);
  Load& load = loads_[member];
  --load.outstanding;
  if (is_proved) {
    load.failures_in_a_row = 0;
    failed_at_.erase(label);
  } else {
    ++load.failures_in_a_row;
    failed_at_[label] = member;
  }
}

void SpreadPool::submit(std::shared_ptr<const Capsule> capsule, Done done) {
  const u32 label = capsule->label;
  size_t member = 0;
  {
    const std::lock_guard lock(mutex_);
    member = choose(label);
    ++loads_[member].outstanding;
  }
  members_[member]->submit(std::move(capsule),
                           [this, member, label, done = std::move(done)](PoolAnswer answer) {
                             note(member, label, answer.epoch.has_value());
                             done(std::move(answer));
                           });
}

bool SpreadPool::prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                              const std::function<void(std::span<const u64>)>& emit,
                              const std::function<bool()>& cancelled) {
  size_t member = 0;
  {
    const std::lock_guard lock(mutex_);
    member = choose(kGlobalLabel);
    ++loads_[member].outstanding;
  }
  try {
    const bool is_complete = members_[member]->prove_global(boundaries, ends, emit, cancelled);
    note(member, kGlobalLabel, true);
    return is_complete;
  } catch (...) {
    note(member, kGlobalLabel, false);
    throw;
  }
}

ProverUsage SpreadPool::usage() const {
  ProverUsage sum;
  u64 peaks = 0;
  for (const auto& member : members_) {
    const ProverUsage usage = member->usage();
    peaks += usage.peak_device_bytes;
    add_usage(sum, usage);
  }
  sum.peak_device_bytes = peaks;
  return sum;
}

}  // namespace epochd
