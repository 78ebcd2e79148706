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

Result<DeviceInfo, DeviceQueryError> only_odd_devices(int device) {
  if (device % 2 == 0) {
    return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kNoKernelImage, device, "too old"}};
  }
  DeviceInfo info;
  info.device = device;
  return info;
}

TEST(DeviceQuery, ListsTheUsableOfSeveralDevicesAndTellsOfTheOthers) {
  std::vector<int> unusable;
  const auto devices = usable_devices(4, only_odd_devices, [&](const DeviceQueryError& error) {
    EXPECT_EQ(error.message, "too old");
    unusable.push_back(error.device);
  });
  ASSERT_TRUE(devices.has_value());
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0].device, 1);
  EXPECT_EQ((*devices)[1].device, 3);
  EXPECT_EQ(unusable, (std::vector<int>{0, 2}));
  EXPECT_EQ(usable_devices(4, only_odd_devices, {})->size(), 2u) << "nobody needs to listen";
}

TEST(DeviceQuery, FailsWithTheFirstReasonWhenNoDeviceIsUsable) {
  const auto devices = usable_devices(1, only_odd_devices, [](const DeviceQueryError&) {
    ADD_FAILURE() << "it is the error already";
  });
  ASSERT_FALSE(devices.has_value());
  EXPECT_EQ(devices.error().kind, DeviceQueryErrorKind::kNoKernelImage);
  EXPECT_EQ(devices.error().device, 0);
}

}  // namespace
}  // namespace epochd
