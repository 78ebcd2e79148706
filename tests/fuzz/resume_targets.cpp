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
constexpr size_t kPageBytes = 16384;
constexpr u32 kCyclesMax = 256;

/// The program whose snapshots are read, in its first state.
Scout fresh_scout() {
  static const Program program(*parse_elf(testing::all_regions(3)));
  static const Code code(program);
  const std::array<u8, 8> input{5};
  return std::move(Scout::create(code, input)).value();
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
  const auto read = read_snapshot({}, source_of(left), scout, [&](const SnapshotPage& page) {
    stitch.restore_labels(page.first_key, page.labels);
  });
  EPOCHD_ASSERT(read);
  stitch.resume(read->label + 1);
  Bytes again;
  write_snapshot({}, scout, stitch, read->outputs, [&](std::span<const u8> piece) {
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
  const std::function<void(const SnapshotPage&)> ignore = [](const SnapshotPage&) {};
  bool is_accepted = false;
  {
    const MemoryMeter meter;
    const auto read = read_snapshot({}, source, scout, ignore);
    EPOCHD_ASSERT(meter.peak_bytes() <= 2 * input.size() + kPageBytes + kMessageBytes);
    EPOCHD_ASSERT(read || !read.error().message.empty());
    is_accepted = read.has_value();
  }
  if (is_accepted) check_accepted(input);
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
  const size_t covered = sealed.size() - sizeof(prover::Digest);
  const prover::Digest sum = prover::blake3_hash(sealed.data(), covered);
  std::memcpy(sealed.data() + covered, &sum, sizeof sum);
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
