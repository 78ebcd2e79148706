// A kernel that traps: the context is lost, as by a fault of the device.
#pragma once

#include <cuda_runtime_api.h>

namespace epochd::testing {

void launch_trap(cudaStream_t stream);

}  // namespace epochd::testing
