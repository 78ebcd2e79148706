// The right to prove, which one job of the daemon has at a time: a pool takes the device's memory,
// or all of the CPU. A job that waits for its turn runs ahead, loads and verifies meanwhile.
#pragma once

#include <functional>

namespace epochd {

/// One job's place in the line. Threads: any.
class ProvingTurn {
 public:
  virtual ~ProvingTurn() = default;

  /// Stands in line from the first call on; true as soon as this job may prove, until give_back().
  virtual bool try_take() = 0;
  /// Another job should prove now: what is being proved is finished, then the turn given back.
  virtual bool is_wanted() const = 0;
  /// Stands in line.
  virtual bool is_waiting() const = 0;
  /// Ends the turn, or leaves the line. Pre: no pool of the job is open.
  virtual void give_back() = 0;
  /// Called when the turn comes, with a lock held: it must not call back. Empty: nobody is told.
  virtual void on_turn(std::function<void()> told) = 0;
};

/// Returns when the turn has come. `check` is called often; what it throws comes out, and the job
/// still stands in line.
void wait_for_turn(ProvingTurn& turn, const std::function<void()>& check);

}  // namespace epochd
