#include "daemon/pipeline/epoch_checker.hpp"

#include <algorithm>

namespace epochd {

bool EpochChecker::accepts(const Capsule& capsule, const EpochProof& proof,
                           std::span<const BoundaryRecord> boundary) {
  const auto is_same = [](const BoundaryRecord& row, const CapsuleKey& key) {
    return row.key == key.key && row.init == key.value && row.init_epoch == key.init_epoch;
  };
  if (!std::equal(boundary.begin(), boundary.end(), capsule.keys.begin(), capsule.keys.end(),
                  is_same)) {
    return false;
  }
  const auto statement = statement_of(capsule.label, capsule.is_final, proof);
  return statement && statement->pc_in == capsule.pc && statement->cycles == capsule.cycles &&
         statement->out_in == capsule.out_in;
}

bool EpochChecker::is_epoch(u32 label, bool is_final, const EpochPayload& epoch) {
  const auto statement = statement_of(label, is_final, epoch.proof);
  if (!statement) return false;
  // The capsule that these rows begin with must be one that can be.
  Capsule capsule;
  capsule.label = label;
  capsule.pc = statement->pc_in;
  capsule.cycles = statement->cycles;
  capsule.out_in = statement->out_in;
  capsule.is_final = is_final;
  for (const BoundaryRecord& row : epoch.boundary) {
    capsule.keys.push_back({row.key, row.init_epoch, row.init});
  }
  return decode_capsule(encode_capsule(capsule)).has_value();
}

std::optional<EpochStatement> EpochChecker::statement_of(u32 label, bool is_final,
                                                         const EpochProof& proof) {
  WordReader reader{proof.record.data(), proof.record.size()};
  EpochStatement statement;
  prover::Digest boundary_root;
  const RunResult result =
      verify_epoch(key_, params_, label, is_final, reader, *scratch_, statement, boundary_root);
  if (!result.ok() || reader.position != reader.count || boundary_root != proof.boundary_root ||
      boundary_height(statement) != proof.boundary_log_height) {
    return std::nullopt;
  }
  return statement;
}

}  // namespace epochd
