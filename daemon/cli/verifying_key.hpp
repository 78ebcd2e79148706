// The verifying key a command works with: computed from the ELF, or read from a file made by `epoch
// setup`.
#pragma once

#include <string>

#include "daemon/queue/file_system.hpp"
#include "epoch/continuation/setup.hpp"

namespace epochd {

// Errors: JobError(kInput) for a file that is not what it must be; IoError.

VerifyingKey compute_verifying_key(FileSystem& fs, const std::string& program,
                                   const prover::Preset& preset);
VerifyingKey read_verifying_key(FileSystem& fs, const std::string& path);
std::string to_hex(const prover::Digest& digest);

}  // namespace epochd
