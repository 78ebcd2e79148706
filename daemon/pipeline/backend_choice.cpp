#include "daemon/pipeline/backend_choice.hpp"

#include "daemon/queue/reason.hpp"

namespace epochd {

BackendChoice choose_backend(BackendPolicy policy, Residency residency, const DeviceQuery& query) {
  BackendChoice choice;
  if (policy == BackendPolicy::kCpu) return choice;
  if (residency == Residency::kHostMirror) {
    throw JobError(Reason::kInput,
                   "the CUDA backend has no host-mirror residency, traces and extensions never "
                   "leave the device; ask for device-only, or for the backend cpu");
  }
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
