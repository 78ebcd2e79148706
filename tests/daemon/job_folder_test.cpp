// Epochs proved apart: what the engine takes for one, and what it refuses.
#include "daemon/pipeline/job_folder.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/exec/scout.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

class JobFolderTest : public ::testing::Test {
 protected:
  JobFolderTest() {
    request_.elf = fs_.read_file(EPOCHD_GUEST_DIR "/fib.elf", 1 << 20);
    request_.elf_name = "fib.elf";
    const u64 n = 40;
    request_.input.resize(sizeof(n));
    std::memcpy(request_.input.data(), &n, sizeof(n));
    request_.protocol = {7, true, SecurityPreset::kTest};
    request_.threads = 1;
  }

  Path folder() const { return directory_.path() / "job"; }
  Path capsule_path(u64 label) const {
    return folder() / kCapsulesName / label_file_name(label, kCapsuleSuffix);
  }
  Path epoch_path(u64 label) const {
    return folder() / "epochs" / label_file_name(label, kEpochSuffix);
  }
  CapsuleFile capsule(u64 label) {
    return decode_capsule_file(fs_.read_file(capsule_path(label), 1 << 24)).value();
  }

  /// Seals the run.
  RunFacts seal(const prover::Digest& program) {
    const Guest guest(request_.elf, "fib");
    const RunParams params{&preset_of(request_.protocol.security),
                           request_.protocol.epoch_size_log2};
    CapsuleWriter writer(fs_, folder(), request_, params, program);
    const GuestRun run(guest, request_.input, 1'000'000, {});
    const RunFacts facts = run.to_exit(params, [&](const ScoutEpoch& epoch) { writer.add(epoch); });
    writer.finish(facts);
    EXPECT_GT(writer.bytes(), request_.elf.size() * facts.epochs);
    return facts;
  }

  TemporaryDirectory directory_;
  FileSystem fs_;
  ProofRequest request_;
};

TEST_F(JobFolderTest, AForgedEpochIsFoundAndNamed) {
  const auto engine = make_epoch_engine(request_);
  const RunFacts facts = seal(engine->program());
  ASSERT_GE(facts.epochs, 2u);
  std::map<u64, Bytes> payloads;
  for (u64 label = 1; label <= facts.epochs; ++label) {
    const CapsuleFile file = capsule(label);
    EXPECT_EQ(file.elf, request_.elf);
    EXPECT_EQ(file.capsule.program, engine->program());
    const auto prover = make_epoch_engine(request_);
    payloads[label] = prover->prove_capsule(file.capsule, [] {});
    write_epoch_file(fs_, epoch_path(label), label, file.key, payloads[label]);
  }
  GatheredEpochs gathered(fs_, folder());
  EXPECT_EQ(gathered.facts().run.cycles, facts.cycles);
  EXPECT_EQ(gathered.facts().run.outputs, facts.outputs);
  EXPECT_EQ(gathered.elf(), request_.elf);
  for (const auto& [label, payload] : payloads) EXPECT_EQ(gathered.load(label), payload);

  const auto first_bad = [&](u64 label, const Bytes& bytes) {
    const auto taker = make_epoch_engine(request_);
    const auto load = [&](u64 l) { return l == label ? bytes : payloads.at(l); };
    return taker->adopt(facts, load, [] {});
  };
  EXPECT_EQ(first_bad(1, payloads[1]), std::nullopt);
  EXPECT_EQ(first_bad(2, payloads[1]), 2u) << "another epoch";
  EXPECT_EQ(first_bad(2, {}), 2u) << "nothing";
  EpochPayload forged = *decode_payload(payloads[2]);
  forged.proof.record[forged.proof.record.size() / 2] ^= 1;
  EXPECT_EQ(first_bad(2, encode_payload(forged.proof, forged.boundary)), 2u);
  // A boundary that cannot be one is not followed into memory.
  forged = *decode_payload(payloads[2]);
  forged.boundary.back().key = ~0u;
  EXPECT_EQ(first_bad(2, encode_payload(forged.proof, forged.boundary)), 2u);
  forged = *decode_payload(payloads[2]);
  std::swap(forged.boundary.front(), forged.boundary.back());
  EXPECT_EQ(first_bad(2, encode_payload(forged.proof, forged.boundary)), 2u);
}

TEST_F(JobFolderTest, ACapsuleThatIsNoEpochOfItsProgramIsRefused) {
  const auto engine = make_epoch_engine(request_);
  seal(engine->program());
  Capsule capsule = this->capsule(1).capsule;
  capsule.keys.pop_back();
  try {
    engine->prove_capsule(capsule, [] {});
    FAIL();
  } catch (const JobError& error) {
    EXPECT_EQ(error.reason(), Reason::kInput);
    EXPECT_EQ(std::string(error.what()).find("the capsule is no epoch of its program"), 0u);
  }
}

TEST_F(JobFolderTest, APackageIsReadBackOrRefused) {
  seal(prover::Digest{{1, 2, 3, 4}});
  const Bytes bytes = fs_.read_file(capsule_path(1), 1 << 24);
  const CapsuleFile file = decode_capsule_file(bytes).value();
  EXPECT_EQ(encode_capsule_file(file.key, file.params, file.elf, file.capsule), bytes);
  EXPECT_EQ(protocol_of(file.params), request_.protocol);
  const auto expect_refused = [&](size_t offset, u64 word, const std::string& why) {
    Bytes changed(bytes.begin() + kSealHeaderBytes, bytes.end());
    std::memcpy(changed.data() + offset, &word, sizeof(word));
    const auto header = seal_header(SealKind::kCapsule, 1, file.key, changed);
    Bytes file_bytes(header.begin(), header.end());
    file_bytes.insert(file_bytes.end(), changed.begin(), changed.end());
    const auto read = decode_capsule_file(file_bytes);
    ASSERT_FALSE(read.has_value()) << why;
    EXPECT_NE(read.error().find(why), std::string::npos) << read.error();
  };
  expect_refused(0, 99, "preset 99, which this program does not know");
  expect_refused(8, 4, "epochs of 2^4 cycles");
  expect_refused(8, 5, "its epoch is too long");
  expect_refused(16, ~u64{0}, "its program is cut short");
  expect_refused(16, file.elf.size() - 8, "not a capsule file");
  Bytes renamed = bytes;
  const auto header =
      seal_header(SealKind::kCapsule, 2, file.key, std::span(bytes).subspan(kSealHeaderBytes));
  std::ranges::copy(header, renamed.begin());
  EXPECT_EQ(decode_capsule_file(renamed).error(), "it holds another epoch than it says");
  renamed.resize(50);
  EXPECT_EQ(decode_capsule_file(renamed).error(), "the file is too short");
}

}  // namespace
}  // namespace epochd
