#include "daemon/pipeline/backend_choice.hpp"

#include <algorithm>

#include "daemon/queue/reason.hpp"

namespace epochd {

namespace {

/// The wanted ones of those there are, or why not.
Result<std::vector<int>, std::string> usable_devices(const DeviceQuery& query,
                                                     const std::vector<int>& wanted) {
  const auto devices = query();
  if (!devices) return Unexpected{devices.error().message};
  std::vector<int> there;
  std::string numbers;
  for (const DeviceInfo& device : *devices) {
    there.push_back(device.device);
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(device.device);
  }
  for (const int device : wanted) {
    if (std::find(there.begin(), there.end(), device) != there.end()) continue;
    return Unexpected{"the settings name device " + std::to_string(device) +
                      " in `devices`, and there are: " + numbers};
  }
  return wanted.empty() ? there : wanted;
}

}  // namespace

BackendChoice choose_backend(BackendPolicy policy, const DeviceQuery& query,
                             const std::vector<int>& wanted) {
  BackendChoice choice;
  if (policy == BackendPolicy::kCpu) return choice;
  auto devices = usable_devices(query, wanted);
  if (devices) {
    choice.is_cuda = true;
    choice.devices = *std::move(devices);
    return choice;
  }
  const std::string& why = devices.error();
  if (policy == BackendPolicy::kCudaRequired) {
    throw JobError(Reason::kGpu, "a CUDA device is required and none can be used: " + why +
                                     "; or ask for the backend cpu, or cuda-preferred "
                                     "(--backend auto)");
  }
  choice.fallback = "no CUDA device can be used: " + why;
  return choice;
}

}  // namespace epochd
