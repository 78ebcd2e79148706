// Whether what came back, from a pool or from a disk, is a proof of the epoch it should be of.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "daemon/pipeline/epoch_payload.hpp"
#include "epoch/capsule/capsule.hpp"
#include "epoch/continuation/prove_epoch.hpp"
#include "epoch/continuation/verify_run.hpp"

namespace epochd {

/// The plain CPU verifier, for one epoch. Threads: one a checker.
class EpochChecker {
 public:
  /// Pre: the key outlives this.
  EpochChecker(const VerifyingKey& key, const RunParams& params) : key_(key), params_(params) {}

  /// Does the proof verify, state what the capsule says, and do the boundary rows begin with the
  /// capsule's keys? That the rows end as proved is for the global proof to find.
  bool accepts(const Capsule& capsule, const EpochProof& proof,
               std::span<const BoundaryRecord> boundary);
  /// Without a capsule: is it a proof of some epoch of this label, and can its boundary be one?
  bool is_epoch(u32 label, bool is_final, const EpochPayload& epoch);

 private:
  /// The statement of a proof that verifies.
  std::optional<EpochStatement> statement_of(u32 label, bool is_final, const EpochProof& proof);

  const VerifyingKey& key_;
  RunParams params_;
  std::unique_ptr<RunScratch> scratch_ = std::make_unique<RunScratch>();
};

}  // namespace epochd
