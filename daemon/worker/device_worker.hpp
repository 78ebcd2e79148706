// A worker with a CUDA device: this very program, started again with a flag, and the way to it.
#pragma once

#include <optional>

#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/worker/device_workers.hpp"

namespace epochd {

/// If the command line says that this process is a device worker, its whole life; the exit code is
/// returned. Otherwise nothing. The first thing main() does.
std::optional<int> run_as_device_worker(int argc, const char* const* argv);

/// Starts this program as a device worker, which logs as this process does then.
WorkerProcess start_device_worker();

/// Devices for the engine, through worker processes: nothing in this process touches one.
/// Pre: `workers` outlives it, and every prover made with it.
DeviceAccess access_through(DeviceWorkers& workers);

}  // namespace epochd
