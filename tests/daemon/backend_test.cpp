// Where a job is proved: what the settings ask for, and the devices there are.
#include <gtest/gtest.h>

#include "cuda/session/plan.hpp"
#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/budgets.hpp"
#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/continuation/epoch_memory.hpp"

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

TEST(BackendChoice, OnlyTheDevicesThatAreNamed) {
  const auto choose = [](BackendPolicy policy, const std::vector<int>& wanted) {
    return choose_backend(policy, two_devices, wanted);
  };
  EXPECT_EQ(choose(BackendPolicy::kCudaRequired, {5}).devices, (std::vector<int>{5}));
  const BackendChoice preferred = choose(BackendPolicy::kCudaPreferred, {3, 4});
  EXPECT_FALSE(preferred.is_cuda);
  EXPECT_NE(preferred.fallback.find("the settings name device 4 in `devices`, and there are: 3, 5"),
            std::string::npos)
      << preferred.fallback;
  EXPECT_THROW(choose(BackendPolicy::kCudaRequired, {4}), JobError);
}

TEST(Budgets, RefuseWithNumbersAndWhatFits) {
  BudgetedProof proof{{&preset_of(SecurityPreset::kProven100), 20}, BackendPolicy::kCpu};
  proof.threads = 2;
  EXPECT_EQ(budget_refusal({}, proof), std::nullopt) << "no limit";
  const u64 needed = cpu_epoch_bytes_max(proof.params, 2);
  EXPECT_EQ(budget_refusal({needed, 0, 0}, proof), std::nullopt);
  const std::string why = budget_refusal({needed - 1, 0, 0}, proof).value_or("");
  EXPECT_EQ(why.find("an epoch of 2^20 cycles needs up to "), 0u) << why;
  EXPECT_NE(why.find("memory.host_bytes allows "), std::string::npos) << why;
  EXPECT_NE(why.find("EPOCH_SIZE_LOG2 <= 19 fits"), std::string::npos) << why;
  EXPECT_NE(budget_refusal({1, 0, 0}, proof).value_or("").find("no size fits"), std::string::npos);
  EXPECT_EQ(budget_refusal({0, 1, 1}, proof), std::nullopt) << "the CPU needs no device";

  proof.backend = BackendPolicy::kCudaRequired;
  EXPECT_EQ(budget_refusal({1, 0, 0}, proof), std::nullopt) << "nor the device the CPU";
  const cuda::CudaPlan plan = cuda::plan_cuda(proof.params);
  EXPECT_EQ(budget_refusal({0, plan.device_bytes(), plan.pinned_bytes()}, proof), std::nullopt);
  EXPECT_NE(budget_refusal({0, plan.device_bytes() - 1, 0}, proof)
                .value_or("")
                .find("memory.device_bytes"),
            std::string::npos);
  EXPECT_NE(budget_refusal({0, 0, plan.pinned_bytes() - 1}, proof)
                .value_or("")
                .find("memory.pinned_bytes"),
            std::string::npos);
  EXPECT_EQ(in_flight_within({}, proof, 3), 3u);
  EXPECT_EQ(in_flight_within({0, plan.device_bytes(2), 0}, proof, 3), 2u);
  EXPECT_EQ(in_flight_within({0, 0, plan.pinned_bytes()}, proof, 3), 1u);

  proof.backend = BackendPolicy::kCudaPreferred;
  EXPECT_TRUE(budget_refusal({1, 0, 0}, proof)) << "the CPU may have to prove";
}

TEST(Budgets, AreThoseOfTheSettingsAndTheEnvironment) {
  Config config;
  config.daemon.threads = 2;
  const RunParams small{&preset_of(SecurityPreset::kProven100), 16};
  config.daemon.memory.host_bytes = cpu_epoch_bytes_max(small, 2);
  EXPECT_TRUE(budget_refusal(config, {}));
  Environment environment;
  environment.protocol.epoch_size_log2 = 16;
  EXPECT_EQ(budget_refusal(config, environment), std::nullopt);
}

}  // namespace
}  // namespace epochd
