// The identity of a proof: jobs of equal key have equal bundles.
#pragma once

#include <string>

#include "daemon/pipeline/epoch_store.hpp"
#include "daemon/pipeline/job_prover.hpp"

namespace epochd {

JobKey job_key(const ProofRequest& request);
std::string to_hex(const JobKey& key);

}  // namespace epochd
