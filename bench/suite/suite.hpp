// Named suites: which workloads are proved how, and what came of it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/floor/floor.hpp"

namespace epochd::bench {

/// One proof to make, some times over.
struct Case {
  std::string group;     ///< "workloads", "epochs" or "threads": what the case is compared within
  std::string workload;  ///< a name that make_workload knows
  uint32_t epoch_size_log2 = 20;
  uint32_t threads = 0;  ///< 0: as many as there are
};

struct SuiteOptions {
  uint32_t epoch_size_log2 = 20;
  uint32_t threads_max = 1;  ///< of the machine, for scaling in threads
  bool on_cpu = true;        ///< threads matter
};

/// smoke: three short runs. workloads: every named one. scaling: fib in 4 to 64 epochs, and in 1 to
/// all threads. all: workloads and scaling. Nothing for another name.
std::optional<std::vector<Case>> make_suite(std::string_view name, const SuiteOptions& options);

/// What one case gave.
struct Measured {
  Case what;
  std::vector<double> prove_seconds;  ///< of every repetition
  nlohmann::ordered_json record;      ///< `epoch prove --json` of the fastest
  /// What its epochs' stages could take at least, all together; empty where no ceilings are known.
  std::map<std::string, double> stage_floor_seconds;
};

/// Rates of this machine's hardware by number of threads, from a file of schema epoch-kernels/1.
using CeilingsByThreads = std::map<uint32_t, Ceilings>;
/// Errors: std::runtime_error.
CeilingsByThreads read_ceilings(const std::string& path);
/// Those for that many threads; where they were not measured, those of the next lower number.
Ceilings ceilings_for(const CeilingsByThreads& all, uint32_t threads);

/// Floors of the stages of all epochs that `epoch inspect --json` tells of. Errors:
/// std::runtime_error for a chip or preset that this build does not know.
std::map<std::string, double> stage_floors(const nlohmann::ordered_json& inspected,
                                           const std::string& preset, const Ceilings& ceilings);

/// Share of its floor's speed that a case reaches; nothing where no floor is known.
std::optional<double> share_of_floor(const struct SuiteReport& report, const Measured& measured);

struct SuiteReport {
  std::string suite;
  std::string backend;
  std::string security;
  std::string machine;
  std::string started;
  std::optional<double> floor_hz;  ///< cycles a second this machine could reach, if the user says
  bool has_ceilings = false;       ///< floors come from measured ceilings
  std::vector<Measured> measured;
};

nlohmann::ordered_json to_json(const SuiteReport& report);
std::string to_table(const SuiteReport& report);
/// One page without references: the table, the stages of each workload beside their floors, and a
/// plot for each scaling.
std::string to_html(const SuiteReport& report);

}  // namespace epochd::bench
