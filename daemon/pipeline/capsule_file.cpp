#include "daemon/pipeline/capsule_file.hpp"

#include <algorithm>
#include <cstring>

#include "prover/security/presets.hpp"

namespace epochd {
namespace {

struct Header {
  u64 preset;
  u64 epoch_size_log2;
  u64 elf_bytes;
};

Unexpected<std::string> fail(std::string why) {
  return Unexpected<std::string>{std::move(why)};
}

}  // namespace

Bytes encode_capsule_file(const JobKey& key, const RunParams& params, std::span<const u8> elf,
                          const Capsule& capsule) {
  const Header header{params.preset->id, params.epoch_size_log2, elf.size()};
  const std::vector<u8> sealed = encode_capsule(capsule);
  Bytes file(kSealHeaderBytes + sizeof(header) + elf.size() + sealed.size());
  u8* at = file.data() + kSealHeaderBytes;
  std::memcpy(at, &header, sizeof(header));
  at = std::ranges::copy(elf, at + sizeof(header)).out;
  std::ranges::copy(sealed, at);
  const auto payload = std::span<const u8>(file).subspan(kSealHeaderBytes);
  std::ranges::copy(seal_header(SealKind::kCapsule, capsule.label, key, payload), file.begin());
  return file;
}

Result<CapsuleFile, std::string> decode_capsule_file(std::span<const u8> file) {
  const auto sealed = open_sealed(SealKind::kCapsule, file);
  if (!sealed) return fail(std::string("the file is ") + sealed.error());
  std::span<const u8> payload = sealed->payload;
  Header header;
  if (payload.size() < sizeof(header)) return fail("it has no parameters");
  std::memcpy(&header, payload.data(), sizeof(header));
  payload = payload.subspan(sizeof(header));
  const prover::Preset* const preset = find_preset(header.preset);
  if (preset == nullptr) {
    return fail("preset " + std::to_string(header.preset) + ", which this program does not know");
  }
  if (header.epoch_size_log2 < kEpochSizeLog2Min || header.epoch_size_log2 > kEpochSizeLog2Max) {
    return fail("epochs of 2^" + std::to_string(header.epoch_size_log2) + " cycles");
  }
  if (header.elf_bytes > payload.size()) return fail("its program is cut short");
  auto capsule = decode_capsule(payload.subspan(header.elf_bytes));
  if (!capsule) return fail(capsule.error().message);
  if (capsule->label != sealed->label) return fail("it holds another epoch than it says");
  if (capsule->cycles > u64{1} << header.epoch_size_log2) return fail("its epoch is too long");
  const auto elf = payload.first(header.elf_bytes);
  return CapsuleFile{sealed->key,
                     {preset, static_cast<u32>(header.epoch_size_log2)},
                     {elf.begin(), elf.end()},
                     *std::move(capsule)};
}

ProtocolSettings protocol_of(const RunParams& params) {
  ProtocolSettings protocol;
  protocol.epoch_size_log2 = params.epoch_size_log2;
  const auto name = std::ranges::find(kSecurityPresetNames, params.preset->name);
  EPOCHD_ASSERT(name != kSecurityPresetNames.end());  // a test compares the two lists
  protocol.security = static_cast<SecurityPreset>(name - kSecurityPresetNames.begin());
  return protocol;
}

const prover::Preset* find_preset(u64 id) {
  const auto preset =
      std::ranges::find(prover::kPresets, id, [](const auto& p) { return u64{p.id}; });
  return preset == std::end(prover::kPresets) ? nullptr : &*preset;
}

}  // namespace epochd
