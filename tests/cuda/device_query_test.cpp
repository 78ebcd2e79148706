// The device query on whatever machine the test runs: built without CUDA, with CUDA and no driver,
// or with a GPU. Which of the three it is comes from the build and from /dev, not from the code
// under test.
#include "cuda/rt/device_query.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace epochd {
namespace {

bool machine_has_gpu() {
  return std::filesystem::exists("/dev/nvidia0");
}

TEST(DeviceQuery, SaysWhyThereIsNoDevice) {
  if (EPOCHD_WITH_CUDA != 0 && machine_has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const auto devices = query_devices();
  ASSERT_FALSE(devices.has_value());
  EXPECT_EQ(devices.error().device, -1);
  EXPECT_NE(devices.error().message.find(';'), std::string::npos) << devices.error().message;
  if (EPOCHD_WITH_CUDA == 0) {
    EXPECT_EQ(devices.error().kind, DeviceQueryErrorKind::kNotBuilt);
  } else {
    EXPECT_TRUE(devices.error().kind == DeviceQueryErrorKind::kNoDriver ||
                devices.error().kind == DeviceQueryErrorKind::kNoDevice)
        << devices.error().message;
  }
}

TEST(DeviceQuery, DescribesEveryDevice) {
  if (EPOCHD_WITH_CUDA == 0 || !machine_has_gpu()) GTEST_SKIP() << "no GPU to describe";
  const auto devices = query_devices();
  ASSERT_TRUE(devices.has_value()) << devices.error().message;
  ASSERT_GE(devices.value().size(), 1u);
  int expected_ordinal = 0;
  for (const DeviceInfo& info : devices.value()) {
    EXPECT_EQ(info.device, expected_ordinal++);
    EXPECT_FALSE(info.name.empty());
    EXPECT_GE(info.memory_bytes, u64{1} << 30);
    EXPECT_LE(info.free_bytes, info.memory_bytes);
    EXPECT_GE(info.compute_major, 5);
    EXPECT_GE(info.multiprocessor_count, 1);
    EXPECT_GE(info.driver_version, info.runtime_version / 1000 * 1000);
  }
}

}  // namespace
}  // namespace epochd
