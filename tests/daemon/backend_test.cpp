// Where a job is proved: what the settings ask for, and the devices there are.
#include <gtest/gtest.h>

#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

Result<std::vector<DeviceInfo>, DeviceQueryError> no_driver() {
  return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kNoDriver, -1, "no driver is loaded"}};
}
Result<std::vector<DeviceInfo>, DeviceQueryError> two_devices() {
  DeviceInfo device;
  device.device = 3;
  DeviceInfo other;
  other.device = 5;
  return std::vector{device, other};
}

TEST(BackendChoice, FollowsThePolicyAndTheDevices) {
  const auto choose = [](BackendPolicy policy, const DeviceQuery& query) {
    return choose_backend(policy, query);
  };
  for (const BackendPolicy policy : {BackendPolicy::kCudaPreferred, BackendPolicy::kCudaRequired}) {
    const BackendChoice choice = choose(policy, two_devices);
    EXPECT_TRUE(choice.is_cuda);
    EXPECT_EQ(choice.devices, (std::vector<int>{3, 5}));
    EXPECT_EQ(choice.fallback, "");
  }
  const BackendChoice preferred = choose(BackendPolicy::kCudaPreferred, no_driver);
  EXPECT_FALSE(preferred.is_cuda);
  EXPECT_EQ(preferred.fallback, "no CUDA device can be used: no driver is loaded");
  try {
    choose(BackendPolicy::kCudaRequired, no_driver);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kGpu);
    EXPECT_NE(std::string(error.what()).find("no driver is loaded"), std::string::npos);
  }
  bool is_asked = false;
  const auto watched = [&] {
    is_asked = true;
    return two_devices();
  };
  EXPECT_FALSE(choose(BackendPolicy::kCpu, watched).is_cuda);
  EXPECT_FALSE(is_asked) << "a context costs time and memory";
}

}  // namespace
}  // namespace epochd
