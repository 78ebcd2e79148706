// FRI on the CPU (docs/protocol.md §4.6): the word is three planes in bit-reversed order over the
// plain subgroup, so the 2^k values folded together are neighbours; also grinding.
#include <atomic>

#include "prover/hash/domains.hpp"
#include "prover/hash/rows.hpp"
#include "prover/pcs/fri_fold.hpp"
#include "prover/pcs/ntt.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::prover {

Digest CpuSession::fri_commit() {
  const u32 k = layout_->fri_steps[layers_.size()];
  FriLayer layer;
  layer.log_leaves = log_word_ - k;
  const size_t leaves = size_t{1} << layer.log_leaves;
  const u32 fold = 1u << k;
  const size_t step = layers_.size();
  layer.leaves = place_columns(plan_.layers[step], 3 * fold, leaves);
  for_rows(leaves, [&](size_t begin, size_t end) {
    for (u32 v = 0; v < fold; ++v) {
      for (u32 c = 0; c < 3; ++c) {
        const Fp* plane = word_.column(c);
        Fp* out = layer.leaves.column(3 * v + c);
        for (size_t j = begin; j < end; ++j) out[j] = plane[j * fold + v];
      }
    }
  });
  HeightColumns columns{layer.log_leaves, {}};
  for (u32 c = 0; c < layer.leaves.width; ++c) columns.columns.push_back(layer.leaves.column(c));
  layer.tree = MerkleTree::build(backend_.isa(), {&columns, 1}, backend_.pool(),
                                 reinterpret_cast<Digest*>(place(plan_.layer_trees[step])));
  layers_.push_back(std::move(layer));
  return layers_.back().tree.root();
}

void CpuSession::fri_fold(Fp3 beta) {
  const FriLayer& layer = layers_.back();
  const u32 k = log_word_ - layer.log_leaves;
  const size_t leaves = size_t{1} << layer.log_leaves;
  Matrix next = place_columns(plan_.words[layers_.size()], 3, leaves);
  const cpu::Planes out{next.column(0), next.stride};
  const FriFold fold(log_word_, k, beta);
  for_rows(leaves, [&](size_t begin, size_t end) {
    Fp3 values[kFoldMax];
    for (size_t j = begin; j < end; ++j) {
      for (u32 v = 0; v < (1u << k); ++v) {
        values[v] = {layer.leaves.column(3 * v)[j], layer.leaves.column(3 * v + 1)[j],
                     layer.leaves.column(3 * v + 2)[j]};
      }
      out.set(j, fold.apply(j, values));
    }
  });
  word_ = std::move(next);
  log_word_ = layer.log_leaves;
}

void CpuSession::fri_final(std::span<Fp3> coefficients) {
  for (u32 c = 0; c < 3; ++c) interpolate_bitrev(word_.column(c), log_word_);
  for (size_t i = 0; i < coefficients.size(); ++i) {
    coefficients[i] = {word_.column(0)[i], word_.column(1)[i], word_.column(2)[i]};
  }
}

u64 CpuSession::grind(const Digest& state, u32 bits) {
  if (bits == 0) return 0;
  // The input is five words, state and nonce: rows of a table whose first four columns are
  // constant, so that the SIMD row hash tries many nonces at once.
  constexpr size_t kBatch = 1024;
  const size_t wave = kBatch * 16 * backend_.pool().threads();
  const u64 limit = u64{1} << (64 - bits);
  std::vector<Fp> constant(4 * kBatch);
  for (size_t i = 0; i < constant.size(); ++i) {
    constant[i] =
        Fp::from_canonical(state.words[i / kBatch]);  // hashed as bytes, never computed with
  }
  for (u64 base = 0;; base += wave) {
    std::atomic<u64> best{~u64{0}};
    backend_.pool().for_ranges(wave, kBatch, [&](size_t begin, size_t end) {
      if (base + begin > best.load()) return;
      Fp nonces[kBatch];
      Digest digests[kBatch];
      for (size_t i = begin; i < end; ++i) nonces[i - begin] = Fp::from_canonical(base + i);
      const Fp* columns[5] = {&constant[0], &constant[kBatch], &constant[2 * kBatch],
                              &constant[3 * kBatch], nonces};
      hash_rows(backend_.isa(), domains::kGrind, columns, 5, 0, end - begin, digests);
      for (size_t i = begin; i < end; ++i) {
        if (digests[i - begin].words[0] >= limit) continue;
        u64 seen = best.load();
        while (base + i < seen && !best.compare_exchange_weak(seen, base + i)) {
        }
        return;
      }
    });
    if (best.load() != ~u64{0}) return best.load();
  }
}

}  // namespace epochd::prover
