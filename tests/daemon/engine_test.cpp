// The engine behind the pipeline's seam: which stored epochs it takes over, and payloads that are
// none.
#include "daemon/pipeline/engine_prover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>

#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/pipeline/local_pool.hpp"
#include "daemon/pipeline/payload_reader.hpp"
#include "daemon/pipeline/run_job.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/continuation/cpu_prover.hpp"
#include "tests/daemon/queue_fixture.hpp"

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

/// Keeps what is saved.
class MemoryExchange : public EpochExchange {
 public:
  std::optional<Bytes> load(u64 label) override {
    const auto found = stored.find(label);
    return found == stored.end() ? std::nullopt : std::optional(found->second);
  }
  ResumeStore* resume_store() override { return nullptr; }
  void resumed(u64) override { ADD_FAILURE() << "there is nothing to go on from"; }
  void save(u64 label, std::span<const u8> bytes, bool was_stored) override {
    EXPECT_EQ(label, saved.size() + 1);
    saved.emplace_back(bytes.begin(), bytes.end());
    if (was_stored) were_stored.insert(label);
  }
  void surveyed(const RunFacts&) override {}
  void check() override {}
  void advanced() override {}

  std::map<u64, Bytes> stored;  ///< by an earlier attempt
  std::vector<Bytes> saved;
  std::set<u64> were_stored;
};

/// The stored bytes of every epoch.
std::vector<Bytes> prove_all(const ProofRequest& request) {
  const auto prover = make_engine_prover(request);
  MemoryExchange exchange;
  const RunFacts facts = prover->prove_epochs(exchange);
  EXPECT_EQ(exchange.saved.size(), facts.epochs);
  return exchange.saved;
}

TEST(EngineProver, TakesOverItsOwnEpochsAndNoOthers) {
  const ProofRequest request = fib_request(60);
  const std::vector<Bytes> epochs = prove_all(request);
  ASSERT_GE(epochs.size(), 3u);
  const std::vector<Bytes> others = prove_all(fib_request(61));

  const auto is_taken_over = [&](u64 label, const Bytes& bytes) {
    const auto prover = make_engine_prover(request);
    MemoryExchange exchange;
    exchange.stored = {{1, epochs[0]}, {label, bytes}};
    ::testing::internal::CaptureStderr();
    prover->prove_epochs(exchange);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(exchange.saved == epochs) << "refused ones are proved, to the same bytes";
    EXPECT_TRUE(label == 1 || exchange.were_stored.contains(1));
    const bool is_taken = exchange.were_stored.contains(label);
    EXPECT_EQ(said.find("stored epoch does not belong to this run") == std::string::npos, is_taken);
    return is_taken;
  };
  EXPECT_TRUE(is_taken_over(1, epochs[0]));
  EXPECT_TRUE(is_taken_over(3, epochs[2]));
  EXPECT_FALSE(is_taken_over(2, epochs[0])) << "an earlier epoch";
  EXPECT_FALSE(is_taken_over(2, epochs[2])) << "a later epoch";
  EXPECT_FALSE(is_taken_over(2, others[1])) << "another run's epoch";
  EXPECT_FALSE(is_taken_over(2, {})) << "nothing";
  Bytes flipped = epochs[1];
  flipped[1000] ^= 1;  // in the record
  EXPECT_FALSE(is_taken_over(2, flipped)) << "a damaged proof";
  flipped = epochs[1];
  flipped[30] ^= 1;  // in the boundary's root
  EXPECT_FALSE(is_taken_over(2, flipped)) << "another boundary root";
}

/// How often devices of a test get it wrong.
struct Flips {
  std::atomic<int> epochs = 0;   ///< epoch proofs with a flipped bit
  std::atomic<int> globals = 0;  ///< global proofs
};

/// The CPU prover in the place of a device, which flips bits of its next proofs.
class FaultyDevice : public EpochProver {
 public:
  FaultyDevice(const ProvingKey& key, const RunParams& params, Flips& flips)
      : pool_(2), prover_(make_cpu_prover(key, params, best_isa(), pool_)), flips_(flips) {}

  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks) override {
    EpochProof proof = prover_->prove_epoch(records, hooks);
    if (flips_.epochs-- > 0) proof.record[proof.record.size() / 2] ^= 1;
    return proof;
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    const bool is_wrong = flips_.globals-- > 0;
    const auto emit_wrongly = [&](std::span<const u64> words) {
      std::vector<u64> wrong(words.begin(), words.end());
      wrong[wrong.size() / 2] ^= 1;
      emit(wrong);
    };
    if (is_wrong) return prover_->prove_global(boundaries, ends, emit_wrongly, cancelled);
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
  Flips& flips_;
  std::pmr::unsynchronized_pool_resource memory_;
};

/// `in_flight` of them.
DeviceAccess faulty_devices(Flips& flips, u32 in_flight) {
  DeviceAccess access;
  access.query = []() -> Result<std::vector<DeviceInfo>, DeviceQueryError> {
    return std::vector{DeviceInfo{}};
  };
  access.pool = [&flips, in_flight](const std::vector<int>&) -> PoolFactory {
    return [&flips, in_flight](const PoolJob& job) {
      const auto make = [&] { return std::make_unique<FaultyDevice>(*job.key, job.params, flips); };
      return std::make_unique<LocalPool>(job, LocalPool::Threads{2, in_flight}, make);
    };
  };
  return access;
}

TEST(EngineProver, TheVerifierCatchesAFlippedBitOfADevice) {
  ProofRequest request = fib_request(60);
  const std::vector<Bytes> expected = prove_all(request);
  request.backend = BackendPolicy::kCudaPreferred;
  Flips flips;
  for (const int wrong : {0, 1, 2}) {
    flips.epochs = wrong;
    // With one epoch in flight, both flips hit the first.
    const auto prover = make_engine_prover(request, {}, faulty_devices(flips, wrong == 2 ? 1 : 3));
    EXPECT_EQ(prover->usage().backend, "cuda");
    MemoryExchange exchange;
    prover->prove_epochs(exchange);
    EXPECT_TRUE(exchange.saved == expected);
    const ProverUsage usage = prover->usage();
    EXPECT_EQ(usage.backend, "cuda");
    EXPECT_EQ(usage.counters.at("self_verify_failed"), static_cast<u64>(wrong));
    EXPECT_EQ(usage.counters.at("epoch_retry"), static_cast<u64>(wrong));
    EXPECT_EQ(usage.counters.at("fallback"), 0u);
  }
  flips.epochs = 1000;
  const auto preferred = make_engine_prover(request, {}, faulty_devices(flips, 1));
  MemoryExchange exchange;
  preferred->prove_epochs(exchange);
  EXPECT_TRUE(exchange.saved == expected) << "the CPU's";
  EXPECT_EQ(preferred->usage().counters.at("fallback"), expected.size());
  EXPECT_EQ(preferred->usage().fallback.find("its proof of epoch "), 0u);
  request.backend = BackendPolicy::kCudaRequired;
  const auto required = make_engine_prover(request, {}, faulty_devices(flips, 1));
  MemoryExchange none;
  try {
    required->prove_epochs(none);
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kGpu);
  }
}

/// Watches nothing.
class NoMonitor : public JobMonitor {
 public:
  void enter(Phase phase) override { phases.push_back(phase); }
  void surveyed(u64) override {}
  void saved(u64, bool) override {}
  void check() override {}
  std::vector<Phase> phases;
};

TEST(EngineProver, AWrongGlobalProofIsMadeAgainAndNoEpochIs) {
  TemporaryDirectory directory;
  FileSystem fs;
  ProofRequest request = fib_request(60);
  const auto prove = [&](Flips& flips, const std::string& name) {
    const auto prover = make_engine_prover(request, {}, faulty_devices(flips, 2));
    SpoolEpochStore store(fs, directory.path());
    NoMonitor monitor;
    const ProofFacts facts = run_job(fs, *prover, store, directory.path() / name, monitor);
    EXPECT_GT(facts.stages.at("prove"), 0);
    EXPECT_GT(facts.stages.at("replay"), 0);
    EXPECT_GT(facts.stages.at("global proof"), 0);
    return prover->usage();
  };
  Flips flips;
  prove(flips, "cpu");
  request.backend = BackendPolicy::kCudaPreferred;
  for (const int wrong : {0, 1, 2}) {
    flips.globals = wrong;
    flips.epochs = 0;
    const std::string name = "cuda" + std::to_string(wrong);
    const ProverUsage usage = prove(flips, name);
    EXPECT_EQ(usage.counters.at("self_verify_failed"), static_cast<u64>(wrong));
    EXPECT_EQ(usage.counters.at("fallback"), wrong == 2 ? 1u : 0u);
    EXPECT_TRUE(fs.read_file(directory.path() / name, 1 << 28) ==
                fs.read_file(directory.path() / "cpu", 1 << 28));
  }
  request.backend = BackendPolicy::kCudaRequired;
  flips.globals = 1000;
  EXPECT_THROW(prove(flips, "never"), JobError);
}

TEST(EngineProver, ARunInOneEpochGetsTheSmallestThatHoldsIt) {
  ProofRequest request = fib_request(60);
  request.protocol.continuations = false;
  const auto prover = make_engine_prover(request);
  MemoryExchange exchange;
  const RunFacts facts = prover->prove_epochs(exchange);
  EXPECT_EQ(facts.epochs, 1u);
  EXPECT_EQ(exchange.saved.size(), 1u);
  EXPECT_GT(facts.cycles, 1u << 8);
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

class PayloadReaderTest : public ::testing::Test {
 protected:
  static constexpr u32 kEpochs = 23;

  PayloadReader::Loader loader_ = [this](u64 label) {
    ++loads_;
    last_ = std::max(last_.load(), label);
    if (label == bad_) throw JobError(Reason::kIo, "epoch " + std::to_string(label));
    EpochProof proof;
    proof.record = {label, label * label};
    return encode_payload(proof, std::vector<BoundaryRecord>(label));
  };
  void expect_right(const EpochPayload& payload, u64 label) {
    EXPECT_EQ(payload.proof.record, (std::vector<u64>{label, label * label}));
    EXPECT_EQ(payload.boundary.size(), label);
  }

  Parallel parallel_{3};
  std::atomic<u64> loads_ = 0, last_ = 0, bad_ = 0;
};

TEST_F(PayloadReaderTest, GivesEachEpochAndLoadsItOnceAPass) {
  PayloadReader reader(loader_, kEpochs, parallel_);
  for (u64 pass = 1; pass <= 2; ++pass) {
    for (u32 label = 1; label <= kEpochs; ++label) {
      expect_right(reader.at(label), label);
      expect_right(reader.at(label), label);
      EXPECT_LT(last_ - label, 6u) << "two a thread, and no more";
      if (label == kEpochs) last_ = 0;
    }
    EXPECT_EQ(loads_, pass * kEpochs);
  }
}

TEST_F(PayloadReaderTest, InAnyOrder) {
  PayloadReader reader(loader_, kEpochs, parallel_);
  for (const u32 label : {23u, 1u, 7u, 6u, 12u, 22u, 2u}) expect_right(reader.at(label), label);
}

TEST_F(PayloadReaderTest, WhatTheLoaderThrowsComesOutAndLaterOnesAreStillThere) {
  bad_ = 5;
  PayloadReader reader(loader_, kEpochs, parallel_);
  EXPECT_THROW(reader.at(1), JobError) << "it is read with those before it";
  EXPECT_THROW(reader.at(5), JobError);
  expect_right(reader.at(6), 6);
  bad_ = 0;
  expect_right(reader.at(5), 5);
}

}  // namespace
}  // namespace epochd
