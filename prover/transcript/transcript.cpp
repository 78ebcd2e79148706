#include "prover/transcript/transcript.hpp"

#include "prover/hash/domains.hpp"

namespace epochd::prover {
namespace {

size_t length_of(const char* s) {
  size_t n = 0;
  while (s[n] != 0) ++n;
  return n;
}

/// The 64-byte header: state, the first 24 bytes of the label's hash, a count.
struct Header {
  u64 words[8];
};
Header make_header(const Digest& state, const char* label, u64 count) {
  const Digest tag = blake3_hash(label, length_of(label));
  return {{state.words[0], state.words[1], state.words[2], state.words[3], tag.words[0],
           tag.words[1], tag.words[2], count}};
}

/// Words of the draw stream, in order.
class DrawStream {
 public:
  DrawStream(const Digest& state, const char* label, u64 count)
      : hasher_(Blake3::keyed(domains::kDraw)) {
    const Header h = make_header(state, label, count);
    hasher_.update(h.words, sizeof h.words);
  }
  u64 next() {
    if (position_ % 8 == 0) hasher_.finalize(position_ * 8, block_, sizeof block_);
    return block_[position_++ % 8];
  }

 private:
  Blake3 hasher_;
  u64 position_ = 0;
  u64 block_[8] = {};
};

Digest next_state(DrawStream& stream) {
  Digest d;
  for (u64& w : d.words) w = stream.next();
  return d;
}

}  // namespace

Transcript::Transcript(const char* protocol, u64 version, const char* proof_kind) {
  Blake3 h = Blake3::keyed(domains::kAbsorb);
  const u64 lengths[3] = {length_of(protocol), version, length_of(proof_kind)};
  h.update(lengths, sizeof lengths);
  h.update(protocol, lengths[0]);
  h.update(proof_kind, lengths[2]);
  state_ = h.digest();
}

void Transcript::set_state(const char* label, const Digest& d) {
  state_ = d;
  if (observer_.on_state != nullptr) observer_.on_state(observer_.context, label, state_);
}

void Transcript::absorb_bytes(const char* label, const void* data, size_t bytes) {
  const Header header = make_header(state_, label, bytes);
  Blake3 h = Blake3::keyed(domains::kAbsorb);
  h.update(header.words, sizeof header.words);
  h.update(data, bytes);
  set_state(label, h.digest());
}

void Transcript::draw(const char* label, Fp3* out, size_t count) {
  DrawStream stream(state_, label, count);
  const auto next = [&] {
    u64 w = stream.next();
    while (!Fp::is_canonical(w)) w = stream.next();
    return Fp::from_canonical(w);
  };
  for (size_t i = 0; i < count; ++i) {
    out[i].c0 = next();
    out[i].c1 = next();
    out[i].c2 = next();
  }
  set_state(label, next_state(stream));
}

void Transcript::draw_indices(const char* label, u32 bits, u32* out, size_t count) {
  DrawStream stream(state_, label, count);
  const u64 mask = (u64{1} << bits) - 1;
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<u32>(stream.next() & mask);
  set_state(label, next_state(stream));
}

bool Transcript::grind_ok(const Digest& state, u64 nonce, u32 bits) {
  if (bits == 0) return nonce == 0;
  const u64 input[5] = {state.words[0], state.words[1], state.words[2], state.words[3], nonce};
  return blake3_keyed(domains::kGrind, input, sizeof input).words[0] < (u64{1} << (64 - bits));
}

Transcript Transcript::fork(const char* label, u64 index) const {
  Transcript t = *this;
  t.absorb_words(label, &index, 1);
  return t;
}

}  // namespace epochd::prover
