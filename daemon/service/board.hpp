// What the daemon is doing, for whoever asks: written by the threads that do it, read by the
// control thread, which must not wait for them. Every call takes a lock for an instant.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/rt/device_query.hpp"
#include "daemon/pipeline/clock.hpp"
#include "daemon/queue/layout.hpp"

namespace epochd {

struct RunningJob {
  std::string id;
  std::string phase = "claimed";
  u64 epochs_done = 0;
  u64 epochs = 0;  ///< 0: the program still runs
  std::string backend;
  std::string fallback;  ///< why the CPU proves in a device's place, or empty
  i64 started_unix = 0;
  bool is_waiting = false;  ///< for its turn to prove
};

struct EndedJob {
  std::string id;
  std::string outcome;
  u64 epochs = 0;
  double seconds = 0;
  i64 ended_unix = 0;
};

/// A point of the curves on the dashboard.
struct HistorySample {
  i64 unix_seconds = 0;
  double epochs_per_second = 0;  ///< since the last one
  u64 resident_bytes = 0;
  u64 device_bytes = 0;
};

/// Everything at one instant.
struct BoardView {
  std::vector<RunningJob> jobs;  ///< in the order in which they began
  std::deque<EndedJob> ended;    ///< the last ones, oldest first
  std::deque<HistorySample> history;
  std::array<u64, kPlaceNames.size()> queue{};  ///< jobs by Place, as counted last
  std::vector<DeviceInfo> devices;
  bool is_draining = false;
  bool is_blocked = false;  ///< nothing is begun because the disk is full or cannot be written
  /// Since whoever stands still longest went forward: a job, but for one that waits for another, or
  /// who gives the jobs. 0 while there is nothing to do.
  double stalled_seconds = 0;
};

class Board {
 public:
  static constexpr size_t kEndedMax = 20;
  static constexpr size_t kHistoryMax = 360;

  explicit Board(const Clock& clock) : clock_(clock), advanced_s_(clock.seconds()) {}

  // Who gives the jobs to the lanes:
  /// Went forward.
  void advance();
  /// Waits: until the next advance(), standing still is right.
  void rest();

  // A job, by its id; one that is not there is left alone:
  void begin_job(const std::string& id);
  void advance(const std::string& id);
  void enter_phase(const std::string& id, const std::string& phase);
  void set_backend(const std::string& id, const std::string& backend, const std::string& fallback);
  void set_epochs(const std::string& id, u64 count);
  void set_epochs_done(const std::string& id, u64 count);
  void set_waiting(const std::string& id, bool is_waiting);
  void end_job(const std::string& id, const std::string& outcome);
  /// `device_bytes`: used at most so far.
  void set_device_bytes(u64 device_bytes);

  void set_blocked(bool is_blocked);
  void set_draining();
  /// What is wrong with the settings of the last reload; empty: they were taken.
  void set_refused(std::string why);
  void set_queue(const std::array<u64, kPlaceNames.size()>& counts);
  void set_devices(std::vector<DeviceInfo> devices);
  /// Adds a point to the history. `epochs_total`: proved since the start.
  void sample(double epochs_total, u64 resident_bytes);

  BoardView view() const;
  /// Everybody went forward since this was last true, but for those who rightly wait.
  bool take_progress();
  /// "proving fib-1: epoch 3 of 7, executing b; 12 queued"
  std::string summary() const;

 private:
  struct Lane {
    RunningJob job;
    double start_s = 0;
    double advanced_s = 0;
    bool has_advanced = true;
  };

  template <class Change>
  void change(const std::string& id, Change change_lane);

  const Clock& clock_;
  mutable std::mutex mutex_;
  BoardView view_;  ///< but for the jobs
  std::string refused_;
  std::vector<Lane> lanes_;
  double advanced_s_;
  bool has_advanced_ = true;
  bool is_resting_ = true;
  u64 device_bytes_ = 0;
  double sampled_epochs_ = 0;
  double sampled_s_ = 0;
};

}  // namespace epochd
