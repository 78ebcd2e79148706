// epochd: serves a queue directory. The composition root; the engine is passed in.
#pragma once

#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/job_prover.hpp"

namespace epochd {

/// The body of main. `devices` is what the prover has to prove on.
int run_epochd(int argc, const char* const* argv, JobProverFactory make_prover,
               const DeviceQuery& devices);

}  // namespace epochd
