#include "prover/hash/blake3.hpp"

namespace epochd::prover {

using blake3::Block;
using blake3::chaining_value;
using blake3::compress;
using blake3::kBlockBytes;
using blake3::kChunkBytes;
using blake3::Output;

namespace {

Block load_block(const u8* bytes) {
  Block b;
  __builtin_memcpy(b.words, bytes, kBlockBytes);
  return b;
}

Digest digest_of(const Output& o) {
  Digest d;
  for (int i = 0; i < 4; ++i) {
    d.words[i] = o.words[2 * i] | static_cast<u64>(o.words[2 * i + 1]) << 32;
  }
  return d;
}

Blake3Key compress_parent(const Blake3Key& key, u32 flags, const Blake3Key& left,
                          const Blake3Key& right) {
  Block b;
  for (int i = 0; i < 8; ++i) {
    b.words[i] = left.words[i];
    b.words[i + 8] = right.words[i];
  }
  return chaining_value(compress(key, b, 0, kBlockBytes, flags | blake3::kParent));
}

}  // namespace

Blake3Key blake3_key_from_bytes(const u8 bytes[32]) {
  Blake3Key key;
  __builtin_memcpy(key.words, bytes, sizeof key.words);
  return key;
}

Blake3 Blake3::derive_key(const void* context, size_t context_bytes) {
  Blake3 h(blake3::kIv, blake3::kDeriveKeyContext);
  const Digest d = h.update(context, context_bytes).digest();
  Blake3Key key;
  __builtin_memcpy(key.words, d.words, sizeof key.words);
  return Blake3(key, blake3::kDeriveKeyMaterial);
}

void Blake3::compress_buffer() {
  const u32 start = blocks_done_ == 0 ? blake3::kChunkStart : 0u;
  chunk_cv_ = chaining_value(
      compress(chunk_cv_, load_block(buffer_), chunks_done_, kBlockBytes, flags_ | start));
  ++blocks_done_;
  buffered_ = 0;
}

void Blake3::close_chunk() {
  const Node n = open_chunk();
  push_subtree(chaining_value(compress(n.cv, n.block, n.counter, n.block_bytes, n.flags)), 1);
  chunk_cv_ = key_;
  blocks_done_ = 0;
  buffered_ = 0;
}

void Blake3::push_subtree(const Blake3Key& cv, u64 chunks) {
  chunks_done_ += chunks;
  Blake3Key top = cv;
  // A larger subtree is complete for every trailing zero of the count of such subtrees.
  for (u64 c = chunks_done_ / chunks; (c & 1) == 0; c >>= 1) {
    top = compress_parent(key_, flags_, stack_[--stacked_], top);
  }
  stack_[stacked_++] = top;
}

Blake3& Blake3::update(const void* data, size_t bytes) {
  const u8* in = static_cast<const u8*>(data);
  while (bytes > 0) {
    if (chunk_bytes() == kChunkBytes) close_chunk();
    if (buffered_ == kBlockBytes) compress_buffer();
    const size_t room = kBlockBytes - buffered_;
    const size_t n = bytes < room ? bytes : room;
    __builtin_memcpy(buffer_ + buffered_, in, n);
    buffered_ += static_cast<u32>(n);
    in += n;
    bytes -= n;
  }
  return *this;
}

Blake3::Node Blake3::open_chunk() const {
  u8 padded[kBlockBytes] = {};
  __builtin_memcpy(padded, buffer_, buffered_);
  const u32 start = blocks_done_ == 0 ? blake3::kChunkStart : 0u;
  return {chunk_cv_, load_block(padded), chunks_done_, buffered_,
          flags_ | start | blake3::kChunkEnd};
}

Blake3::Node Blake3::root() const {
  Node n = open_chunk();
  for (u32 i = stacked_; i > 0; --i) {
    const Output right = compress(n.cv, n.block, n.counter, n.block_bytes, n.flags);
    for (int w = 0; w < 8; ++w) {
      n.block.words[w] = stack_[i - 1].words[w];
      n.block.words[w + 8] = right.words[w];
    }
    n.cv = key_;
    n.counter = 0;
    n.block_bytes = kBlockBytes;
    n.flags = flags_ | blake3::kParent;
  }
  n.flags |= blake3::kRoot;
  return n;
}

void Blake3::finalize(u64 offset, void* out, size_t bytes) const {
  const Node n = root();
  u8* to = static_cast<u8*>(out);
  while (bytes > 0) {
    const Output o = compress(n.cv, n.block, offset / kBlockBytes, n.block_bytes, n.flags);
    const size_t skip = offset % kBlockBytes;
    const size_t take = bytes < kBlockBytes - skip ? bytes : kBlockBytes - skip;
    __builtin_memcpy(to, reinterpret_cast<const u8*>(o.words) + skip, take);
    to += take;
    offset += take;
    bytes -= take;
  }
}

Digest Blake3::digest() const {
  const Node n = root();
  return digest_of(compress(n.cv, n.block, 0, n.block_bytes, n.flags));
}

Digest blake3_hash(const void* data, size_t bytes) {
  return Blake3().update(data, bytes).digest();
}

Digest blake3_keyed(const Blake3Key& key, const void* data, size_t bytes) {
  return Blake3::keyed(key).update(data, bytes).digest();
}

Digest blake3_pair(const Blake3Key& key, const Digest& left, const Digest& right) {
  Block b;
  __builtin_memcpy(b.words, left.words, 32);
  __builtin_memcpy(b.words + 8, right.words, 32);
  const u32 flags = blake3::kKeyedHash | blake3::kChunkStart | blake3::kChunkEnd | blake3::kRoot;
  return digest_of(compress(key, b, 0, kBlockBytes, flags));
}

}  // namespace epochd::prover
