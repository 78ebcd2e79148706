// Runs the schedule and keeps what every run said.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/abba/conditions.hpp"
#include "bench/abba/process.hpp"
#include "bench/abba/schedule.hpp"

namespace epochd::abba {

struct Run {
  Side side = Side::kA;
  double started = 0;  ///< seconds since the session began
  double wall_seconds = 0;
  double value = 0;               ///< of the metric
  std::optional<double> control;  ///< of the control metric, where the run tells
};

struct Block {
  int number = 0;  ///< in time, from 0, warm-up blocks too
  Order order = Order::kAbba;
  bool is_warmup = false;
  std::vector<Run> runs;
  std::vector<std::string> broken_rules;

  bool is_valid() const { return !is_warmup && broken_rules.empty(); }
};

struct SessionOptions {
  std::string command_a;
  std::string command_b;
  std::string metric = "prove_seconds";     ///< a key of the command's JSON, or "wall"
  std::string control = "execute_seconds";  ///< a key, "wall" of a control command, or empty
  std::string control_command;  ///< run before every run, to be what prints `control`; may be empty
  double timeout_seconds = 0;   ///< of a command's run; 0: none
  bool is_served = false;       ///< the commands stay: see served.hpp
  int blocks = 10;              ///< valid ones wanted
  int warmup = 1;               ///< blocks run first and never analysed
  uint64_t seed = 0;
};

/// A command failed or did not print the metric. what() is what to tell the user.
class RunFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a session stands on; tests bring their own.
struct SessionWorld {
  std::function<ProcessResult(const std::string& command, double timeout_seconds)> run = run_shell;
  /// Runs the control command; as `run`.
  std::function<ProcessResult(const std::string& command, double timeout_seconds)> run_control =
      run_shell;
  std::function<Conditions()> conditions = read_conditions;
  std::function<double()> seconds;  ///< a steady clock
  std::function<void(const Block&)> on_block = [](const Block&) {};
};

/// Runs warm-up blocks, then blocks until as many are valid as were asked for. A block that broke a
/// rule is run again at the end in the same order, so that balance holds; no more than as many
/// again. Before each run goes the control command, if there is one. It stands before the run and
/// not after it, so that what a run leaves behind (memory being freed, heat) does not count for its
/// own side: in a block, the runs before A's controls are as often B's as A's. Throws RunFailed.
std::vector<Block> run_session(const SessionOptions& options, const SessionWorld& world);

/// The metric of one run: `key` of the JSON object in `out` (the whole of it, or its last line that
/// is one; dots descend into objects). Nothing where there is none, or no positive number.
std::optional<double> metric_of(const std::string& out, const std::string& key);

/// Mean log of side A's runs minus side B's.
double log_ratio_of(const Block& block);
/// The same of the control metric; nothing where a run lacks it.
std::optional<double> control_log_ratio_of(const Block& block);

}  // namespace epochd::abba
