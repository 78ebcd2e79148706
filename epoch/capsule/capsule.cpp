#include "epoch/capsule/capsule.hpp"

#include <bit>
#include <cstring>
#include <optional>

#include "prover/hash/blake3.hpp"

namespace epochd {
namespace {

using Code = CapsuleError::Code;

constexpr u8 kMagic[8] = {'E', 'P', 'C', 'A', 'P', 'S', 'U', 'L'};
constexpr u32 kVersion = 1;
constexpr size_t kChecksumBytes = sizeof(prover::Digest);

// The first bytes of a capsule, as they lie in the file.
struct Header {
  u8 magic[8];
  u32 version, label, pc, cycles, out_in, is_final, key_count, zero;
  u64 first_cycle;
  prover::Digest program;
};
static_assert(sizeof(Header) == 80 && std::endian::native == std::endian::little);

constexpr u32 kOutputCounter = kOutputCounterKey;
constexpr u32 kFirstCell = static_cast<u32>(kAddressMin / 8);

bool is_key(u32 key) {
  return (key >= kFirstCell && key < kCellCount) || (key >= kRegBase && key <= kSinkKey);
}

std::optional<CapsuleError> check_header(const Header& h) {
  const auto bad = [](const char* what) {
    return CapsuleError{Code::kBadHeader, std::string("the capsule's header is wrong: ") + what};
  };
  if (h.label == 0 || h.label > kEpochCountMax) return bad("label outside 1 .. 2^31 - 1");
  if (h.pc % 2 != 0) return bad("odd pc");
  if (h.cycles == 0 || h.cycles > 1u << kEpochSizeLog2Max) return bad("cycles outside 1 .. 2^26");
  if (h.is_final > 1) return bad("is_final is neither 0 nor 1");
  if (h.zero != 0) return bad("reserved field is not 0");
  return std::nullopt;
}

std::optional<CapsuleError> check_keys(const Capsule& capsule) {
  const auto error = [](Code code, u32 key, const char* text) {
    return CapsuleError{code, "key " + std::to_string(key) + " " + text};
  };
  for (size_t i = 0; i < capsule.keys.size(); ++i) {
    const CapsuleKey& k = capsule.keys[i];
    if (!is_key(k.key)) return error(Code::kBadKey, k.key, "does not exist in the machine");
    if (i > 0 && capsule.keys[i - 1].key >= k.key) {
      return error(Code::kKeyOrder, k.key, "stands after an equal or larger one");
    }
    if (k.init_epoch >= capsule.label) {
      return error(Code::kBadLabel, k.key, "was last touched by an epoch that is not earlier");
    }
    if (k.key == kRegBase && k.value != 0) return error(Code::kBadValue, k.key, "(x0) is not 0");
    if (k.key == kOutputCounter && k.value != capsule.out_in) {
      return error(Code::kBadValue, k.key, "(the output counter) is not out_in");
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<u8> encode_capsule(const Capsule& capsule) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.label = capsule.label;
  header.pc = capsule.pc;
  header.cycles = capsule.cycles;
  header.out_in = capsule.out_in;
  header.is_final = capsule.is_final ? 1 : 0;
  header.key_count = static_cast<u32>(capsule.keys.size());
  header.first_cycle = capsule.first_cycle;
  header.program = capsule.program;

  const size_t keys_bytes = capsule.keys.size() * sizeof(CapsuleKey);
  std::vector<u8> bytes(sizeof header + keys_bytes + kChecksumBytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (keys_bytes > 0) std::memcpy(bytes.data() + sizeof header, capsule.keys.data(), keys_bytes);
  const size_t covered = sizeof header + keys_bytes;
  const prover::Digest checksum = prover::blake3_hash(bytes.data(), covered);
  std::memcpy(bytes.data() + covered, &checksum, kChecksumBytes);
  return bytes;
}

Result<Capsule, CapsuleError> decode_capsule(std::span<const u8> bytes) {
  const auto fail = [](Code code, std::string text) {
    return Unexpected{CapsuleError{code, std::move(text)}};
  };
  Header header;
  if (bytes.size() < sizeof header + kChecksumBytes) {
    return fail(Code::kTooShort, "the capsule has " + std::to_string(bytes.size()) +
                                     " bytes, too few for its header; was it truncated?");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return fail(Code::kBadMagic, "not a capsule file");
  }
  if (header.version != kVersion) {
    return fail(Code::kBadVersion, "capsule version " + std::to_string(header.version) +
                                       ", this program reads version " + std::to_string(kVersion));
  }
  const size_t covered = bytes.size() - kChecksumBytes;
  const size_t keys_bytes = covered - sizeof header;
  if (keys_bytes != size_t{header.key_count} * sizeof(CapsuleKey)) {
    return fail(Code::kBadLength, std::to_string(header.key_count) + " keys do not make " +
                                      std::to_string(bytes.size()) + " bytes; was it truncated?");
  }
  const prover::Digest checksum = prover::blake3_hash(bytes.data(), covered);
  if (std::memcmp(&checksum, bytes.data() + covered, kChecksumBytes) != 0) {
    return fail(Code::kChecksum, "the capsule's checksum does not match; copy or seal it again");
  }
  if (auto error = check_header(header)) return Unexpected{*std::move(error)};

  Capsule capsule{header.program,     header.label,         header.pc, header.cycles, header.out_in,
                  header.first_cycle, header.is_final != 0, {}};
  capsule.keys.resize(header.key_count);
  if (keys_bytes > 0) std::memcpy(capsule.keys.data(), bytes.data() + sizeof header, keys_bytes);
  if (auto error = check_keys(capsule)) return Unexpected{*std::move(error)};
  return capsule;
}

}  // namespace epochd
