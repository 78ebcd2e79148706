#include "daemon/host/version.hpp"

#include <cstdio>

#include "epoch/continuation/proof_format.hpp"
#include "prover/hash/blake3.hpp"

namespace epochd {

std::string version_text() {
  // Every number of every preset, and the format: programs with the same digest accept the same
  // proofs.
  prover::Blake3 hasher;
  hasher.update(&kFormatVersion, sizeof(kFormatVersion));
  for (const prover::Preset& preset : prover::kPresets) {
    const u32 fields[] = {preset.id,
                          preset.target_bits,
                          preset.log_blowup,
                          preset.query_count,
                          preset.grinding_bits,
                          preset.log_fold,
                          preset.log_final,
                          preset.instance_limit,
                          preset.group_size,
                          preset.log_anchor_chunk,
                          preset.area_per_cycle};
    hasher.update(fields, sizeof(fields));
  }
  char digest[32];
  std::snprintf(digest, sizeof(digest), "%016llx",
                static_cast<unsigned long long>(hasher.digest().words[0]));
  return "epochd " EPOCHD_VERSION " (commit " EPOCHD_COMMIT ", proof format " +
         std::to_string(kFormatVersion) + ", parameters " + digest + ")";
}

}  // namespace epochd
