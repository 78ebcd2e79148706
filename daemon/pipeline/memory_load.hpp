// Restores the run memory from a checkpoint beside the work that does not need it yet.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <thread>

#include "daemon/pipeline/resume_point.hpp"

namespace epochd {

class MemoryLoad {
 public:
  /// Starts at once, on a thread of its own. What `run` and `parallel` are outlives this.
  MemoryLoad(const CutRun& run, const Parallel& parallel, Isa isa, const JobKey& key,
             std::unique_ptr<CheckpointSource> source);
  /// Stops it.
  ~MemoryLoad();
  MemoryLoad(const MemoryLoad&) = delete;
  MemoryLoad& operator=(const MemoryLoad&) = delete;

  /// The memory. Waits for the end, calling `waiting` now and then with whether the load went
  /// forward since the last time; it may throw, to stop. Once. Errors: as resume_memory().
  std::unique_ptr<RunMemory> get(const std::function<void(bool went_forward)>& waiting);

 private:
  void work(const CutRun& run, const SnapshotReading& how, const JobKey& key,
            CheckpointSource& source);

  std::unique_ptr<RunMemory> memory_;
  std::exception_ptr error_;
  std::atomic<bool> went_forward_ = false;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

}  // namespace epochd
