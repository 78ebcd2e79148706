// The engine behind the pipeline's seam: which stored epochs it takes over, and payloads that are
// none.
#include "daemon/pipeline/engine_prover.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/queue/reason.hpp"

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
