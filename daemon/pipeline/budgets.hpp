// The settings' memory budgets against what proving is planned to take.
#pragma once

#include <optional>
#include <string>

#include "config/config.hpp"
#include "epoch/continuation/proof_format.hpp"

namespace epochd {

/// What is to be proved, and where.
struct BudgetedProof {
  RunParams params;
  BackendPolicy backend = BackendPolicy::kCpu;
  Residency residency = Residency::kDeviceOnly;
  u32 threads = 0;  ///< 0: one per hardware thread
};

/// Why the largest epoch there can be is over a budget, in numbers, and what would not be; nothing
/// when none is.
std::optional<std::string> budget_refusal(const MemorySettings& budget, const BudgetedProof& proof);
/// The same for what the settings and the environment say.
std::optional<std::string> budget_refusal(const Config& config, const Environment& environment);

/// Epochs that the budgets let be in flight on a device, `most` at most. Pre: not refused.
u32 in_flight_within(const MemorySettings& budget, const BudgetedProof& proof, u32 most);

}  // namespace epochd
