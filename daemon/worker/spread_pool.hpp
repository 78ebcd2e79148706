// Many pools as one: capsules go where there is most room, and one that failed somewhere goes
// somewhere else the next time.
#pragma once

#include <map>
#include <mutex>

#include "daemon/pipeline/prover_pool.hpp"

namespace epochd {

class SpreadPool : public ProverPool {
 public:
  /// Pre: there is at least one member.
  explicit SpreadPool(std::vector<std::unique_ptr<ProverPool>> members);
  ~SpreadPool() override;

  u32 capacity() const override;
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override;
  /// On one member; where it failed, the next call goes to another.
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override;
  /// Sums, peaks included: each member has a device of its own.
  ProverUsage usage() const override;

 private:
  struct Load {
    u32 outstanding = 0;
    u32 failures_in_a_row = 0;
  };

  size_t choose(u32 label) const;
  void note(size_t member, u32 label, bool is_proved);

  std::vector<std::unique_ptr<ProverPool>> members_;
  mutable std::mutex mutex_;
  std::vector<Load> loads_;
  std::map<u32, size_t> failed_at_;  ///< label -> the member that failed at it last
};

}  // namespace epochd
