#include "daemon/pipeline/backend_choice.hpp"

#include "daemon/queue/reason.hpp"

namespace epochd {

BackendChoice choose_backend(BackendPolicy policy, const DeviceQuery& query) {
  BackendChoice choice;
  if (policy == BackendPolicy::kCpu) return choice;
  const auto devices = query();
  if (devices) {
    choice.is_cuda = true;
    for (const DeviceInfo& device : *devices) choice.devices.push_back(device.device);
    return choice;
  }
  const std::string& why = devices.error().message;
  if (policy == BackendPolicy::kCudaRequired) {
    throw JobError(Reason::kGpu, "a CUDA device is required and none can be used: " + why +
                                     "; or ask for the backend cpu, or cuda-preferred "
                                     "(--backend auto)");
  }
  choice.fallback = "no CUDA device can be used: " + why;
  return choice;
}

}  // namespace epochd
