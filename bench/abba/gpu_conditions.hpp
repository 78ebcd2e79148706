// What the NVIDIA driver tells between runs, through its management library (NVML), opened at run
// time: asking takes a millisecond where `nvidia-smi` takes hundreds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epochd::abba {

struct GpuConditions {
  uint64_t slowdowns =
      0;  ///< reasons active now on any GPU, as bits: thermal, power brake, hardware
  uint64_t processes = 0;  ///< that compute, on all GPUs
};

/// Zeros where there is no driver, or it does not tell.
GpuConditions read_gpu_conditions();
/// In the driver's order; empty where there are none.
std::vector<std::string> gpu_names();

}  // namespace epochd::abba
