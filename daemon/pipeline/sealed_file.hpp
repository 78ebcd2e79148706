// Bytes kept in a file so that they are not mistaken for anything else: with what kind they are, a
// label, the key of the job they belong to, and a checksum.
#pragma once

#include <array>
#include <span>

#include "prover/core/result.hpp"
#include "prover/core/types.hpp"

namespace epochd {

/// Identifies what is proved: program, input and protocol parameters.
using JobKey = std::array<u8, 32>;

/// The first bytes of the file, and so its version.
enum class SealKind : u8 {
  kEpoch,    ///< a proved epoch: its proof and its boundary
  kFacts,    ///< what a run came to
  kCapsule,  ///< an epoch to be proved, with its program
};

struct SealedFile {
  u64 label = 0;
  JobKey key{};
  std::span<const u8> payload;  ///< within the file's bytes
};

constexpr size_t kSealHeaderBytes = 88;

/// What stands before the payload: 8 bytes kind, u64 label, u64 payload bytes, key, BLAKE3 of all
/// that and of the payload.
std::array<u8, kSealHeaderBytes> seal_header(SealKind kind, u64 label, const JobKey& key,
                                             std::span<const u8> payload);

/// Reads untrusted bytes; allocates nothing. Errors: why it is no such file, to stand after "is".
Result<SealedFile, const char*> open_sealed(SealKind kind, std::span<const u8> file);

}  // namespace epochd
