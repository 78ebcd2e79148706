// The targets of what a job leaves to go on from: snapshots, facts, and epochs for other machines.
#include <algorithm>
#include <cstring>

#include "daemon/pipeline/capsule_file.hpp"
#include "daemon/pipeline/run_facts.hpp"
#include "epoch/capsule/snapshot.hpp"
#include "prover/hash/blake3.hpp"
#include "tests/epoch/continuation/small_programs.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/targets.hpp"

namespace epochd::fuzz {
namespace {

constexpr size_t kMessageBytes = 4096;
constexpr size_t kHeaderBytes = 480;
constexpr u32 kCyclesMax = 256;

/// The program whose snapshots are read, in its first state.
Scout fresh_scout() {
  static const Program program(*parse_elf(testing::all_regions(3)));
  static const Code code(program);
  const std::array<u8, 8> input{5};
  return std::move(Scout::create(code, input)).value();
}

const SnapshotReading& reading() {
  static const Parallel one(1);
  static const SnapshotReading how{one, best_isa()};
  return how;
}

SnapshotSource source_of(Input& left) {
  return [&left](std::span<u8> to) {
    const size_t count = std::min(to.size(), left.size());
    if (count > 0) std::memcpy(to.data(), left.data(), count);
    left = left.subspan(count);
    return count;
  };
}

/// What was accepted is what would be written, and a run that can go on.
void check_accepted(Input input) {
  Scout scout = fresh_scout();
  Stitch stitch(prover::Digest{});
  Input left = input;
  const SnapshotVisit visit{
      [&](const SnapshotCells& cells) { stitch.restore_labels(cells.first_key, cells.labels); }};
  const auto read = read_snapshot(reading(), {}, source_of(left), scout, visit);
  EPOCHD_ASSERT(read);
  stitch.resume(read->label + 1);
  Bytes again;
  write_snapshot(best_isa(), {}, scout, stitch, read->outputs, [&](std::span<const u8> piece) {
    again.insert(again.end(), piece.begin(), piece.end());
  });
  EPOCHD_ASSERT(std::ranges::equal(again, input));
  if (const auto epoch = scout.run_epoch(kCyclesMax)) {
    const Capsule capsule = stitch.seal(*epoch);
    EPOCHD_ASSERT(decode_capsule(encode_capsule(capsule)));
  }
}

void check_snapshot(Input input) {
  Scout scout = fresh_scout();
  Input left = input;
  const SnapshotSource source = source_of(left);
  const SnapshotVisit ignore{[](const SnapshotCells&) {}};
  bool is_accepted = false;
  {
    const MemoryMeter meter;
    const auto read = read_snapshot(reading(), {}, source, scout, ignore);
    const u64 buffers = snapshot_buffer_bytes(reading().parallel.threads());
    EPOCHD_ASSERT(meter.peak_bytes() <= 2 * input.size() + buffers + kMessageBytes);
    EPOCHD_ASSERT(read || !read.error().message.empty());
    is_accepted = read.has_value();
  }
  if (is_accepted) check_accepted(input);
}

/// Makes the checksum right, where the header's counts are.
void put_checksum(Bytes& bytes) {
  constexpr u64 kGroupBytes = u64{16} * 12 * kPageCells;
  const u64 end = bytes.size() - sizeof(prover::Digest);
  u64 groups = end;
  if (end >= kHeaderBytes) {
    u64 outputs = 0;
    u32 pages = 0;
    std::memcpy(&outputs, bytes.data() + 24, sizeof outputs);
    std::memcpy(&pages, bytes.data() + 36, sizeof pages);
    groups = kHeaderBytes + 8 * std::min(outputs, end) + u64{4} * pages;
  }
  prover::Blake3 hasher;
  hasher.update(bytes.data(), std::min(groups, end));
  for (u64 at = groups; at < end; at += kGroupBytes) {
    const prover::Digest digest =
        prover::blake3_hash(bytes.data() + at, std::min(kGroupBytes, end - at));
    hasher.update(&digest, sizeof digest);
  }
  const prover::Digest sum = hasher.digest();
  std::memcpy(bytes.data() + end, &sum, sizeof sum);
}

void check_package(Input input) {
  const MemoryMeter meter;
  const auto file = decode_capsule_file(input);
  EPOCHD_ASSERT(meter.peak_bytes() <= 2 * input.size() + kMessageBytes);
  if (!file) {
    EPOCHD_ASSERT(!file.error().empty());
    return;
  }
  EPOCHD_ASSERT(std::ranges::equal(
      encode_capsule_file(file->key, file->params, file->elf, file->capsule), input));
  EPOCHD_ASSERT(find_preset(file->params.preset->id) == file->params.preset);
}

}  // namespace

void fuzz_snapshot(Input input) {
  check_snapshot(input);
  if (input.size() < sizeof(prover::Digest)) return;
  Bytes sealed(input.begin(), input.end());
  put_checksum(sealed);
  check_snapshot(sealed);
}

void fuzz_facts(Input input) {
  const MemoryMeter meter;
  const auto facts = decode_facts(input);
  EPOCHD_ASSERT(meter.peak_bytes() <= input.size() + kMessageBytes);
  if (facts) EPOCHD_ASSERT(std::ranges::equal(encode_facts(*facts), input));
}

void fuzz_package(Input input) {
  check_package(input);
  if (input.size() < kSealHeaderBytes) return;
  u64 label = 0;
  std::memcpy(&label, input.data() + 8, sizeof label);
  Bytes sealed(input.begin(), input.end());
  const auto header =
      seal_header(SealKind::kCapsule, label, JobKey{}, input.subspan(kSealHeaderBytes));
  std::ranges::copy(header, sealed.begin());
  check_package(sealed);
}

}  // namespace epochd::fuzz
