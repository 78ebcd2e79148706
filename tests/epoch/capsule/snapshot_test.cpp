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
constexpr size_t kPageBytes = 12 * kPageCells;
constexpr size_t kGroupPages = 16;

const Parallel& threads() {
  static const Parallel two(2);
  return two;
}
SnapshotReading reading(std::function<void()> check = [] {}) {
  return {threads(), best_isa(), std::move(check)};
}

/// Touches the image, the input, cells below and above it, and emits.
const Guest& guest() {
  static const Guest guest(testing::all_regions(30));
  return guest;
}
const Bytes& input() {
  static const Bytes bytes = bytes_of_words({5, 6});
  return bytes;
}

SnapshotSource source_of(std::span<const u8> bytes) {
  return [bytes](std::span<u8> to) mutable {
    const size_t count = std::min(to.size(), bytes.size());
    if (count > 0) std::memcpy(to.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    return count;
  };
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
    write_snapshot(best_isa(), kOwner, scout, stitch, outputs, [&](std::span<const u8> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    return bytes;
  }
  Result<Snapshot, SnapshotError> restore(std::span<const u8> bytes,
                                          const prover::Digest& owner = kOwner) {
    auto read = read_snapshot(reading(), owner, source_of(bytes), scout, visit());
    if (read) {
      stitch.resume(read->label + 1);
      outputs = read->outputs;
    }
    return read;
  }
  SnapshotVisit visit() {
    return {[this](const SnapshotCells& cells) {
              stitch.restore_labels(cells.first_key, cells.labels);
              memory.restore(cells.first_key, cells.labels, cells.genesis, cells.values);
            },
            [this](u32 first_key, u32 count) {
              stitch.expect_labels(first_key, count);
              memory.expect(first_key, count);
            }};
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

u64 word_at(const Bytes& bytes, size_t offset) {
  u64 word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

/// Where the groups of pages begin, by the header.
size_t groups_at(const Bytes& bytes) {
  const u64 outputs = word_at(bytes, 24), pages = word_at(bytes, 32) >> 32;
  return kHeaderBytes + 8 * outputs + 4 * pages;
}

/// Of everything before the groups, and of what each hashes to.
void put_checksum(Bytes& bytes, size_t groups) {
  prover::Blake3 hasher;
  hasher.update(bytes.data(), groups);
  const size_t end = bytes.size() - 32;
  for (size_t at = groups; at < end; at += kGroupPages * kPageBytes) {
    const size_t count = std::min(end - at, kGroupPages * kPageBytes);
    const prover::Digest digest = prover::blake3_hash(bytes.data() + at, count);
    hasher.update(&digest, sizeof digest);
  }
  const prover::Digest checksum = hasher.digest();
  std::memcpy(bytes.data() + end, &checksum, sizeof checksum);
}

template <class T>
void expect_refused_with(size_t offset, T value, Code code) {
  Bytes bytes = honest();
  put<T>(bytes, offset, value);
  put_checksum(bytes, groups_at(honest()));
  expect_refused(bytes, code);
}

TEST(Snapshot, TheLayoutIsAsDocumented) {
  const Bytes& bytes = honest();
  const size_t groups = groups_at(bytes);
  EXPECT_EQ((bytes.size() - groups - 32) % kPageBytes, 0u);
  EXPECT_EQ((bytes.size() - groups - 32) / kPageBytes, word_at(bytes, 32) >> 32);
  Bytes again = bytes;
  put_checksum(again, groups);
  EXPECT_EQ(again, bytes);
}

TEST(Snapshot, DamageIsNoticedWhereverItIs) {
  const Bytes& bytes = honest();
  const size_t groups = groups_at(bytes), end = bytes.size() - 32;
  // A bit of every byte before the pages and after them, and of bytes all over the pages.
  std::vector<size_t> places;
  for (size_t at = 0; at < groups; ++at) places.push_back(at);
  constexpr size_t kStride = 509;
  for (size_t at = groups; at < end; at += kStride) places.push_back(at);
  for (size_t at = end; at < bytes.size(); ++at) places.push_back(at);
  for (const size_t at : places) {
    Bytes bad = bytes;
    bad[at] ^= static_cast<u8>(1u << (at % 8));
    SteppedRun run;
    EXPECT_FALSE(run.restore(bad).has_value()) << "byte " << at;
  }
  for (const size_t size : {size_t{0}, size_t{7}, kHeaderBytes - 1, kHeaderBytes, kHeaderBytes + 8,
                            groups - 1, groups, groups + kPageBytes, end, bytes.size() - 1}) {
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
  expect_refused_with<u32>(8, 1, Code::kBadVersion);
  expect_refused_with<u32>(8, 3, Code::kBadVersion);
  expect_refused_with<u32>(12, 0, Code::kBadHeader);  // label
  expect_refused_with<u32>(12, ~0u, Code::kBadHeader);
  expect_refused_with<u64>(16, 1, Code::kBadHeader);  // cycles
  expect_refused_with<u64>(16, ~u64{0}, Code::kBadHeader);
  expect_refused_with<u64>(24, u64{1} << 60, Code::kBadHeader);  // outputs
  expect_refused_with<u32>(32, 0x10002, Code::kBadHeader);       // pc
  expect_refused_with<u32>(36, ~0u, Code::kBadHeader);           // pages
  expect_refused_with<u32>(36, 1000, Code::kBadPage);            // cells read as pages
  expect_refused_with<u64>(40, 1, Code::kForeign);
  expect_refused_with<u64>(72, 1, Code::kBadHeader);              // x0
  expect_refused_with<u32>(72 + 272 + 4, ~0u, Code::kBadHeader);  // label of x1
}

TEST(Snapshot, PagesThatCannotBe) {
  const size_t table = kHeaderBytes + 8, groups = groups_at(honest());  // one output
  const size_t pages = (groups - table) / 4;
  ASSERT_GE(pages, 2u);
  ASSERT_LE(pages, kGroupPages);
  u32 label = 0;
  std::memcpy(&label, honest().data() + 12, sizeof label);
  expect_refused_with<u32>(table + 4 * (pages - 1), 1u << 19, Code::kBadPage);
  expect_refused_with<u32>(table + 4, 0, Code::kBadPage);  // not ascending
  expect_refused_with<u32>(groups, label + 1, Code::kBadPage);
  // The last cell of the first page was never touched.
  const size_t values = groups + 4 * kPageCells * pages;
  expect_refused_with<u64>(values + 8 * (kPageCells - 1), 1, Code::kBadPage);
  expect_refused_with<u32>(table, 0, Code::kBadPage);  // cells below the lowest address
}

// What the outputs claim to take is not allocated before it is there.
TEST(Snapshot, ClaimsAreNotBelieved) {
  Bytes bytes = honest();
  const u64 claimed = u64{1} << 40;
  put<u64>(bytes, 24, claimed);
  put<u64>(bytes, 72 + 32 * 8, claimed);
  expect_refused(bytes, Code::kTooShort);
  bytes = honest();
  put<u32>(bytes, 36, kPageCount);
  expect_refused(bytes, Code::kTooShort);
}

const SnapshotVisit nobody{[](const SnapshotCells&) {}};

u64 resident_bytes() {
  std::ifstream file("/proc/self/statm");
  u64 total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

/// 32 MiB of guest memory, every page of the host's touched.
constexpr u32 kWidePages = 4096;
SteppedRun wide_run() {
  constexpr u32 kHostPages = 2 * kWidePages;
  static const Guest wide = [] {
    std::vector<u32> code;
    testing::load_immediate(code, kT0, testing::kHighBase);
    testing::load_immediate(code, kT1, kHostPages);
    testing::load_immediate(code, kT2, 4096);
    code.push_back(sd(kT1, kT0, 0));
    code.push_back(add(kT0, kT0, kT2));
    code.push_back(addi(kT1, kT1, -1));
    code.push_back(bne(kT1, 0, -12));
    testing::exit_with(code, 0);
    return Guest(testing::data_elf(code));
  }();
  return SteppedRun(wide);
}
/// Where it stands after an epoch, as bytes.
Bytes wide_snapshot() {
  SteppedRun run = wide_run();
  run.stitch.seal(run.scout.run_epoch(8 * kWidePages).value());
  return run.snapshot();
}

TEST(Snapshot, MemoryIsFlatWhenItIsWritten) {
  SteppedRun run = wide_run();
  run.stitch.seal(run.scout.run_epoch(8 * kWidePages).value());
  const u64 before = resident_bytes();
  u64 bytes = 0;
  size_t most = 0;
  write_snapshot(best_isa(), kOwner, run.scout, run.stitch, {}, [&](std::span<const u8> piece) {
    bytes += piece.size();
    most = std::max(most, piece.size());
  });
  EXPECT_GT(bytes, u64{kWidePages} * kPageBytes);
  EXPECT_EQ(most, kGroupPages * kPageBytes);
  EXPECT_LT(resident_bytes(), before + (u64{8} << 20));
}

// What is restored, and the buffers: nothing else grows with the snapshot.
TEST(Snapshot, MemoryIsFlatWhenItIsRead) {
  const Bytes bytes = wide_snapshot();
  SteppedRun run = wide_run();
  constexpr u64 kSlack = u64{8} << 20;
  const u64 buffers = snapshot_buffer_bytes(threads().threads());
  EXPECT_LE(buffers, u64{2} << 20);
  const u64 before = resident_bytes();
  u64 most = 0;
  const auto watch = reading([&] { most = std::max(most, resident_bytes()); });
  ASSERT_TRUE(visit_snapshot(watch, kOwner, source_of(bytes), run.scout, nobody));
  EXPECT_LE(most, before + buffers + kSlack);
  EXPECT_EQ(run.scout.cycles(), 0u) << "the scout stays where it was";
  EXPECT_EQ(run.scout.memory().load<u64>(testing::kHighBase), 0u);
  most = 0;
  ASSERT_TRUE(read_snapshot(watch, kOwner, source_of(bytes), run.scout, nobody));
  EXPECT_LE(most, before + buffers + kWidePages * kPageCells * sizeof(u64) + kSlack);
  EXPECT_GE(most, before + kWidePages * kPageCells * sizeof(u64) / 2) << "it was looked at";
}

TEST(Snapshot, EveryInstructionSetAndThreadCountReadsTheSame) {
  const Bytes bytes = wide_snapshot();
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!isa_supported(isa)) continue;
    for (const u32 count : {1u, 3u}) {
      const Parallel parallel(count);
      SteppedRun run = wide_run();
      const auto read =
          read_snapshot({parallel, isa}, kOwner, source_of(bytes), run.scout, run.visit());
      ASSERT_TRUE(read) << read.error().message;
      run.stitch.resume(read->label + 1);
      EXPECT_TRUE(run.snapshot() == bytes) << isa_name(isa) << " " << count;
    }
  }
}

struct Stopped : std::exception {};

// Between two looks there is a batch, on its way and one more: milliseconds.
TEST(Snapshot, IsAskedWhetherToStopAllTheWay) {
  const Bytes bytes = wide_snapshot();
  size_t read = 0, looked_at = 0, farthest = 0;
  u32 looks = 0, last = ~0u;
  const auto inner = source_of(bytes);
  const SnapshotSource source = [&](std::span<u8> to) {
    read += to.size();
    return inner(to);
  };
  const auto how = reading([&] {
    farthest = std::max(farthest, read - looked_at);
    looked_at = read;
    if (++looks > last) throw Stopped();
  });
  SteppedRun run = wide_run();
  ASSERT_TRUE(read_snapshot(how, kOwner, source, run.scout, nobody));
  EXPECT_LE(farthest, snapshot_buffer_bytes(threads().threads()));
  EXPECT_GE(looks, bytes.size() / snapshot_buffer_bytes(threads().threads()));

  const auto stopping = source_of(bytes);
  size_t until_stop = 0;
  const SnapshotSource counted = [&](std::span<u8> to) {
    until_stop += to.size();
    return stopping(to);
  };
  looks = 0;
  last = 3;
  SteppedRun stopped = wide_run();
  EXPECT_THROW(static_cast<void>(read_snapshot(how, kOwner, counted, stopped.scout, nobody)),
               Stopped);
  EXPECT_LT(until_stop, bytes.size() / 2);
}

}  // namespace
}  // namespace epochd::test
