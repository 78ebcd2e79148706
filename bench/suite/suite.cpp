#include "bench/suite/suite.hpp"

#include "bench/workloads/workload.hpp"

namespace epochd::bench {
namespace {

/// fib takes 5 cycles an iteration; a little less, so that the last epoch is not a spare one.
std::string fib_of_epochs(uint64_t epochs, uint32_t epoch_size_log2) {
  return "fib-" + std::to_string((epochs << epoch_size_log2) / 5 - 100);
}

void add_workloads(std::vector<Case>& cases, const SuiteOptions& options) {
  for (const std::string& name : workload_names()) {
    cases.push_back({"workloads", name, options.epoch_size_log2, 0});
  }
}

void add_scaling(std::vector<Case>& cases, const SuiteOptions& options) {
  for (uint64_t epochs = 4; epochs <= 64; epochs *= 2) {
    cases.push_back(
        {"epochs", fib_of_epochs(epochs, options.epoch_size_log2), options.epoch_size_log2, 0});
  }
  if (!options.on_cpu) return;
  const std::string workload = fib_of_epochs(4, options.epoch_size_log2);
  for (uint32_t threads = 1; threads < options.threads_max; threads *= 2) {
    cases.push_back({"threads", workload, options.epoch_size_log2, threads});
  }
  cases.push_back({"threads", workload, options.epoch_size_log2, options.threads_max});
}

}  // namespace

std::optional<std::vector<Case>> make_suite(std::string_view name, const SuiteOptions& options) {
  std::vector<Case> cases;
  if (name == "smoke") {
    for (const char* workload : {"fib-10k", "ledger-1"}) {
      cases.push_back({"workloads", workload, options.epoch_size_log2, 0});
    }
    cases.push_back({"threads", "fib-10k", options.epoch_size_log2, 1});
    cases.push_back({"threads", "fib-10k", options.epoch_size_log2, options.threads_max});
    return cases;
  }
  if (name != "workloads" && name != "scaling" && name != "all") return std::nullopt;
  if (name != "scaling") add_workloads(cases, options);
  if (name != "workloads") add_scaling(cases, options);
  return cases;
}

}  // namespace epochd::bench
