#include "daemon/pipeline/job_key.hpp"

#include <cstring>

#include "epoch/continuation/proof_format.hpp"
#include "prover/hash/blake3.hpp"

namespace epochd {
namespace {

constexpr std::string_view kContext = "epochd job key v1";

void update_sized(prover::Blake3& hasher, std::span<const u8> bytes) {
  const u64 count = bytes.size();
  hasher.update(&count, sizeof(count));
  hasher.update(bytes.data(), bytes.size());
}

}  // namespace

JobKey job_key(const ProofRequest& request) {
  prover::Blake3 hasher = prover::Blake3::derive_key(kContext.data(), kContext.size());
  update_sized(hasher, request.elf);
  update_sized(hasher, request.input);
  const ProtocolSettings& protocol = request.protocol;
  // By name: a preset keeps its name for ever, not its place in an enumeration.
  const std::string parameters =
      "format " + std::to_string(kFormatVersion) + " " + std::to_string(protocol.epoch_size_log2) +
      (protocol.continuations ? " on " : " off ") +
      std::string(kSecurityPresetNames[static_cast<size_t>(protocol.security)]);
  update_sized(hasher, as_bytes(parameters));
  const prover::Digest digest = hasher.digest();
  JobKey key;
  std::memcpy(key.data(), &digest, key.size());
  return key;
}

std::string to_hex(const JobKey& key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const u8 byte : key) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace epochd
