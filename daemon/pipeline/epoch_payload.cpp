#include "daemon/pipeline/epoch_payload.hpp"

#include <cstring>

namespace epochd {
namespace {

struct Header {
  u64 record_words;
  u64 boundary_rows;
  u64 boundary_log_height;
  prover::Digest boundary_root;
};
static_assert(sizeof(Header) == 56);

/// An empty vector has no address to copy from or to.
void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

Bytes encode_payload(const EpochProof& proof, std::span<const BoundaryRecord> boundary) {
  const Header header{proof.record.size(), boundary.size(), proof.boundary_log_height,
                      proof.boundary_root};
  const size_t record_bytes = proof.record.size() * sizeof(u64);
  Bytes bytes(sizeof(header) + record_bytes + boundary.size_bytes());
  std::memcpy(bytes.data(), &header, sizeof(header));
  copy_bytes(bytes.data() + sizeof(header), proof.record.data(), record_bytes);
  copy_bytes(bytes.data() + sizeof(header) + record_bytes, boundary.data(), boundary.size_bytes());
  return bytes;
}

std::optional<EpochPayload> decode_payload(std::span<const u8> bytes) {
  if (bytes.size() < sizeof(Header)) return std::nullopt;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes = bytes.subspan(sizeof(header));
  const u64 words_max = bytes.size() / sizeof(u64);
  const u64 rows_max = bytes.size() / sizeof(BoundaryRecord);
  if (header.record_words > words_max || header.boundary_rows > rows_max) return std::nullopt;
  if (header.boundary_log_height > prover::kLogHeightMax) return std::nullopt;
  const u64 record_bytes = header.record_words * sizeof(u64);
  const u64 boundary_bytes = header.boundary_rows * sizeof(BoundaryRecord);
  if (record_bytes + boundary_bytes != bytes.size()) return std::nullopt;

  EpochPayload payload;
  payload.proof.boundary_root = header.boundary_root;
  payload.proof.boundary_log_height = static_cast<u32>(header.boundary_log_height);
  payload.proof.record.resize(header.record_words);
  payload.boundary.resize(header.boundary_rows);
  copy_bytes(payload.proof.record.data(), bytes.data(), record_bytes);
  copy_bytes(payload.boundary.data(), bytes.data() + record_bytes, boundary_bytes);
  return payload;
}

}  // namespace epochd
