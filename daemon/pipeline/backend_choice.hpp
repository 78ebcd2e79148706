// Where a job is proved: what the settings ask for meets the devices there are.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/daemon_settings.hpp"
#include "cuda/rt/device_query.hpp"

namespace epochd {

using DeviceQuery = std::function<Result<std::vector<DeviceInfo>, DeviceQueryError>()>;

struct BackendChoice {
  bool is_cuda = false;
  std::vector<int> devices;  ///< ordinals, where is_cuda; at least one
  std::string fallback;      ///< why the CPU proves although a device was preferred, or empty
};

/// Asks for devices only when the policy wants one. `wanted`: those that may be used, by number;
/// empty: all. One that is not there is as if there were none.
/// Errors: JobError(kGpu) when the policy requires a device and none can be used.
BackendChoice choose_backend(BackendPolicy policy, const DeviceQuery& query,
                             const std::vector<int>& wanted = {});

}  // namespace epochd
