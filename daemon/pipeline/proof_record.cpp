#include "daemon/pipeline/proof_record.hpp"

#include <nlohmann/json.hpp>

#include "daemon/host/host_info.hpp"

namespace epochd {

nlohmann::json proof_record(const ProofRequest& request, const ProofFacts& facts,
                            const ProverUsage& usage) {
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
      {"peak_device_bytes", usage.peak_device_bytes},
      {"backend", usage.backend},
      {"epoch_size_log2", request.protocol.epoch_size_log2},
      {"continuations", request.protocol.continuations},
      {"security", kSecurityPresetNames[static_cast<size_t>(request.protocol.security)]},
      {"counters", usage.counters},
      {"stages", facts.stages},
      {"bytes_h2d", usage.bytes_h2d},
      {"bytes_d2h", usage.bytes_d2h}};
  record["counters"]["epochs_resumed"] = facts.epochs_resumed;
  record["counters"]["resumed_at"] = facts.resumed_at;
  // Residency is a property of a device's memory; on the CPU there is only the host's.
  record["residency"] =
      usage.backend == "cuda" ? kResidencyNames[static_cast<size_t>(request.residency)] : "host";
  if (!usage.fallback.empty()) record["fallback"] = usage.fallback;
  return record;
}

}  // namespace epochd
