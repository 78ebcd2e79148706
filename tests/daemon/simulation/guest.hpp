// The programs of a simulation: a few instructions that the real scout runs and the real replay
// repeats. Only what proves them is simulated: a proof is a hash of all that it proves.
#pragma once

#include <map>
#include <string>

#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/job_prover.hpp"
#include "epoch/capsule/capsule.hpp"
#include "epoch/continuation/prove_epoch.hpp"

namespace epochd::simulation {

struct Program {
  u64 epochs = 1;  ///< roughly: a round of its loop is a ninth of an epoch
  u64 salt = 0;
  bool has_guest_fault = false;  ///< in the last one
};
/// An ELF file.
std::string make_program(const Program& program);

/// What proving a program of a simulation takes; costs nothing.
ProvingKey simulated_key(const Guest& guest, const RunParams& params);
EpochProof simulated_proof(const prover::Digest& program, const EpochPublic& values,
                           std::span<const BoundaryRecord> boundary);
/// Whether it is simulated_proof() of the capsule's epoch.
bool is_simulated_proof(const Capsule& capsule, const EpochProof& proof,
                        std::span<const BoundaryRecord> boundary);
/// As EpochProver::prove_global, of the program that digest names. `flip` is added to every word.
bool emit_simulated_global(const prover::Digest& program, const BoundaryStore& boundaries,
                           const RunMemory::Ends& ends,
                           const std::function<void(std::span<const u64>)>& emit,
                           const std::function<bool()>& cancelled, u64 flip = 0);

/// What one run without interruption makes of a program: nothing but its bundle and its facts.
struct Expected {
  Bytes bundle;
  RunFacts facts;
};

/// Remembers what it has run.
class ExpectedRuns {
 public:
  /// Pre: the program has no fault.
  const Expected& of(const Bytes& elf, const Bytes& input, const ProtocolSettings& protocol);

 private:
  std::map<std::pair<std::string, std::string>, Expected> runs_;
};

}  // namespace epochd::simulation
