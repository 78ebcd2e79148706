// epochd: serves a queue directory. The composition root; the engine is passed in.
#pragma once

#include "config/config.hpp"
#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/job_prover.hpp"

namespace epochd {

/// Why a prover cannot work with these settings; nothing when it can.
using SettingsCheck = std::function<std::optional<std::string>(const Config&, const Environment&)>;

/// The body of main. `devices` is what the prover has to prove on; `check` is asked before anything
/// is begun, if it is there.
int run_epochd(int argc, const char* const* argv, JobProverFactory make_prover,
               const DeviceQuery& devices, const SettingsCheck& check = {});

}  // namespace epochd
