// The one thread that works: what was interrupted first, then the queue, one job at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "daemon/pipeline/job_handler.hpp"

namespace epochd {

class Worker {
 public:
  struct Report {
    u64 done = 0;
    u64 failed = 0;
    u64 cancelled = 0;
    bool is_blocked = false;  ///< once: jobs are left that the disk did not let through
  };

  Worker(FileSystem& fs, Queue& queue, JobHandler& handler, const DaemonSettings& settings,
         std::atomic<bool>& stop);

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
  void count(Report& report, Outcome outcome);
  void wait(u32 seconds);
  bool has_room();

  FileSystem& fs_;
  Queue& queue_;
  JobHandler& handler_;
  const DaemonSettings& settings_;
  std::atomic<bool>& stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
  bool is_short_of_room_ = false;
};

}  // namespace epochd
