// What a finished proof says about itself: the same fields in result.json and in `epoch prove
// --json`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/pipeline/run_job.hpp"

namespace epochd {

nlohmann::json proof_record(const ProofRequest& request, const ProofFacts& facts,
                            const ProverUsage& usage);

}  // namespace epochd
