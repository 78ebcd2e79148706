#include "daemon/pipeline/epoch_checker.hpp"

#include <algorithm>

namespace epochd {

bool EpochChecker::accepts(const Capsule& capsule, const EpochProof& proof,
                           std::span<const BoundaryRecord> boundary) {
  const auto is_same = [](const BoundaryRecord& row, const CapsuleKey& key) {
    return row.key == key.key && row.init == key.value && row.init_epoch == key.init_epoch;
  };
  return std::equal(boundary.begin(), boundary.end(), capsule.keys.begin(), capsule.keys.end(),
                    is_same) &&
         is_proof_of(capsule, proof);
}

bool EpochChecker::is_proof_of(const Capsule& capsule, const EpochProof& proof) {
  WordReader reader{proof.record.data(), proof.record.size()};
  EpochStatement statement;
  prover::Digest boundary_root;
  const RunResult result = verify_epoch(key_, params_, capsule.label, capsule.is_final, reader,
                                        *scratch_, statement, boundary_root);
  return result.ok() && reader.position == reader.count && statement.pc_in == capsule.pc &&
         statement.cycles == capsule.cycles && statement.out_in == capsule.out_in &&
         boundary_root == proof.boundary_root &&
         boundary_height(statement) == proof.boundary_log_height;
}

}  // namespace epochd
