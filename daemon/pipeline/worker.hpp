// Who works: a few lanes, each with one job at a time, what was interrupted first, then the queue,
// in the scheduler's order. The lanes are threads; the one that called run() gives them their jobs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "daemon/pipeline/job_handler.hpp"

namespace epochd {

/// Told what the worker does. Nothing here may throw.
class WorkerObserver {
 public:
  virtual ~WorkerObserver() = default;
  // On the thread that called run():
  /// Before each look for something to do.
  virtual void between_jobs() = 0;
  /// Waits for something to do, or for the lanes; `is_blocked`: for a disk that takes it.
  virtual void resting(bool is_blocked) = 0;

  // On the lane's thread, which a job keeps from the one to the other:
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

  /// Settings as they are now. Threads: any.
  using SettingsSource = std::function<DaemonSettings()>;

  /// All references outlive the worker; `observer` may be null. The number of lanes is that of
  /// `jobs_at_once` when run() is called.
  Worker(FileSystem& fs, Queue& queue, JobHandler& handler, SettingsSource settings,
         std::atomic<bool>& stop, WorkerObserver* observer = nullptr);
  /// Settings that do not change.
  Worker(FileSystem& fs, Queue& queue, JobHandler& handler, const DaemonSettings& settings,
         std::atomic<bool>& stop, WorkerObserver* observer = nullptr);

  /// Works until asked to stop; with `once`, until nothing is left to do. What a lane could not
  /// handle stops all and comes out.
  Report run(bool once);

  // Threads: any.
  /// There may be something new in the queue.
  void wake();
  /// Finish or leave the running jobs at their next epoch, and return from run().
  void stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  using Pause = std::chrono::steady_clock::duration;
  struct Ended {
    std::string id;
    Outcome outcome = Outcome::kRetry;
    std::exception_ptr error;  ///< in place of an outcome
  };

  // On the lanes:
  void run_lane();
  Ended handle(const std::string& id);

  // On the thread of run():
  /// Moves what an earlier life had decided and not moved, before a lane begins an equal job.
  void finish_interrupted_jobs();
  void start_lanes();
  void end_lanes();
  void serve(bool once);
  void take_in_ended();
  void note(const Ended& ended);
  void note_error(const std::exception_ptr& error);
  void block();
  bool is_blocked(bool once);
  void fill_lanes();
  void give_jobs();
  void ask_for_lane();
  Pause look_pause() const;
  void look();
  void begin(const WaitingJob& job);
  bool is_full() const { return running_.size() == lane_count_; }
  /// Until when nothing is to be done but for what others tell.
  Time next_time() const;
  void wait();

  FileSystem& fs_;
  Queue& queue_;
  JobHandler& handler_;
  SettingsSource source_;
  std::atomic<bool>& stop_;
  WorkerObserver* observer_;

  // Of the thread of run():
  DaemonSettings settings_;
  Report report_;
  size_t lane_count_ = 0;
  std::set<std::string> running_;
  std::map<std::string, Time> not_before_;  ///< jobs that are tried again
  std::set<std::string> twins_;             ///< jobs that wait for an equal one
  Time looked_;
  Pause look_took_{0};
  Time blocked_until_;
  bool must_look_ = true;
  bool is_left_for_later_ = false;  ///< a job that is back while its lane still puts it away
  bool is_short_of_room_ = false;
  std::exception_ptr error_;

  std::mutex mutex_;
  std::condition_variable changed_;   ///< for the thread of run()
  std::condition_variable assigned_;  ///< for the lanes
  std::deque<std::string> jobs_;      ///< given to the lanes, not begun
  std::deque<Ended> ended_;
  bool is_woken_ = false;
  bool is_ending_ = false;
  std::vector<std::thread> lanes_;
};

}  // namespace epochd
