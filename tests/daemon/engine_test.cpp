// The engine behind the pipeline's seam: which stored epochs it takes over, and payloads that are
// none.
#include "daemon/pipeline/engine_prover.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/continuation/cpu_prover.hpp"

namespace epochd {
namespace {

ProofRequest fib_request(u64 n) {
  FileSystem fs;
  ProofRequest request;
  request.elf = fs.read_file(EPOCHD_GUEST_DIR "/fib.elf", 1 << 20);
  request.elf_name = "fib.elf";
  request.input.resize(sizeof(n));
  std::memcpy(request.input.data(), &n, sizeof(n));
  request.protocol = {7, true, SecurityPreset::kTest};
  request.cycle_limit = 1'000'000;
  request.threads = 2;
  return request;
}

void ignore() {}

/// The stored bytes of every epoch.
std::vector<Bytes> prove_all(const ProofRequest& request) {
  const auto prover = make_engine_prover(request);
  const RunFacts facts = prover->execute(ignore);
  std::vector<Bytes> epochs;
  for (u64 label = 1; label <= facts.epochs; ++label) epochs.push_back(prover->prove_epoch(label));
  return epochs;
}

TEST(EngineProver, TakesOverItsOwnEpochsAndNoOthers) {
  const ProofRequest request = fib_request(60);
  const std::vector<Bytes> epochs = prove_all(request);
  ASSERT_GE(epochs.size(), 3u);
  const std::vector<Bytes> others = prove_all(fib_request(61));

  const auto prover = make_engine_prover(request);
  prover->execute(ignore);
  EXPECT_TRUE(prover->accept_epoch(1, epochs[0]));
  EXPECT_FALSE(prover->accept_epoch(2, epochs[0])) << "an earlier epoch";
  EXPECT_FALSE(prover->accept_epoch(2, epochs[2])) << "a later epoch";
  EXPECT_FALSE(prover->accept_epoch(2, others[1])) << "another run's epoch";
  EXPECT_FALSE(prover->accept_epoch(2, {})) << "nothing";
  Bytes flipped = epochs[1];
  flipped[1000] ^= 1;  // in the record
  EXPECT_FALSE(prover->accept_epoch(2, flipped)) << "a damaged proof";
  flipped = epochs[1];
  flipped[30] ^= 1;  // in the boundary's root
  EXPECT_FALSE(prover->accept_epoch(2, flipped)) << "another boundary root";
  EXPECT_TRUE(prover->prove_epoch(2) == epochs[1]) << "refused ones are proved, to the same bytes";
  EXPECT_TRUE(prover->accept_epoch(3, epochs[2]));
}

/// The CPU prover in the place of a device, which flips a bit of the `flips` next epoch proofs.
class FaultyDevice : public EpochProver {
 public:
  FaultyDevice(const ProvingKey& key, const RunParams& params, u32 flips)
      : pool_(2), prover_(make_cpu_prover(key, params, best_isa(), pool_)), flips_(flips) {}

  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks) override {
    EpochProof proof = prover_->prove_epoch(records, hooks);
    if (flips_ > 0) {
      --flips_;
      proof.record[proof.record.size() / 2] ^= 1;
    }
    return proof;
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    return prover_->prove_global(boundaries, ends, emit, cancelled);
  }
  ProverUsage usage() const override {
    ProverUsage usage;
    usage.backend = "cuda";
    return usage;
  }
  std::pmr::memory_resource* record_memory() override { return &memory_; }

 private:
  Parallel pool_;
  std::unique_ptr<EpochProver> prover_;
  u32 flips_;
  std::pmr::unsynchronized_pool_resource memory_;
};

DeviceAccess faulty_device(u32 flips) {
  DeviceAccess access;
  access.query = []() -> Result<std::vector<DeviceInfo>, DeviceQueryError> {
    return std::vector{DeviceInfo{}};
  };
  access.make_prover = [flips](const ProvingKey& key, const RunParams& params,
                               int) -> DeviceAccess::ProverResult {
    return std::unique_ptr<EpochProver>(std::make_unique<FaultyDevice>(key, params, flips));
  };
  return access;
}

TEST(EngineProver, TheVerifierCatchesAFlippedBitOfADevice) {
  ProofRequest request = fib_request(60);
  const std::vector<Bytes> expected = prove_all(request);
  request.backend = BackendPolicy::kCudaPreferred;
  for (const u32 flips : {0u, 1u, 2u}) {
    const auto prover = make_engine_prover(request, {}, faulty_device(flips));
    EXPECT_EQ(prover->usage().backend, "cuda");
    const RunFacts facts = prover->execute(ignore);
    ASSERT_EQ(facts.epochs, expected.size());
    for (u64 label = 1; label <= facts.epochs; ++label) {
      EXPECT_TRUE(prover->prove_epoch(label) == expected[label - 1]) << label;
    }
    Bytes bundle;
    prover->assemble([&](u64 label) { return expected[label - 1]; },
                     [&](std::span<const u8> bytes) {
                       bundle.insert(bundle.end(), bytes.begin(), bytes.end());
                     });
    EXPECT_GT(bundle.size(), expected[0].size());
    const ProverUsage usage = prover->usage();
    EXPECT_EQ(usage.backend, "cuda");
    EXPECT_EQ(usage.counters.at("self_verify_failed"), flips);
    EXPECT_EQ(usage.counters.at("epoch_retry"), flips > 0 ? 1u : 0u);
    EXPECT_EQ(usage.counters.at("fallback"), flips == 2 ? 1u : 0u);
    EXPECT_EQ(usage.fallback.empty(), flips < 2);
  }
  request.backend = BackendPolicy::kCudaRequired;
  const auto prover = make_engine_prover(request, {}, faulty_device(2));
  prover->execute(ignore);
  try {
    prover->prove_epoch(1);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kGpu);
  }
}

TEST(EngineProver, SaysWhatIsWrongWithAProgram) {
  ProofRequest request = fib_request(1);
  request.elf = {1, 2, 3};
  try {
    make_engine_prover(request);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kInput);
    EXPECT_EQ(std::string(error.what()).find("'fib.elf': "), 0u) << error.what();
  }
}

TEST(EngineProver, EveryPresetOfTheSettingsIsCompiledIn) {
  for (size_t i = 0; i < kSecurityPresetNames.size(); ++i) {
    EXPECT_EQ(preset_of(static_cast<SecurityPreset>(i)).name, kSecurityPresetNames[i]);
  }
  EXPECT_EQ(std::size(prover::kPresets), kSecurityPresetNames.size());
}

TEST(EpochPayload, IsReadBackAndNeverReadOutside) {
  EpochProof proof;
  proof.record = {2, 7, 8};
  proof.boundary_log_height = 5;
  proof.boundary_root = {{1, 2, 3, 4}};
  BoundaryRecord row{};
  row.key = 9;
  row.fini = 11;
  const std::vector<BoundaryRecord> rows = {row, row};
  const Bytes bytes = encode_payload(proof, rows);
  const auto payload = decode_payload(bytes);
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->proof.record, proof.record);
  EXPECT_EQ(payload->proof.boundary_root, proof.boundary_root);
  EXPECT_EQ(payload->proof.boundary_log_height, 5u);
  ASSERT_EQ(payload->boundary.size(), 2u);
  EXPECT_EQ(payload->boundary[1].fini, 11u);
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decode_payload(std::span(bytes).first(i))) << i;
  }
  for (const u64 claim : {u64{4}, u64{1} << 32, u64{1} << 61, ~u64{0}, (u64{1} << 61) + 3}) {
    for (const size_t at : {size_t{0}, size_t{8}}) {
      Bytes absurd = bytes;
      std::memcpy(absurd.data() + at, &claim, sizeof(claim));
      EXPECT_FALSE(decode_payload(absurd)) << claim << " at " << at;
    }
  }
}

}  // namespace
}  // namespace epochd
