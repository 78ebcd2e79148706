// CPU against GPU, whole proofs: byte-identical records and transcripts, the first difference named
// by stage.
#include "epoch/continuation/prove_global.hpp"
#include "prover/transcript/stage_log.hpp"
#include "tests/cuda/session/session_fixture.hpp"

namespace epochd::testing {
namespace {

void expect_same_proofs(const Guest& g, const std::vector<EpochRecords>& epochs) {
  const auto backend = PlannedDevice(g).backend();
  for (const EpochRecords& e : epochs) {
    prover::StageLog cpu_log;
    prover::StageLog gpu_log;
    const EpochProof cpu =
        prove_epoch(g.backend, g.key, g.params, e, {cpu_log.observer(), nullptr});
    const EpochProof gpu = prove_epoch(*backend, g.key, g.params, e, {gpu_log.observer(), nullptr});
    ASSERT_EQ(prover::first_difference(cpu_log, gpu_log), "");
    ASSERT_EQ(cpu.boundary_root, gpu.boundary_root);
    ASSERT_TRUE(cpu.record == gpu.record);
  }
}

TEST(CudaSession, FibEpochsEqualTheCpus) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 12;
  expect_same_proofs(g, run_epochs(g, input_words({3000})));
}

TEST(CudaSession, EveryInstructionEqualsTheCpus) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  for (const char* name : {"alledge.elf", "misaligned.elf"}) {
    Guest g(name);
    g.params.epoch_size_log2 = 14;
    expect_same_proofs(g, run_epochs(g, {}));
  }
}

TEST(CudaSession, Proven100AndBlowup4EqualTheCpus) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  for (const char* preset : {"proven100", "proven128"}) {
    Guest g("sha256.elf", preset);
    g.params.epoch_size_log2 = 16;
    expect_same_proofs(g, run_epochs(g, std::vector<u8>(4000, 7)));
  }
}

TEST(CudaSession, WholeRunEqualsTheCpus) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  Guest g("sort.elf");
  g.params.epoch_size_log2 = 12;
  const auto epochs = run_epochs(g, input_words({200, 5}));
  const auto backend = PlannedDevice(g).backend();
  const auto cpu = prove_run(g, g.backend, epochs);
  const auto gpu = prove_run(g, *backend, epochs);
  EXPECT_TRUE(verify(g, gpu).ok()) << text(verify(g, gpu));
  EXPECT_TRUE(cpu == gpu);
}

TEST(CudaSession, ProvesOnTheDeviceAlone) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 14;
  const auto epochs = run_epochs(g, input_words({10000}));
  const auto backend = PlannedDevice(g).backend();
  const u64 allocations = cuda::allocation_count();
  const EpochProof first = prove_epoch(*backend, g.key, g.params, epochs[0]);
  const u64 warm = cuda::allocation_count();
  const u64 down = backend->counters().bytes_d2h;
  const EpochProof again = prove_epoch(*backend, g.key, g.params, epochs[0]);
  EXPECT_TRUE(first.record == again.record);
  EXPECT_GT(warm, allocations) << "the fixed tree is uploaded on first use";
  EXPECT_EQ(cuda::allocation_count(), warm) << "no allocation after warm-up";
  EXPECT_EQ(backend->counters().gather, 2u);
  EXPECT_GT(backend->counters().device_only, 0u);
  EXPECT_EQ(backend->counters().host_mirror, 0u);
  EXPECT_LE(backend->counters().bytes_d2h - down, first.record.size() * 8 + (64u << 10));
}

}  // namespace
}  // namespace epochd::testing
