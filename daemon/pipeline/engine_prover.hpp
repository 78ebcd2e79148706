// The JobProver of the product: scout, stitch, replay, epoch proofs and the global proof on the CPU
// backend.
#pragma once

#include <functional>
#include <string_view>

#include "daemon/pipeline/job_prover.hpp"
#include "prover/security/presets.hpp"

namespace epochd {

using DebugText = std::function<void(std::string_view)>;

/// Errors: JobError(kInput) when the ELF or the input cannot be taken.
std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, DebugText debug = {});

/// The compiled-in parameter set of that name.
const prover::Preset& preset_of(SecurityPreset security);

}  // namespace epochd
