#include "daemon/pipeline/budgets.hpp"

#include <algorithm>
#include <cstdio>

#include "cuda/session/plan.hpp"
#include "daemon/pipeline/engine_prover.hpp"
#include "epoch/continuation/epoch_memory.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {
namespace {

/// The least that device plans are made for.
constexpr u32 kPlannedSizeLog2Min = 10;

std::string gibibytes(u64 bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f GiB",
                static_cast<double>(bytes) / static_cast<double>(u64{1} << 30));
  return text;
}

cuda::CudaPlan device_plan(const BudgetedProof& proof) {
  RunParams params = proof.params;
  params.epoch_size_log2 = std::max(params.epoch_size_log2, kPlannedSizeLog2Min);
  return cuda::plan_cuda(params, proof.residency);
}

struct Need {
  const char* key;
  const char* memory;
  u64 bytes;
  u64 allowed;  ///< 0: any
};

std::vector<Need> needs_of(const MemorySettings& budget, const BudgetedProof& proof) {
  std::vector<Need> needs;
  if (proof.backend != BackendPolicy::kCudaRequired && budget.host_bytes > 0) {
    const u32 threads = Parallel(proof.threads).threads();
    needs.push_back({"memory.host_bytes", "of the host's memory on the CPU",
                     cpu_epoch_bytes_max(proof.params, threads), budget.host_bytes});
  }
  if (proof.backend != BackendPolicy::kCpu && budget.device_bytes + budget.pinned_bytes > 0) {
    const cuda::CudaPlan plan = device_plan(proof);
    needs.push_back(
        {"memory.device_bytes", "of a device's memory", plan.device_bytes(), budget.device_bytes});
    needs.push_back(
        {"memory.pinned_bytes", "of page-locked memory", plan.pinned_bytes(), budget.pinned_bytes});
  }
  std::erase_if(needs,
                [](const Need& need) { return need.allowed == 0 || need.bytes <= need.allowed; });
  return needs;
}

std::string what_fits(const MemorySettings& budget, BudgetedProof proof) {
  while (proof.params.epoch_size_log2 > kEpochSizeLog2Min) {
    --proof.params.epoch_size_log2;
    if (needs_of(budget, proof).empty()) {
      return "EPOCH_SIZE_LOG2 <= " + std::to_string(proof.params.epoch_size_log2) + " fits";
    }
  }
  return "no size fits";
}

}  // namespace

std::optional<std::string> budget_refusal(const MemorySettings& budget,
                                          const BudgetedProof& proof) {
  const std::vector<Need> over = needs_of(budget, proof);
  if (over.empty()) return std::nullopt;
  const Need& need = over.front();
  return "an epoch of 2^" + std::to_string(proof.params.epoch_size_log2) + " cycles needs up to " +
         gibibytes(need.bytes) + " " + need.memory + ", and " + need.key + " allows " +
         gibibytes(need.allowed) + ": " + what_fits(budget, proof);
}

std::optional<std::string> budget_refusal(const Config& config, const Environment& environment) {
  const ProtocolSettings protocol = resolve_protocol(config.protocol, environment, {}, {});
  const DaemonSettings& daemon = config.daemon;
  return budget_refusal(daemon.memory, {{&preset_of(protocol.security), protocol.epoch_size_log2},
                                        daemon.backend,
                                        daemon.residency,
                                        daemon.threads});
}

u32 in_flight_within(const MemorySettings& budget, const BudgetedProof& proof, u32 most) {
  if (budget.device_bytes + budget.pinned_bytes == 0) return most;
  const cuda::CudaPlan plan = device_plan(proof);
  const auto is_within = [&](u32 count) {
    return (budget.device_bytes == 0 || plan.device_bytes(count) <= budget.device_bytes) &&
           (budget.pinned_bytes == 0 || count * plan.pinned_bytes() <= budget.pinned_bytes);
  };
  u32 count = most;
  while (count > 1 && !is_within(count)) --count;
  return count;
}

}  // namespace epochd
