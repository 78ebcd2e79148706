#include "cuda/rt/device_query.hpp"

#include "prover/core/assert.hpp"

namespace epochd {

Result<std::vector<DeviceInfo>, DeviceQueryError> usable_devices(
    int count, const std::function<Result<DeviceInfo, DeviceQueryError>(int)>& query,
    const UnusableDevice& on_unusable) {
  EPOCHD_ASSERT(count > 0);
  std::vector<DeviceInfo> devices;
  std::vector<DeviceQueryError> unusable;
  for (int device = 0; device < count; ++device) {
    Result<DeviceInfo, DeviceQueryError> info = query(device);
    if (info) {
      devices.push_back(*std::move(info));
    } else {
      unusable.push_back(info.error());
    }
  }
  if (devices.empty()) return Unexpected{unusable.front()};
  if (on_unusable) {
    for (const DeviceQueryError& error : unusable) on_unusable(error);
  }
  return devices;
}

}  // namespace epochd
