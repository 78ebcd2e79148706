// A run goes on from any of its snapshots as if it had never stopped; damaged, foreign and absurd
// snapshots are refused with the reason.
#include "epoch/capsule/snapshot.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "epoch/continuation/run_memory.hpp"
#include "epoch/exec/replay.hpp"
#include "prover/hash/blake3.hpp"
#include "tests/epoch/continuation/small_programs.hpp"
#include "tests/epoch/exec/exec_support.hpp"

namespace epochd::test {
namespace {

using Code = SnapshotError::Code;
using Bytes = std::vector<u8>;

constexpr prover::Digest kOwner{{5, 6, 7, 8}};
constexpr u32 kEpochCycles = 64;
constexpr size_t kHeaderBytes = 480;
constexpr size_t kPageBytes = 12296;

/// Touches the image, the input, cells below and above it, and emits.
const Guest& guest() {
  static const Guest guest(testing::all_regions(30));
  return guest;
}
const Bytes& input() {
  static const Bytes bytes = bytes_of_words({5, 6});
  return bytes;
}

/// A run with what it keeps.
struct SteppedRun {
  explicit SteppedRun(const Guest& g = guest())
      : scout(std::move(Scout::create(g.code, input())).value()), replayer(g.code) {}

  Capsule step() {
    const ScoutEpoch epoch = scout.run_epoch(kEpochCycles).value();
    outputs.insert(outputs.end(), epoch.outputs.begin(), epoch.outputs.end());
    Capsule capsule = stitch.seal(epoch);
    EpochRecords records;
    EXPECT_FALSE(replayer.run(capsule, records));
    memory.absorb(capsule.label, records.boundary);
    return capsule;
  }
  Bytes snapshot() const {
    Bytes bytes;
    write_snapshot(kOwner, scout, stitch, outputs, [&](std::span<const u8> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    return bytes;
  }
  Result<Snapshot, SnapshotError> restore(std::span<const u8> bytes,
                                          const prover::Digest& owner = kOwner) {
    const auto source = [&](std::span<u8> to) {
      const size_t count = std::min(to.size(), bytes.size());
      std::memcpy(to.data(), bytes.data(), count);
      bytes = bytes.subspan(count);
      return count;
    };
    auto read = read_snapshot(owner, source, scout, [&](const SnapshotPage& page) {
      stitch.restore_labels(page.first_key, page.labels);
      memory.restore(page.first_key, page.labels, page.genesis, page.values);
    });
    if (read) {
      stitch.resume(read->label + 1);
      outputs = read->outputs;
    }
    return read;
  }

  Scout scout;
  Stitch stitch{prover::Digest{{1}}};
  Replayer replayer;
  RunMemory memory;
  std::vector<u64> outputs;
};

void expect_same_ends(const RunMemory& a, const RunMemory& b) {
  const auto left = a.finish({}), right = b.finish({});
  ASSERT_EQ(left.anchors.size(), right.anchors.size());
  for (size_t i = 0; i < left.anchors.size(); ++i) {
    EXPECT_EQ(std::memcmp(&left.anchors[i], &right.anchors[i], sizeof(AnchorRecord)), 0) << i;
  }
}

TEST(Snapshot, ARunGoesOnFromEachAsIfItHadNotStopped) {
  SteppedRun whole;
  std::vector<Bytes> snapshots;
  std::vector<Capsule> capsules;
  while (!whole.scout.halted()) {
    capsules.push_back(whole.step());
    if (!whole.scout.halted()) snapshots.push_back(whole.snapshot());
  }
  ASSERT_GT(snapshots.size(), 3u);
  for (size_t i = 0; i < snapshots.size(); ++i) {
    SteppedRun resumed;
    const auto read = resumed.restore(snapshots[i]);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->label, i + 1);
    EXPECT_EQ(read->cycles, (i + 1) * kEpochCycles);
    EXPECT_EQ(resumed.snapshot(), snapshots[i]) << "what was read is what was written";
    for (size_t next = i + 1; next < capsules.size(); ++next) {
      EXPECT_EQ(resumed.step(), capsules[next]) << next;
    }
    EXPECT_TRUE(resumed.scout.halted());
    EXPECT_EQ(resumed.outputs, whole.outputs);
    expect_same_ends(resumed.memory, whole.memory);
  }
}

/// The bytes of a run in the middle, with an output.
const Bytes& honest() {
  static const Bytes bytes = [] {
    SteppedRun run;
    while (run.outputs.empty()) run.step();
    EXPECT_FALSE(run.scout.halted());
    return run.snapshot();
  }();
  return bytes;
}

void expect_refused(std::span<const u8> bytes, Code code, const prover::Digest& owner = kOwner) {
  SteppedRun run;
  const auto read = run.restore(bytes, owner);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(static_cast<int>(read.error().code), static_cast<int>(code)) << read.error().message;
  EXPECT_EQ(read.error().message.find("the snapshot "), 0u);
}

template <class T>
void expect_refused_with(size_t offset, T value, Code code) {
  Bytes bytes = honest();
  put<T>(bytes, offset, value);
  const auto checksum = prover::blake3_hash(bytes.data(), bytes.size() - 32);
  std::memcpy(bytes.data() + bytes.size() - 32, &checksum, 32);
  expect_refused(bytes, code);
}

TEST(Snapshot, DamageIsNoticedWhereverItIs) {
  const Bytes& bytes = honest();
  EXPECT_EQ((bytes.size() - kHeaderBytes - 8 - 32) % kPageBytes, 0u);
  constexpr u64 kSeed = 20261201;
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 60; ++round) {
    Bytes bad = bytes;
    const u64 bit = round < 30 ? random() % (8 * kHeaderBytes) : random() % (8 * bad.size());
    bad[bit / 8] ^= static_cast<u8>(1u << (bit % 8));
    SteppedRun run;
    EXPECT_FALSE(run.restore(bad).has_value()) << "seed " << kSeed << " bit " << bit;
  }
  for (const size_t size : {size_t{0}, size_t{7}, kHeaderBytes - 1, kHeaderBytes, kHeaderBytes + 8,
                            kHeaderBytes + 8 + kPageBytes, bytes.size() - 32, bytes.size() - 1}) {
    expect_refused(std::span(bytes).first(size), Code::kTooShort);
  }
  Bytes longer = bytes;
  longer.push_back(0);
  expect_refused(longer, Code::kTooLong);
  Bytes flipped = bytes;
  flipped.back() ^= 1;
  expect_refused(flipped, Code::kChecksum);
  expect_refused(bytes, Code::kForeign, prover::Digest{{5, 6, 7, 9}});
}

TEST(Snapshot, HeadersThatCannotBe) {
  expect_refused_with<u8>(0, 'X', Code::kBadMagic);
  expect_refused_with<u32>(8, 2, Code::kBadVersion);
  expect_refused_with<u32>(12, 0, Code::kBadHeader);  // label
  expect_refused_with<u32>(12, ~0u, Code::kBadHeader);
  expect_refused_with<u64>(16, 1, Code::kBadHeader);  // cycles
  expect_refused_with<u64>(16, ~u64{0}, Code::kBadHeader);
  expect_refused_with<u64>(24, u64{1} << 60, Code::kBadHeader);  // outputs
  expect_refused_with<u32>(32, 0x10002, Code::kBadHeader);       // pc
  expect_refused_with<u32>(36, ~0u, Code::kBadHeader);           // pages
  expect_refused_with<u32>(36, 1000, Code::kTooShort);
  expect_refused_with<u64>(40, 1, Code::kForeign);
  expect_refused_with<u64>(72, 1, Code::kBadHeader);              // x0
  expect_refused_with<u32>(72 + 272 + 4, ~0u, Code::kBadHeader);  // label of x1
}

TEST(Snapshot, PagesThatCannotBe) {
  const size_t page = kHeaderBytes + 8;  // one output
  u32 label = 0;
  std::memcpy(&label, honest().data() + 12, sizeof label);
  expect_refused_with<u32>(page, 1u << 19, Code::kBadPage);
  expect_refused_with<u32>(page + kPageBytes, 0, Code::kBadPage);  // not ascending
  expect_refused_with<u32>(page + 4, 1, Code::kBadPage);
  expect_refused_with<u32>(page + 8, label + 1, Code::kBadPage);
  // The last cell of the first page was never touched.
  expect_refused_with<u64>(page + kPageBytes - 8, 1, Code::kBadPage);
  expect_refused_with<u32>(page, 0, Code::kBadPage);  // cells below the lowest address
}

// What the outputs claim to take is not allocated before it is there.
TEST(Snapshot, ClaimsAreNotBelieved) {
  Bytes bytes = honest();
  const u64 claimed = u64{1} << 40;
  put<u64>(bytes, 24, claimed);
  put<u64>(bytes, 72 + 32 * 8, claimed);
  expect_refused(bytes, Code::kTooShort);
}

u64 resident_bytes() {
  std::ifstream file("/proc/self/statm");
  u64 total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

// 64 MiB of guest memory, every page of the host's: writing takes a page.
TEST(Snapshot, MemoryIsFlat) {
  constexpr u32 kPages = 8192, kHostPages = 2 * kPages;
  std::vector<u32> code;
  testing::load_immediate(code, kT0, testing::kHighBase);
  testing::load_immediate(code, kT1, kHostPages);
  testing::load_immediate(code, kT2, 4096);
  code.push_back(sd(kT1, kT0, 0));
  code.push_back(add(kT0, kT0, kT2));
  code.push_back(addi(kT1, kT1, -1));
  code.push_back(bne(kT1, 0, -12));
  testing::exit_with(code, 0);
  const Guest wide(testing::data_elf(code));
  SteppedRun run(wide);
  const ScoutEpoch epoch = run.scout.run_epoch(4 * kHostPages).value();
  run.stitch.seal(epoch);
  const u64 before = resident_bytes();
  u64 bytes = 0, most = 0;
  write_snapshot(kOwner, run.scout, run.stitch, {}, [&](std::span<const u8> piece) {
    bytes += piece.size();
    if (piece.size() > 1000) most = std::max(most, piece.size());
  });
  EXPECT_GT(bytes, u64{kPages} * kPageBytes);
  EXPECT_EQ(most, kPageBytes);
  EXPECT_LT(resident_bytes(), before + (u64{8} << 20));
}

}  // namespace
}  // namespace epochd::test
