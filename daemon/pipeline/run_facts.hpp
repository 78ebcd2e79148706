// What a run came to, as bytes: kept, so that nobody has to run the program again to know it.
#pragma once

#include <optional>

#include "daemon/pipeline/job_prover.hpp"
#include "epoch/continuation/proof_format.hpp"

namespace epochd {

/// A run that ended well, and how it was cut.
struct KeptFacts {
  RunParams params;
  RunFacts run;
};

/// Little endian u64 words: preset id, EPOCH_SIZE_LOG2, cycles, epochs, exit code, the outputs.
Bytes encode_facts(const KeptFacts& facts);
/// Reads untrusted bytes; allocates no more than there are. Nothing if they are no facts of this
/// version: an unknown preset, a count that no run has.
std::optional<KeptFacts> decode_facts(std::span<const u8> bytes);

}  // namespace epochd
