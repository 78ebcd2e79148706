// An epoch to be proved anywhere: a capsule in a file with the program and the parameters it is
// proved with, and the key of the job it belongs to.
#pragma once

#include "daemon/pipeline/job_prover.hpp"
#include "daemon/pipeline/sealed_file.hpp"
#include "epoch/capsule/capsule.hpp"
#include "epoch/continuation/proof_format.hpp"

namespace epochd {

struct CapsuleFile {
  JobKey key{};
  RunParams params;
  Bytes elf;
  Capsule capsule;
};

constexpr u64 kCapsuleFileBytesMax = u64{1} << 35;

/// A sealed file (sealed_file.hpp) whose payload is u64 preset id, EPOCH_SIZE_LOG2, ELF bytes; the
/// ELF; the capsule as encode_capsule() writes it.
Bytes encode_capsule_file(const JobKey& key, const RunParams& params, std::span<const u8> elf,
                          const Capsule& capsule);
/// Reads untrusted bytes; allocates no more than twice what there are. Errors: why it is no such
/// file.
Result<CapsuleFile, std::string> decode_capsule_file(std::span<const u8> file);

/// The names that the settings have for these parameters.
ProtocolSettings protocol_of(const RunParams& params);
/// The compiled-in parameter set of that id; null if there is none.
const prover::Preset* find_preset(u64 id);

}  // namespace epochd
