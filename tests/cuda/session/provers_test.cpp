// The provers that the daemon gets: planned once, several on a device, taking one program after the
// other, and device-only or mirrored from end to end.
#include <thread>

#include "cuda/prover/cuda_prover.hpp"
#include "tests/cuda/session/session_fixture.hpp"

namespace epochd::testing {
namespace {

class CudaProvers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_F(CudaProvers, ShareADeviceAndProveAtOnce) {
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 12;
  const auto epochs = run_epochs(g, input_words({4000}));
  const u64 before = cuda::device_bytes();
  auto provers = make_cuda_provers(g.key, g.params, 0, Residency::kDeviceOnly, 3);
  ASSERT_TRUE(provers) << provers.error().message;
  ASSERT_EQ(provers->size(), 3u);
  const auto program = cuda::PlannedProgram::of(g.key).at_least(cuda::PlannedProgram{});
  const cuda::CudaPlan plan = cuda::plan_cuda(g.params, Residency::kDeviceOnly, program);
  EXPECT_LE(cuda::device_bytes() - before, plan.device_bytes(3));
  std::vector<std::vector<EpochProof>> proofs(3);
  std::array<bool, 3> has_changed{};
  std::vector<std::thread> threads;
  for (u32 i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (const EpochRecords& e : epochs) proofs[i].push_back((*provers)[i]->prove_epoch(e));
      // Often enough to meet the others at every stage.
      for (u32 again = 0; again < 40; ++again) {
        const size_t e = (again + i) % epochs.size();
        has_changed[i] |= !((*provers)[i]->prove_epoch(epochs[e]).record == proofs[i][e].record);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(has_changed, (std::array<bool, 3>{}));
  for (size_t e = 0; e < epochs.size(); ++e) {
    const EpochProof cpu = prove_epoch(g.backend, g.key, g.params, epochs[e]);
    for (u32 i = 0; i < 3; ++i) EXPECT_TRUE(proofs[i][e].record == cpu.record) << e << " by " << i;
  }
}

TEST_F(CudaProvers, TakeAsManyAsAreWantedByDefault) {
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 10;
  const auto provers = make_cuda_provers(g.key, g.params, 0, Residency::kDeviceOnly);
  ASSERT_TRUE(provers) << provers.error().message;
  EXPECT_EQ(provers->size(), kInFlightDefault);
  const auto none = make_cuda_provers(g.key, g.params, 64, Residency::kDeviceOnly);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, DeviceQueryErrorKind::kNoDevice);
}

TEST_F(CudaProvers, TakeAnotherProgramAndLetGoOfTheOld) {
  Guest fib("fib.elf");
  Guest sort("sort.elf");
  for (Guest* g : {&fib, &sort}) g->params.epoch_size_log2 = 12;
  const auto fib_epochs = run_epochs(fib, input_words({1500}));
  const auto sort_epochs = run_epochs(sort, input_words({200, 5}));
  auto made = make_cuda_prover(fib.key, fib.params);
  ASSERT_TRUE(made) << made.error().message;
  EpochProver& prover = **made;
  const u64 of_fib = cuda::device_bytes();
  const auto proof_of = [&](Guest& g, const EpochRecords& e) {
    return prover.prove_epoch(e).record == prove_epoch(g.backend, g.key, g.params, e).record;
  };
  EXPECT_TRUE(proof_of(fib, fib_epochs[0]));
  ASSERT_TRUE(prover.rekey(sort.key));
  EXPECT_TRUE(proof_of(sort, sort_epochs[0]));
  ASSERT_TRUE(prover.rekey(fib.key));
  EXPECT_EQ(cuda::device_bytes(), of_fib) << "the other program's trees are gone";
  EXPECT_TRUE(proof_of(fib, fib_epochs[0]));
  Guest other("fib.elf", "proven100");
  EXPECT_FALSE(prover.rekey(other.key)) << "another preset is another plan";
}

TEST_F(CudaProvers, NeedAsMuchForManyEpochsAsForFew) {
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 10;
  const auto epochs = run_epochs(g, input_words({15000}));
  ASSERT_GE(epochs.size(), 64u);
  auto made = make_cuda_prover(g.key, g.params);
  ASSERT_TRUE(made) << made.error().message;
  EpochProver& prover = **made;
  const u64 held = cuda::device_bytes();
  const u64 allocations = cuda::allocation_count();
  for (u32 e = 0; e < 64; ++e) prover.prove_epoch(epochs[e]);
  EXPECT_EQ(cuda::device_bytes(), held);
  EXPECT_EQ(cuda::allocation_count(), allocations) << "all is allocated when a prover is made";
}

/// What is held is what is planned, within one percent, whatever the program needs of it.
TEST_F(CudaProvers, HoldWhatIsPlanned) {
  for (const char* preset : {"proven100", "proven128"}) {
    Guest g("fib.elf", preset);
    g.params.epoch_size_log2 = 18;
    const auto program = cuda::PlannedProgram::of(g.key);
    const cuda::CudaPlan exact = cuda::plan_cuda(g.params, Residency::kDeviceOnly, program);
    const cuda::CudaPlan plan = cuda::plan_cuda(g.params);
    const u64 before = cuda::device_bytes();
    const auto made = make_cuda_prover(g.key, g.params);
    ASSERT_TRUE(made) << made.error().message;
    const double held = double(cuda::device_bytes() - before);
    // There is room for the trees of a program of 2^16 instructions; this one's are smaller.
    const double planned = double(plan.device_bytes() - plan.fixed_bytes + exact.fixed_bytes);
    EXPECT_LE(held, planned);
    EXPECT_GE(held, 0.99 * planned);
  }
}

TEST_F(CudaProvers, ShareTablesOfThePlannedSize) {
  for (const prover::Preset& preset : prover::kPresets) {
    for (const u32 size : {10u, 20u, 22u}) {
      const cuda::CudaPlan plan = cuda::plan_cuda({&preset, size});
      const u64 before = cuda::device_bytes();
      const cuda::DeviceShared shared(0, plan);
      EXPECT_EQ(cuda::device_bytes() - before, plan.table_bytes) << preset.name << " 2^" << size;
    }
  }
}

struct EndToEnd {
  std::vector<u64> bundle;
  ProverUsage usage;
};

/// A whole run by the product's prover, as the pipeline makes it.
EndToEnd prove_end_to_end(const Guest& g, const std::vector<EpochRecords>& epochs,
                          Residency residency) {
  auto made = make_cuda_prover(g.key, g.params, 0, residency);
  EXPECT_TRUE(made) << made.error().message;
  EpochProver& prover = **made;
  EndToEnd out;
  std::vector<EpochProof> proofs;
  auto memory = std::make_unique<RunMemory>();
  for (const EpochRecords& e : epochs) {
    proofs.push_back(prover.prove_epoch(e));
    memory->absorb(e.public_values.label, e.boundary);
  }
  const RunMemory::Ends ends = memory->finish(g.key.image);
  out.bundle = bundle_header(g.key.vk, g.params, static_cast<u32>(epochs.size()), ends);
  for (const EpochProof& p : proofs) {
    out.bundle.insert(out.bundle.end(), p.record.begin(), p.record.end());
  }
  BoundaryStore store;
  store.epochs = static_cast<u32>(epochs.size());
  store.rows = [&](u32 label) { return epochs[label - 1].boundary; };
  store.root = [&](u32 label) { return proofs[label - 1].boundary_root; };
  store.log_height = [&](u32 label) { return proofs[label - 1].boundary_log_height; };
  EXPECT_TRUE(prover.prove_global(store, ends, [&](std::span<const u64> words) {
    out.bundle.insert(out.bundle.end(), words.begin(), words.end());
  }));
  out.usage = prover.usage();
  return out;
}

/// The one-million-iteration Fibonacci: device-only with every gather on the device, and the other
/// way round in host-mirror, the same bytes both ways.
TEST_F(CudaProvers, AMillionIterationsDeviceOnlyAndMirrored) {
  Guest g("fib.elf", "proven100");
  g.params.epoch_size_log2 = 20;
  const auto epochs = run_epochs(g, input_words({1'000'000}));
  ASSERT_GE(epochs.size(), 2u);
  EndToEnd alone = prove_end_to_end(g, epochs, Residency::kDeviceOnly);
  EXPECT_TRUE(verify(g, alone.bundle).ok()) << text(verify(g, alone.bundle));
  EXPECT_GT(alone.usage.counters["gather"], epochs.size());
  EXPECT_GT(alone.usage.counters["device_only"], 0u);
  EXPECT_EQ(alone.usage.counters["host_mirror"], 0u);
  EXPECT_EQ(alone.usage.counters["mirror_fallback"], 0u);

  EndToEnd mirrored = prove_end_to_end(g, epochs, Residency::kHostMirror);
  EXPECT_TRUE(mirrored.bundle == alone.bundle);
  EXPECT_GT(mirrored.usage.counters["gather"], epochs.size());
  EXPECT_EQ(mirrored.usage.counters["device_only"], 0u);
  EXPECT_EQ(mirrored.usage.counters["host_mirror"], alone.usage.counters["device_only"]);
  EXPECT_EQ(mirrored.usage.counters["mirror_fallback"], 0u);
  EXPECT_GT(mirrored.usage.bytes_d2h, 100 * alone.usage.bytes_d2h);
}

}  // namespace
}  // namespace epochd::testing
