// The one thread that works: what was interrupted first, then the queue, one job at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "daemon/pipeline/job_handler.hpp"

namespace epochd {

/// Told what the worker does, on the worker's thread. Nothing here may throw.
class WorkerObserver {
 public:
  virtual ~WorkerObserver() = default;
  /// Before each look into the queue. Nothing is under way: settings may change now.
  virtual void between_jobs() = 0;
  /// Waits for something to do; `is_blocked`: for a disk that takes it.
  virtual void resting(bool is_blocked) = 0;
  virtual void started(const std::string& id) = 0;
  virtual void ended(const std::string& id, Outcome outcome) = 0;
};

class Worker {
 public:
  struct Report {
    u64 done = 0;
    u64 failed = 0;
    u64 cancelled = 0;
    bool is_blocked = false;  ///< once: jobs are left that the disk did not let through
  };

  /// All references outlive the worker; `observer` may be null.
  Worker(FileSystem& fs, Queue& queue, JobHandler& handler, const DaemonSettings& settings,
         std::atomic<bool>& stop, WorkerObserver* observer = nullptr);

  /// Works until asked to stop; with `once`, until nothing is left to do.
  Report run(bool once);

  // Threads: any.
  /// There may be something new in the queue.
  void wake();
  /// Finish or leave the running job at its next epoch, and return from run().
  void stop();

 private:
  std::optional<std::string> next_job();
  /// False when there is nothing to do now.
  bool step(Report& report);
  Outcome handle(const std::string& id);
  void count(Report& report, Outcome outcome);
  void wait(u32 seconds);
  bool has_room();

  FileSystem& fs_;
  Queue& queue_;
  JobHandler& handler_;
  const DaemonSettings& settings_;
  std::atomic<bool>& stop_;
  WorkerObserver* observer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
  bool is_short_of_room_ = false;
};

}  // namespace epochd
