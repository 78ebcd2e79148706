// The named workloads: a guest with an input that is the same bytes everywhere, so that two
// machines, or two commits, measure the same run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epochd::bench {

struct Workload {
  std::string name;
  std::string guest;  ///< the guest is GUEST.elf
  std::string about;
  std::vector<uint64_t> input;  ///< little-endian words
};

/// The workload of this name; nothing when there is none. "ledger" has `transfers` transfers,
/// "ledger-N" N, "fib-N" N iterations, where N may end in k or m for thousands and millions.
std::optional<Workload> make_workload(std::string_view name, uint64_t transfers = 20);

/// Names that make_workload knows, as benchmarks list them.
std::vector<std::string> workload_names();

}  // namespace epochd::bench
