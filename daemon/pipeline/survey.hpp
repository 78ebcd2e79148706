// The run of a program to its exit, beside everything else: how many epochs it has, what it
// answers, and whether it ends well.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "daemon/pipeline/job_prover.hpp"

namespace epochd {

class Survey {
 public:
  /// Runs the program, calling the checkpoint now and then. Errors: JobError.
  using Run = std::function<RunFacts(const JobProver::Checkpoint&)>;

  /// Starts at once, on a thread of its own. `on_end` is called there when it has ended; it must
  /// not throw.
  Survey(Run run, std::function<void()> on_end);
  /// Stops the run.
  ~Survey();
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;

  // Threads: any.
  bool has_ended() const;
  /// Pre: it has ended. Errors: what the run threw.
  RunFacts facts() const;

 private:
  void work(const Run& run);

  mutable std::mutex mutex_;
  std::optional<RunFacts> facts_;
  std::exception_ptr error_;
  std::atomic<bool> is_stopping_ = false;
  std::function<void()> on_end_;
  std::thread thread_;
};

}  // namespace epochd
