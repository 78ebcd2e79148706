#include "cuda/session/buffers.hpp"

#include <algorithm>

#include "cuda/ntt/sizes.hpp"
#include "epoch/exec/records.hpp"
#include "prover/pcs/merkle.hpp"

namespace epochd::cuda {
namespace {

using prover::Digest;
using prover::Fp3;
using prover::HeightGroup;
using prover::Layout;
using prover::Part;
using prover::Segment;
using prover::TreeLayout;

/// The most scratch any stage needs at once.
size_t scratch_words(const Layout& layout) {
  const u32 b = layout.shape.preset->log_blowup;
  size_t words = 0;
  for (u32 t = 0; t < layout.tree_count; ++t) {
    const TreeLayout& tree = layout.trees[t];
    std::vector<LdeJob> jobs;
    for (u32 g = tree.first_group; g < tree.first_group + tree.group_count; ++g) {
      const HeightGroup& group = layout.groups[g];
      for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
        const Segment& segment = layout.segments[s];
        if (segment.part == Part::kFixed || segment.part == Part::kQuotient) continue;
        jobs.push_back({nullptr, nullptr, segment.width, segment.log_height});
      }
    }
    words = std::max(words, lde_scratch_words(jobs, b));
  }
  // Openings: weights of both points; DEEP: a word, of every height. Distinct heights sum to less
  // than twice the tallest.
  return std::max(words, 12 * (size_t{1} << (layout.log_height_max() + b - 1)));
}

bool is_fixed(const Layout& layout, u32 tree) {
  const prover::HeightGroup& top = layout.groups[layout.trees[tree].first_group];
  return layout.segments[top.first_segment].part == Part::kFixed;
}

size_t parts_of(u32 log_rows, u32 rows) {
  return std::max<size_t>(1, (size_t{1} << log_rows) / rows);
}

/// Runs each step from the same place on, and goes on after the longest.
template <class... Steps>
void place_over_each_other(Placer& placer, const Steps&... steps) {
  const size_t begin = placer.used();
  size_t end = begin;
  const auto one = [&](const auto& step) {
    placer.move_to(begin);
    step();
    end = std::max(end, placer.used());
  };
  (one(steps), ...);
  placer.move_to(end);
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

SessionBuffers::SessionBuffers(const Layout& layout, Placer& placer)
    : trace(layout.segment_count),
      lde(layout.segment_count),
      tree(layout.tree_count),
      folded(layout.height_count) {
  place_small(layout, placer);
  place_ldes(layout, Part::kMain, placer);
  place_base_trees(layout, placer);
  const size_t before_records = placer.used();
  place_over_each_other(
      placer, [&] { place_records(layout, placer); },
      [&] { place_traces(layout, Part::kLogup, placer); },
      [&] { place_quotient_and_fri(layout, placer); });
  record_bytes = placer.used() - before_records;
  place_over_each_other(
      placer,
      [&] {
        place_traces(layout, Part::kMain, placer);
        place_logup_scratch(layout, placer);
      },
      [&] {
        place_ldes(layout, Part::kLogup, placer);
        place_tree(layout, layout.logup_tree(), placer);
        place_ldes(layout, Part::kQuotient, placer);
        place_tree(layout, layout.quotient_tree(), placer);
      });
}

void SessionBuffers::place_small(const Layout& layout, Placer& placer) {
  scratch_words = cuda::scratch_words(layout);
  scratch = placer.take<u64>(scratch_words);
  sums = placer.take<Fp3>(layout.shape.table_count);
  for (u32 t = 0; t < layout.shape.table_count; ++t) {
    block_sums.push_back(
        placer.take<Fp3>(parts_of(layout.shape.tables[t].log_height, kScanRowsMin)));
  }
  openings = placer.take<Fp3>(layout.opening_count);
  partials = placer.take<Fp3>(size_t{layout.opening_count} *
                              parts_of(layout.log_height_max(), kPartialRowsMin));
  gathered_words = gathered_words_max(layout);
  gathered = placer.take<u64>(gathered_words);
  nonce = placer.take<u64>(1);
}

void SessionBuffers::place_records(const Layout& layout, Placer& placer) {
  size_t bytes = 0;
  for (u32 t = 0; t < layout.shape.table_count; ++t) {
    bytes = std::max(bytes, sizeof(UnalignedRecord) << layout.shape.tables[t].log_height);
  }
  records = placer.take<u8>(bytes);
}

void SessionBuffers::place_traces(const Layout& layout, Part part, Placer& placer) {
  for (u32 s = 0; s < layout.segment_count; ++s) {
    const Segment& segment = layout.segments[s];
    if (segment.part != part) continue;
    trace[s] = placer.take<u64>(size_t{segment.width} << segment.log_height);
  }
}

void SessionBuffers::place_logup_scratch(const Layout& layout, Placer& placer) {
  for (u32 t = 0; t < layout.shape.table_count; ++t) {
    const u32 s = layout.logup_segment[t];
    const size_t words =
        s == prover::kNone ? 0 : size_t{layout.segments[s].width} << layout.segments[s].log_height;
    logup_scratch.push_back(placer.take<u64>(words));
  }
}

void SessionBuffers::place_ldes(const Layout& layout, Part part, Placer& placer) {
  const u32 b = layout.shape.preset->log_blowup;
  for (u32 s = 0; s < layout.segment_count; ++s) {
    const Segment& segment = layout.segments[s];
    if (segment.part != part) continue;
    lde[s] = placer.take<u64>(size_t{segment.width} << (segment.log_height + b));
  }
}

void SessionBuffers::place_base_trees(const Layout& layout, Placer& placer) {
  for (u32 t = 0; t < layout.shape.base_tree_count; ++t) {
    if (!is_fixed(layout, t)) place_tree(layout, t, placer);
  }
}

void SessionBuffers::place_tree(const Layout& layout, u32 t, Placer& placer) {
  tree[t] = placer.take<Digest>(prover::MerkleTree::digest_count(layout.trees[t].log_height +
                                                                 layout.shape.preset->log_blowup));
}

void SessionBuffers::place_quotient_and_fri(const Layout& layout, Placer& placer) {
  for (u32 h = 0; h < layout.height_count; ++h) {
    folded[h] = placer.take<u64>(size_t{6} << layout.heights[h]);
  }
  place_traces(layout, Part::kQuotient, placer);
  u32 log_word = layout.log_domain();
  for (u32 i = 0; i < layout.fri_step_count; ++i) {
    FriLayerBuffers layer;
    layer.log_word = log_word;
    layer.log_fold = layout.fri_steps[i];
    layer.word = placer.take<u64>(size_t{3} << log_word);
    log_word -= layer.log_fold;
    layer.tree = placer.take<Digest>(prover::MerkleTree::digest_count(log_word));
    fri.push_back(layer);
  }
  final_word = placer.take<u64>(size_t{3} << log_word);
  log_final_word = log_word;
}

size_t session_bytes(const Layout& layout) {
  Placer counter(nullptr);
  const SessionBuffers buffers(layout, counter);
  return counter.used();
}

}  // namespace epochd::cuda
