// The daemon's devices, each behind a worker process of its own that stays from job to job.
#pragma once

#include <mutex>

#include "daemon/worker/worker_pool.hpp"

namespace epochd {

class DeviceWorkers {
 public:
  /// `threads` is for the loops of each worker, 0: one a hardware thread.
  explicit DeviceWorkers(WorkerLauncher launch, u32 threads = 0)
      : launch_(std::move(launch)), threads_(threads) {}

  /// The devices there are. Asked of a worker once; an error is asked for again.
  /// Threads: any.
  DeviceList query();

  /// A pool over these devices for one job. A device whose worker cannot open the job is left out,
  /// said in the log. Pre: no other pool of this lives; the pool does not outlive this.
  /// Threads: one at a time. Errors: std::runtime_error when no device is left, with the last one's
  /// reason.
  std::unique_ptr<ProverPool> open(const PoolJob& job, std::span<const int> devices);

 private:
  WorkerHandle& worker_of(int device);

  WorkerLauncher launch_;
  u32 threads_;
  std::mutex mutex_;  ///< guards the two below
  std::optional<std::vector<DeviceInfo>> known_;
  std::unique_ptr<WorkerHandle> asked_;  ///< answered the query, has no device yet
  std::map<int, std::unique_ptr<WorkerHandle>> workers_;
};

}  // namespace epochd
