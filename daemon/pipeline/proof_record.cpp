#include "daemon/pipeline/proof_record.hpp"

#include <nlohmann/json.hpp>

#include "daemon/host/host_info.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {

std::string choose_backend(BackendPolicy policy) {
  if (policy == BackendPolicy::kCudaRequired) {
    throw JobError(Reason::kGpu,
                   "a CUDA device is required and this build has no CUDA backend; ask for the "
                   "backend cpu, or cuda-preferred (--backend auto)");
  }
  return "cpu";
}

nlohmann::json proof_record(const ProofRequest& request, const ProofFacts& facts,
                            BackendPolicy policy) {
  const double seconds = facts.prove_seconds;
  nlohmann::json record = {
      {"cycles", facts.run.cycles},
      {"epochs", facts.run.epochs},
      {"exit_code", facts.run.exit_code},
      {"outputs", facts.run.outputs},
      {"execute_seconds", facts.execute_seconds},
      {"prove_seconds", seconds},
      {"verify_seconds", facts.verify_seconds},
      {"cycles_per_second", seconds > 0 ? static_cast<double>(facts.run.cycles) / seconds : 0.0},
      {"proof_bytes", facts.bundle_bytes},
      {"peak_rss_bytes", peak_rss_bytes()},
      {"peak_device_bytes", 0},
      {"backend", choose_backend(policy)},
      {"epoch_size_log2", request.protocol.epoch_size_log2},
      {"continuations", request.protocol.continuations},
      {"security", kSecurityPresetNames[static_cast<size_t>(request.protocol.security)]},
      {"counters", {{"epochs_resumed", facts.epochs_resumed}}},
      {"bytes_h2d", 0},
      {"bytes_d2h", 0}};
  // Residency is a property of a device's memory; on the CPU there is only the host's.
  record["residency"] = "host";
  if (policy == BackendPolicy::kCudaPreferred) {
    record["fallback"] = "this build has no CUDA backend; proved on the CPU";
  }
  return record;
}

}  // namespace epochd
