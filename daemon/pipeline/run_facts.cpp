#include "daemon/pipeline/run_facts.hpp"

#include <array>
#include <cstring>

#include "daemon/pipeline/capsule_file.hpp"
#include "prover/security/presets.hpp"

namespace epochd {
namespace {

enum Word : size_t { kPreset, kEpochSizeLog2, kCycles, kEpochs, kExitCode, kWordCount };

}  // namespace

Bytes encode_facts(const KeptFacts& facts) {
  std::vector<u64> words(kWordCount);
  words[kPreset] = facts.params.preset->id;
  words[kEpochSizeLog2] = facts.params.epoch_size_log2;
  words[kCycles] = facts.run.cycles;
  words[kEpochs] = facts.run.epochs;
  words[kExitCode] = facts.run.exit_code;
  words.insert(words.end(), facts.run.outputs.begin(), facts.run.outputs.end());
  Bytes bytes(words.size() * sizeof(u64));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::optional<KeptFacts> decode_facts(std::span<const u8> bytes) {
  if (bytes.size() < kWordCount * sizeof(u64) || bytes.size() % sizeof(u64) != 0) {
    return std::nullopt;
  }
  std::array<u64, kWordCount> words;
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  bytes = bytes.subspan(sizeof(words));
  const prover::Preset* const preset = find_preset(words[kPreset]);
  if (preset == nullptr) return std::nullopt;
  const u64 log2 = words[kEpochSizeLog2], epochs = words[kEpochs], cycles = words[kCycles];
  if (log2 < kEpochSizeLog2Min || log2 > kEpochSizeLog2Max) return std::nullopt;
  if (epochs == 0 || epochs > kEpochCountMax) return std::nullopt;
  if (cycles < epochs || cycles > epochs << log2) return std::nullopt;

  KeptFacts facts{{preset, static_cast<u32>(log2)}, {cycles, epochs, words[kExitCode], {}}};
  facts.run.outputs.resize(bytes.size() / sizeof(u64));
  if (!bytes.empty()) std::memcpy(facts.run.outputs.data(), bytes.data(), bytes.size());
  return facts;
}

}  // namespace epochd
