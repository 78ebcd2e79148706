// Residency on a device, in both directions, and what happens when something breaks: ordered
// faults, memory that is not there, a lost context.
#include "cuda/session/residency.hpp"

#include "cuda/prover/cuda_prover.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/continuation/prove_global.hpp"
#include "tests/cuda/session/session_fixture.hpp"
#include "tests/cuda/session/trap.hpp"

namespace epochd::testing {
namespace {

using cuda::Fault;
using cuda::FaultPlan;

class CudaResidency : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
    g_.params.epoch_size_log2 = 12;
    epochs_ = run_epochs(g_, input_words({1500}));
    wanted_ = prove_epoch(g_.backend, g_.key, g_.params, epochs_[0]).record;
  }
  std::vector<u64> prove(const cuda::CudaBackend& backend) const {
    return prove_epoch(backend, g_.key, g_.params, epochs_[0]).record;
  }
  /// Whether the verifier takes the record as that of the first epoch.
  bool is_valid(const std::vector<u64>& record) const {
    auto scratch = std::make_unique<RunScratch>();
    EpochStatement statement;
    prover::Digest root;
    WordReader reader{record.data(), record.size()};
    const EpochPublic& p = epochs_[0].public_values;
    return verify_epoch(g_.key.vk, g_.params, p.label, p.is_final, reader, *scratch, statement,
                        root)
        .ok();
  }

  Guest g_{"fib.elf"};
  std::vector<EpochRecords> epochs_;
  std::vector<u64> wanted_;
};

TEST_F(CudaResidency, HostMirrorComparesAndProvesTheSameBytes) {
  const PlannedDevice device(g_, Residency::kHostMirror);
  const auto backend = device.backend();
  const auto bundle = prove_run(g_, *backend, epochs_);
  EXPECT_TRUE(bundle == prove_run(g_, g_.backend, epochs_));
  const cuda::Counters& c = backend->counters();
  EXPECT_GT(c.host_mirror, 0u);
  EXPECT_EQ(c.device_only, 0u);
  EXPECT_EQ(c.mirror_fallback, 0u);
  EXPECT_GT(c.gather, epochs_.size());
}

TEST_F(CudaResidency, HostMirrorTakesOverAFailedGather) {
  const PlannedDevice device(g_, Residency::kHostMirror);
  for (const Fault fault : {Fault::kGatherError, Fault::kGatheredWord}) {
    FaultPlan faults;
    const auto backend = device.backend(&faults);
    faults.order(fault);
    EXPECT_TRUE(prove(*backend) == wanted_);
    EXPECT_EQ(faults.struck(fault), 1u);
    EXPECT_EQ(backend->counters().mirror_fallback, 1u);
    EXPECT_EQ(backend->counters().gather, 0u);
    EXPECT_TRUE(prove(*backend) == wanted_) << "the next one gathers on the device again";
    EXPECT_EQ(backend->counters().mirror_fallback, 1u);
    EXPECT_EQ(backend->counters().gather, 1u);
  }
}

TEST_F(CudaResidency, DeviceOnlyStopsAtAFailedGather) {
  FaultPlan faults;
  const auto backend = PlannedDevice(g_).backend(&faults);
  faults.order(Fault::kGatherError);
  try {
    prove(*backend);
    FAIL() << "there is no copy to gather from";
  } catch (const cuda::ResidencyError& error) {
    EXPECT_EQ(error.kind(), cuda::ResidencyErrorKind::kHostTraceEmpty);
    EXPECT_EQ(error.stage(), cuda::DeviceStage::kGather);
    EXPECT_NE(std::string(error.what()).find("an ordered fault"), std::string::npos);
  }
  EXPECT_EQ(backend->counters().gather, 0u);
  EXPECT_EQ(backend->counters().device_only, 0u) << "only finished proofs count";
  EXPECT_TRUE(prove(*backend) == wanted_) << "trying again is safe";
  EXPECT_GT(backend->counters().device_only, 0u);
}

TEST_F(CudaResidency, AMisgatedTableStopsTheEpochByName) {
  FaultPlan faults;
  const auto backend = PlannedDevice(g_).backend(&faults);
  const auto tables = plan_tables(epochs_[0], g_.key.vk, *g_.params.preset);
  faults.order(Fault::kMisgatedTable, 1, 2);
  try {
    prove(*backend);
    FAIL() << "a table without a constraint kernel was proved";
  } catch (const cuda::ResidencyError& error) {
    EXPECT_EQ(error.kind(), cuda::ResidencyErrorKind::kHostTraceEmpty);
    EXPECT_EQ(error.table(), chips::find_air(tables[2].chip)->name);
    EXPECT_EQ(error.stage(), cuda::DeviceStage::kQuotient);
  }
  EXPECT_TRUE(prove(*backend) == wanted_);
}

TEST_F(CudaResidency, AFlippedWordDoesNotVerify) {
  FaultPlan faults;
  const auto backend = PlannedDevice(g_).backend(&faults);
  EXPECT_TRUE(is_valid(prove(*backend)));
  faults.order(Fault::kCommittedWord, 1, kEpochMainTree - 1);  // the fixed tree is not committed
  const std::vector<u64> committed = prove(*backend);
  EXPECT_EQ(faults.struck(Fault::kCommittedWord), 1u);
  EXPECT_FALSE(committed == wanted_);
  EXPECT_FALSE(is_valid(committed));
  faults.order(Fault::kGatheredWord);
  EXPECT_FALSE(is_valid(prove(*backend)));
  EXPECT_TRUE(prove(*backend) == wanted_);
}

TEST_F(CudaResidency, DebugChecksCompareEveryRow) {
  PlannedDevice device(g_, Residency::kHostMirror);
  device.options.residency = Residency::kDeviceOnly;
  device.options.has_debug_checks = true;
  const auto backend = device.backend();
  EXPECT_TRUE(prove(*backend) == wanted_);
  EXPECT_EQ(backend->counters().device_only, 0u) << "a debug run has the host's copy";
  EXPECT_GT(backend->counters().host_mirror, 0u);
}

cuda::ErrorKind kind_of_failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const cuda::Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "it did not fail";
  return cuda::ErrorKind::kSticky;
}

TEST_F(CudaResidency, ASessionBeyondThePlanIsRefused) {
  PlannedDevice device(g_);
  device.plan.epoch_bytes = device.plan.global_bytes = 1 << 20;
  const auto backend = device.backend();
  EXPECT_EQ(kind_of_failure([&] { prove(*backend); }), cuda::ErrorKind::kOutOfPlan);
}

TEST_F(CudaResidency, AFailedAllocationIsOutOfPlanAndPasses) {
  const PlannedDevice device(g_);
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  {
    const cuda::DeviceBlock hog(free - device.plan.prover_bytes() / 2);
    EXPECT_EQ(kind_of_failure([&] { device.backend(); }), cuda::ErrorKind::kOutOfPlan);
    const auto refused = make_cuda_prover(g_.key, g_.params);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, DeviceQueryErrorKind::kNoMemory);
    EXPECT_NE(refused.error().message.find("GiB"), std::string::npos) << refused.error().message;
  }
  EXPECT_TRUE(prove(*device.backend()) == wanted_);
}

/// Asks for a trap when a stage begins.
class TrapAt : public StageListener {
 public:
  explicit TrapAt(const char* stage) : stage_(stage) {}
  void stage_begins(const char* name) override {
    if (std::string(name) == stage_) launch_trap(cudaStreamPerThread);
  }
  void stage_ends(const char*) override {}

 private:
  std::string stage_;
};

/// Exit code 3: the error was sticky, and stayed so.
void prove_with_a_trap() {
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 12;
  const auto epochs = run_epochs(g, input_words({1500}));
  const auto backend = PlannedDevice(g).backend();
  u32 sticky = 0;
  for (u32 attempt = 0; attempt < 2; ++attempt) {
    TrapAt trap("quotient");
    try {
      prove_epoch(*backend, g.key, g.params, epochs[0], {{}, attempt == 0 ? &trap : nullptr});
    } catch (const cuda::Error& error) {
      sticky += error.kind() == cuda::ErrorKind::kSticky;
    }
  }
  std::_Exit(sticky == 2 ? 3 : 4);
}

TEST(CudaResidencyDeathTest, ALostContextIsSticky) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  // A process of its own: what is lost here is lost for good.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(prove_with_a_trap(), ::testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace epochd::testing
