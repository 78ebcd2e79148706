// Named suites: which workloads are proved how, and what came of it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
};

struct SuiteReport {
  std::string suite;
  std::string backend;
  std::string security;
  std::string machine;
  std::string started;
  std::optional<double> floor_hz;  ///< cycles a second this machine could reach, if the user says
  std::vector<Measured> measured;
};

nlohmann::ordered_json to_json(const SuiteReport& report);
std::string to_table(const SuiteReport& report);
/// One page without references: the table, and a plot for each scaling.
std::string to_html(const SuiteReport& report);

}  // namespace epochd::bench
