// What is kept of a proved epoch: its record for the bundle and its boundary for the global proof.
#pragma once

#include <optional>
#include <vector>

#include "daemon/queue/file_system.hpp"
#include "epoch/continuation/prove_epoch.hpp"

namespace epochd {

struct EpochPayload {
  EpochProof proof;
  std::vector<BoundaryRecord> boundary;
};

Bytes encode_payload(const EpochProof& proof, std::span<const BoundaryRecord> boundary);
/// Nothing if the lengths inside do not add up to the bytes given, or no table has such a height.
std::optional<EpochPayload> decode_payload(std::span<const u8> bytes);

}  // namespace epochd
