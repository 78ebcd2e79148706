// epochd: serves a queue directory. The composition root; the engine is passed in.
#pragma once

#include "daemon/pipeline/job_prover.hpp"

namespace epochd {

/// The body of main.
int run_epochd(int argc, const char* const* argv, JobProverFactory make_prover);

}  // namespace epochd
