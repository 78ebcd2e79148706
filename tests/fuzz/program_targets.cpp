// The targets around a program: its ELF, its verifying key, its capsules and kept epochs.
#include <algorithm>
#include <cstring>

#include "daemon/pipeline/epoch_payload.hpp"
#include "epoch/continuation/setup.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"
#include "prover/core/assert.hpp"
#include "prover/hash/blake3.hpp"
#include "tests/epoch/continuation/small_programs.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/targets.hpp"

namespace epochd::fuzz {
namespace {

constexpr size_t kMessageBytes = 4096;  // an error's text, and what a string may round up to
constexpr u32 kCyclesMax = 256;

void check_key(std::span<const u64> words) {
  const MemoryMeter meter;
  const auto key = decode_verifying_key(words);
  EPOCHD_ASSERT(meter.peak_bytes() <= kMessageBytes);
  if (!key) {
    EPOCHD_ASSERT(!key.error().message.empty());
    return;
  }
  EPOCHD_ASSERT(std::ranges::equal(encode_verifying_key(*key), words));
}

void check_segments(const ElfImage& elf) {
  u64 end = kAddressMin;
  bool entered = false;
  for (const ElfSegment& s : elf.segments) {
    EPOCHD_ASSERT(s.memory_bytes > 0 && s.bytes.size() <= s.memory_bytes && s.address >= end);
    end = u64{s.address} + s.memory_bytes;
    entered |= s.executable && elf.entry >= s.address && elf.entry + 4 <= end;
  }
  EPOCHD_ASSERT(end <= kImageEnd && entered && elf.entry % 4 == 0);
  for (const u64 address : {u64{0}, u64{elf.entry}, end, ~u64{0}}) {
    const auto symbol = elf.nearest_symbol(address);
    EPOCHD_ASSERT(!symbol || !symbol->empty());
  }
}

void check_execution(const Code& code) {
  auto scout = Scout::create(code, {});
  EPOCHD_ASSERT(scout);
  for (u32 cycles = 0; cycles < kCyclesMax && !scout->halted();) {
    const auto epoch = scout->run_epoch(kCyclesMax - cycles);
    if (!epoch) {
      EPOCHD_ASSERT(!epoch.error().message().empty());
      return;
    }
    EPOCHD_ASSERT(scout->state().registers[0] == 0);
    cycles += epoch->cycles;
  }
}

/// The program that capsules are replayed with: it touches every region and calls the system.
const Code& capsule_code() {
  static const Program program(*parse_elf(testing::all_regions(3)));
  static const Code code(program);
  return code;
}

void check_capsule(Input input) {
  const MemoryMeter meter;
  const auto capsule = decode_capsule(input);
  EPOCHD_ASSERT(meter.peak_bytes() <= input.size() + kMessageBytes);
  if (!capsule) {
    EPOCHD_ASSERT(!capsule.error().message.empty());
    return;
  }
  EPOCHD_ASSERT(std::ranges::equal(encode_capsule(*capsule), input));
  if (capsule->cycles > kCyclesMax) return;
  static Replayer replayer(capsule_code());
  static EpochRecords records;
  const auto error = replayer.run(*capsule, records);
  EPOCHD_ASSERT(!error || !error->message.empty());
}

template <class Check>
void with_checksum(const Bytes& covered, const Check& check) {
  const prover::Digest sum = prover::blake3_hash(covered.data(), covered.size());
  Bytes sealed = covered;
  sealed.resize(covered.size() + sizeof sum);
  std::memcpy(sealed.data() + covered.size(), &sum, sizeof sum);
  check(sealed);
}

}  // namespace

void fuzz_key(Input input) {
  constexpr size_t kCoveredWords = 13;
  check_key(words_of(input));
  const Bytes covered(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                         input.size(), kCoveredWords * 8)));
  with_checksum(covered, [](const Bytes& sealed) { check_key(words_of(sealed)); });
}

void fuzz_elf(Input input) {
  const MemoryMeter meter;
  auto elf = parse_elf(input);
  EPOCHD_ASSERT(meter.peak_bytes() <= 8 * input.size() + kMessageBytes);
  if (!elf) {
    EPOCHD_ASSERT(!elf.error().message.empty());
    return;
  }
  check_segments(*elf);
  const Program program(*std::move(elf));
  u64 next = 0;
  for (const ProgramRow& row : program.rows()) {
    EPOCHD_ASSERT(row.pc >= next && row.pc % 4 == 0);
    next = u64{row.pc} + 4;
  }
  check_execution(Code(program));
}

void fuzz_capsule(Input input) {
  check_capsule(input);
  if (input.size() < sizeof(prover::Digest)) return;
  with_checksum(Bytes(input.begin(), input.end() - sizeof(prover::Digest)), check_capsule);
}

void fuzz_payload(Input input) {
  const MemoryMeter meter;
  const auto payload = decode_payload(input);
  EPOCHD_ASSERT(meter.peak_bytes() <= 2 * input.size() + kMessageBytes);
  if (!payload) return;
  EPOCHD_ASSERT(std::ranges::equal(encode_payload(payload->proof, payload->boundary), input));
}

}  // namespace epochd::fuzz
