#include "daemon/pipeline/sealed_file.hpp"

#include <cstddef>
#include <cstring>

#include "prover/hash/wide_blake3.hpp"

namespace epochd {
namespace {

struct Header {
  char kind[8];
  u64 label;
  u64 payload_bytes;
  u8 key[32];
  u8 checksum[32];  ///< of everything above and of the payload
};
static_assert(sizeof(Header) == kSealHeaderBytes);

constexpr char kKinds[][sizeof(Header::kind) + 1] = {"epochdE1", "epochdF1", "epochdC1"};

const char* name_of(SealKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

}  // namespace

std::array<u8, kSealHeaderBytes> seal_header(SealKind kind, u64 label, const JobKey& key,
                                             std::span<const u8> payload) {
  Header header{};
  std::memcpy(header.kind, name_of(kind), sizeof(header.kind));
  header.label = label;
  header.payload_bytes = payload.size();
  std::memcpy(header.key, key.data(), key.size());
  prover::WideBlake3 hasher(best_isa());
  hasher.update(&header, offsetof(Header, checksum));
  hasher.update(payload.data(), payload.size());
  const prover::Digest checksum = hasher.digest();
  std::memcpy(header.checksum, &checksum, sizeof(header.checksum));
  std::array<u8, kSealHeaderBytes> bytes;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

Result<SealedFile, const char*> open_sealed(SealKind kind, std::span<const u8> file) {
  if (file.size() < sizeof(Header)) return Unexpected<const char*>{"too short"};
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.kind, name_of(kind), sizeof(header.kind)) != 0) {
    return Unexpected<const char*>{"of another kind or version"};
  }
  SealedFile sealed{header.label, {}, file.subspan(sizeof(header))};
  std::memcpy(sealed.key.data(), header.key, sizeof(header.key));
  if (header.payload_bytes != sealed.payload.size()) {
    return Unexpected<const char*>{"cut short or too long"};
  }
  const auto expected = seal_header(kind, sealed.label, sealed.key, sealed.payload);
  if (std::memcmp(file.data(), expected.data(), expected.size()) != 0) {
    return Unexpected<const char*>{"damaged"};
  }
  return sealed;
}

}  // namespace epochd
