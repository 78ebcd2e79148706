#include "prover/hash/wide_blake3.hpp"

#include <algorithm>
#include <bit>

#include "prover/hash/rows_impl.hpp"

namespace epochd::prover {
namespace {

using blake3::kChunkBytes;

/// Of a subtree that is hashed at once: enough for the lower levels of the tree to fill vectors.
constexpr u32 kSubtreeChunksMax = 256;
/// The wide kernels count chunks in 32 bits: 4 TiB.
constexpr u64 kWideChunksMax = u64{1} << 32;

}  // namespace

WideBlake3& WideBlake3::update(const void* data, size_t bytes) {
  const u8* in = static_cast<const u8*>(data);
  while (bytes > 0) {
    if (hasher_.chunk_bytes() == kChunkBytes) hasher_.close_chunk();
    const u64 before = hasher_.chunks_done_;
    // The last byte stays behind, for the chunk that has to be open.
    const u64 whole = std::min<u64>((bytes - 1) / kChunkBytes, kSubtreeChunksMax);
    if (hasher_.chunk_bytes() > 0 || whole < 2 || before + whole > kWideChunksMax) {
      const size_t piece = std::min(bytes, kChunkBytes - hasher_.chunk_bytes());
      hasher_.update(in, piece);
      in += piece;
      bytes -= piece;
      continue;
    }
    u64 chunks = std::bit_floor(whole);
    if (before > 0) chunks = std::min(chunks, u64{1} << std::countr_zero(before));
    update_subtree(in, static_cast<u32>(chunks));
    in += chunks * kChunkBytes;
    bytes -= chunks * kChunkBytes;
  }
  return *this;
}

void WideBlake3::update_subtree(const u8* data, u32 chunks) {
  const rows::Kernels& wide = rows::kernels_of(isa_);
  const rows::Kernels& scalar = rows::scalar_kernels();
  const Blake3Key& key = hasher_.key_;
  const u32 flags = hasher_.flags_, first = static_cast<u32>(hasher_.chunks_done_);
  Digest cvs[kSubtreeChunksMax];
  const size_t done = wide.hash_chunk_groups(key, flags, data, first, chunks, cvs);
  scalar.hash_chunk_groups(key, flags, data + done * kChunkBytes, first + static_cast<u32>(done),
                           chunks - done, cvs + done);
  const u32 parent = flags | blake3::kParent;
  for (u32 pairs = chunks / 2; pairs > 0; pairs /= 2) {  // in place: what is read is ahead
    const size_t merged = wide.hash_pair_groups(key, parent, cvs, cvs + 1, 2, pairs, cvs);
    scalar.hash_pair_groups(key, parent, cvs + 2 * merged, cvs + 2 * merged + 1, 2, pairs - merged,
                            cvs + merged);
  }
  hasher_.push_subtree(std::bit_cast<Blake3Key>(cvs[0]), chunks);
}

Digest wide_blake3_hash(Isa isa, const void* data, size_t bytes) {
  return WideBlake3(isa).update(data, bytes).digest();
}

}  // namespace epochd::prover
