// Reads the epochs that a resumed run need not prove, beside the proving of the others.
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "daemon/pipeline/checked_pool.hpp"
#include "daemon/pipeline/job_prover.hpp"

namespace epochd {

/// Whether epochs 1 .. last are still there, whole and of this job. What has the job's key and its
/// own checksum was verified before it was saved; the bundle's verification has the last word.
class StoredCheck {
 public:
  /// Starts at once, on a thread of its own. The exchange outlives this.
  StoredCheck(EpochExchange& exchange, u64 last);
  /// Stops it.
  ~StoredCheck();
  StoredCheck(const StoredCheck&) = delete;
  StoredCheck& operator=(const StoredCheck&) = delete;

  bool has_ended() const { return has_ended_; }
  /// The labels of those that are not, ascending. Waits for the end. Errors: what loading threw.
  std::vector<u32> missing();

 private:
  void work(u64 last);

  EpochExchange& exchange_;
  std::vector<u32> missing_;
  std::exception_ptr error_;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

/// Proves one epoch and waits for it; `check` is called meanwhile and may throw to stop. Errors: as
/// CheckedPool::submit says.
CheckedEpoch prove_one(CheckedPool& pool, Capsule capsule, const JobProver::Checkpoint& check);

/// Proves the epochs with these labels, ascending, and saves them. `next` gives the run's capsules
/// from the first on. Errors: as prove_one(); what the exchange throws.
void prove_missing(const std::vector<u32>& labels,
                   const std::function<std::optional<Capsule>()>& next, CheckedPool& pool,
                   EpochExchange& exchange);

}  // namespace epochd
