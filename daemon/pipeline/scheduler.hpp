// Which jobs of the queue have a lane, and which of those proves.
//
// Jobs of equal priority are a class, in which the oldest goes first. Between classes goes first
// who has the highest effective priority:
//
//     priority + (seconds since a job of the class last proved) / ageing_s
//
// counted from when the class has jobs at the earliest, and 0 seconds while one of them proves. So
// a class waits for its turn at most ageing_s x (highest priority there is - its own), and what is
// being proved then; and it loses the turn again after an epoch, if others still come first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/pipeline/clock.hpp"
#include "daemon/pipeline/proving_turn.hpp"
#include "daemon/queue/queue.hpp"

namespace epochd {

class Scheduler;

/// What the scheduler has to say to a job with a lane. Leaves the line when it is destroyed.
class JobTurn : public ProvingTurn {
 public:
  /// Gives the job a lane for as long as this lives, where it has none.
  JobTurn(Scheduler& scheduler, std::string id);
  ~JobTurn() override;
  JobTurn(const JobTurn&) = delete;
  JobTurn& operator=(const JobTurn&) = delete;

  bool try_take() override;
  bool is_wanted() const override;
  void give_back() override;
  void on_turn(std::function<void()> told) override;
  bool is_waiting() const override;

  /// An epoch was proved: the job has had something of its turn.
  void advanced();
  /// A job that comes before this one has no lane.
  bool must_leave() const;
  /// What is being done now could not be kept: the lane is not given up any more.
  void keep_lane();
  /// Seconds stood in line so far.
  double waited_s() const;

  // On the job's thread:
  /// Reads the meter at the beginning and the end of every turn from now on.
  void watch_energy(std::function<std::optional<double>()> joules);
  /// Taken in the turns that are over; nothing where a reading failed or there was no turn.
  std::optional<double> joules() const { return joules_; }

 private:
  bool stand_in_line();
  void read_meter();

  Scheduler& scheduler_;
  std::string id_;
  bool has_made_lane_ = false;
  std::function<std::optional<double>()> meter_;
  bool is_metered_ = false;
  std::optional<double> begin_joules_;
  std::optional<double> joules_;
  bool has_failed_reading_ = false;
};

/// Threads: any.
class Scheduler {
 public:
  /// The clock outlives this.
  explicit Scheduler(const Clock& clock) : clock_(clock) {}

  void set_ageing(double seconds);

  // For who fills the lanes:
  /// The jobs that have no lane and may have one, in place of those of the last call.
  void set_waiting(const std::vector<WaitingJob>& jobs);
  /// The one that comes first, taken out of those that wait.
  std::optional<WaitingJob> next();
  /// Puts it back.
  void put_back(const WaitingJob& job);
  bool is_anyone_waiting() const;
  /// The job has a lane.
  void begin(const WaitingJob& job);
  void end(const std::string& id);
  /// There is no lane for this job: if it comes before one that has a lane, that one is asked to
  /// leave, the last of them. One at a time.
  void ask_for_lane(const WaitingJob& job);
  /// `id` waits for what `other` is proving: `other` counts as no less urgent.
  void lift(const std::string& other, const std::string& id);

 private:
  friend class JobTurn;

  struct Lane {
    i32 priority = 0;
    i64 age = 0;
    bool is_leaving = false;
    bool may_leave = true;
    bool is_in_line = false;
    double in_line_since_s = 0;
    double waited_s = 0;
    std::function<void()> told;
  };
  using Lanes = std::map<std::string, Lane>;

  // Pre of all: mutex_ is held.
  /// Notes when classes came, and forgets those that are gone.
  void note_classes();
  double effective(i32 priority, double now_s) const;
  /// By effective priority, age, id.
  bool comes_before(const Lanes::value_type& a, const Lanes::value_type& b, double now_s) const;
  Lanes::value_type* first_in_line(double now_s);
  void grant();
  void leave_line(Lane& lane, const std::string& id);

  const Clock& clock_;
  mutable std::mutex mutex_;
  double ageing_s_ = 60;
  std::map<i32, std::vector<WaitingJob>> waiting_;  ///< by class, the oldest last
  Lanes lanes_;
  std::map<i32, double> class_since_s_;  ///< that it waits
  std::optional<std::string> holder_;
  bool has_advanced_ = false;  ///< the holder, in this turn
};

}  // namespace epochd
