#include "cuda/session/buffers.hpp"

#include <algorithm>

#include "cuda/logup/logup.hpp"
#include "cuda/merkle/merkle.hpp"
#include "cuda/ntt/ntt.hpp"
#include "cuda/open/open.hpp"
#include "epoch/exec/records.hpp"

namespace epochd::cuda {
namespace {

using prover::Layout;
using prover::Part;
using prover::Segment;

/// The most scratch any stage needs at once.
size_t scratch_words(const Layout& layout) {
  const u32 b = layout.shape.preset->log_blowup;
  size_t words = 0;
  for (u32 s = 0; s < layout.segment_count; ++s) {
    const Segment& segment = layout.segments[s];
    if (segment.part == Part::kFixed) continue;
    if (segment.part != Part::kQuotient) {
      words = std::max(words, lde_scratch_words(segment.width, segment.log_height, b));
    }
  }
  // Openings: weights of both points; DEEP: a word, of every height. Distinct heights sum to less
  // than twice the tallest.
  return std::max(words, 12 * (size_t{1} << (layout.log_height_max() + b - 1)));
}

}  // namespace

size_t gathered_words_max(const Layout& layout) {
  const size_t queries = layout.shape.preset->query_count;
  const u32 log_domain = layout.log_domain();
  size_t words = 0;
  for (u32 s = 0; s < layout.segment_count; ++s) words += queries * layout.segments[s].width;
  words += layout.tree_count * queries * 4 * log_domain;
  for (u32 i = 0; i < layout.fri_step_count; ++i) {
    words += queries * ((size_t{3} << layout.fri_steps[i]) + 4 * log_domain);
  }
  return words;
}

template <class A>
SessionBuffers::SessionBuffers(const Layout& layout, A& arena)
    : trace(layout.segment_count),
      lde(layout.segment_count),
      tree(layout.tree_count),
      folded(layout.height_count) {
  const u32 b = layout.shape.preset->log_blowup;
  for (u32 s = 0; s < layout.segment_count; ++s) {
    const Segment& segment = layout.segments[s];
    if (segment.part == Part::kFixed) continue;
    trace[s] = arena.template take<u64>(size_t{segment.width} << segment.log_height);
    lde[s] = arena.template take<u64>(size_t{segment.width} << (segment.log_height + b));
  }
  for (u32 t = 0; t < layout.tree_count; ++t) {
    const prover::HeightGroup& top = layout.groups[layout.trees[t].first_group];
    if (layout.segments[top.first_segment].part == Part::kFixed) continue;
    tree[t] = arena.template take<prover::Digest>(tree_digests(layout.trees[t].log_height + b));
  }
  for (u32 h = 0; h < layout.height_count; ++h) {
    folded[h] = arena.template take<u64>(size_t{6} << layout.heights[h]);
  }
  u32 log_word = layout.log_domain();
  for (u32 i = 0; i < layout.fri_step_count; ++i) {
    FriLayerBuffers layer;
    layer.log_word = log_word;
    layer.log_fold = layout.fri_steps[i];
    layer.word = arena.template take<u64>(size_t{3} << log_word);
    log_word -= layer.log_fold;
    layer.tree = arena.template take<prover::Digest>(tree_digests(log_word));
    fri.push_back(layer);
  }
  final_word = arena.template take<u64>(size_t{3} << log_word);
  log_final_word = log_word;
  scratch_words = cuda::scratch_words(layout);
  scratch = arena.template take<u64>(scratch_words);
  sums = arena.template take<prover::Fp3>(layout.shape.table_count);
  for (u32 t = 0; t < layout.shape.table_count; ++t) {
    block_sums.push_back(arena.template take<prover::Fp3>(
        blocks_of(layout.shape.tables[t].log_height, kLogupScanRows)));
  }
  openings = arena.template take<prover::Fp3>(layout.opening_count);
  partials = arena.template take<prover::Fp3>(size_t{layout.opening_count} *
                                              chunks_of(layout.log_height_max(), kDotRows));
  gathered_words = gathered_words_max(layout);
  gathered = arena.template take<u64>(gathered_words);
  nonce = arena.template take<u64>(1);
  for (u32 t = 0; t < layout.shape.table_count; ++t) {
    record_bytes =
        std::max(record_bytes, sizeof(UnalignedRecord) << layout.shape.tables[t].log_height);
  }
  records = arena.template take<u8>(record_bytes);
}

template SessionBuffers::SessionBuffers(const Layout&, Arena&);
template SessionBuffers::SessionBuffers(const Layout&, CountingArena&);

size_t session_bytes(const Layout& layout) {
  CountingArena counter;
  const SessionBuffers buffers(layout, counter);
  return counter.used();
}

}  // namespace epochd::cuda
