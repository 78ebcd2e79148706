// BLAKE3 of any length: one-shot and incremental, hash, keyed and derive_key modes, extendable
// output. Freestanding and allocation-free: the verifier is compiled for rv64im with it. Invariant:
// the last chunk stays open until more input arrives, because only it can be the root's child.
#pragma once

#include "prover/hash/blake3_compress.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::prover {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are hashed where they lie");

Blake3Key blake3_key_from_bytes(const u8 bytes[32]);

class Blake3 {
  friend class WideBlake3;

 public:
  /// The plain hash.
  Blake3() : Blake3(blake3::kIv, 0) {}
  static Blake3 keyed(const Blake3Key& key) { return Blake3(key, blake3::kKeyedHash); }
  /// derive_key: what follows by update() is the key material.
  static Blake3 derive_key(const void* context, size_t context_bytes);

  Blake3& update(const void* data, size_t bytes);
  /// Bytes [offset, offset + bytes) of the extended output. The hasher can go on afterwards.
  void finalize(u64 offset, void* out, size_t bytes) const;
  /// The first 32 bytes of the output.
  Digest digest() const;

 private:
  /// A compression that is still to be done: as a chaining value or, if it is the root, as output.
  struct Node {
    Blake3Key cv;
    blake3::Block block;
    u64 counter;
    u32 block_bytes;
    u32 flags;
  };

  Blake3(const Blake3Key& key, u32 flags) : key_(key), flags_(flags), chunk_cv_(key) {}
  Node open_chunk() const;
  Node root() const;
  void compress_buffer();
  void close_chunk();
  /// Takes a complete subtree of 2^k chunks by its chaining value. Pre: none is open, and as many
  /// chunks as there are before it are a multiple of 2^k.
  void push_subtree(const Blake3Key& cv, u64 chunks);
  size_t chunk_bytes() const { return blocks_done_ * blake3::kBlockBytes + buffered_; }

  Blake3Key key_;
  u32 flags_;
  Blake3Key chunk_cv_;
  u64 chunks_done_ = 0;
  u32 blocks_done_ = 0;
  u32 buffered_ = 0;
  u32 stacked_ = 0;
  alignas(8) u8 buffer_[blake3::kBlockBytes] = {};
  /// Roots of the complete subtrees so far, largest first: one for each bit set in chunks_done_.
  Blake3Key stack_[54];
};

/// One-shot forms.
Digest blake3_hash(const void* data, size_t bytes);
Digest blake3_keyed(const Blake3Key& key, const void* data, size_t bytes);
/// Keyed hash of two digests (64 bytes): one compression.
Digest blake3_pair(const Blake3Key& key, const Digest& left, const Digest& right);

}  // namespace epochd::prover
