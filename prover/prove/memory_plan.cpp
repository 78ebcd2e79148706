#include "prover/prove/memory_plan.hpp"

#include <algorithm>

#include "prover/pcs/merkle.hpp"
#include "prover/pcs/ntt.hpp"

namespace epochd::prover {
namespace {

constexpr u64 kAlignment = AlignedBuffer<Fp>::kAlignment;

/// Columns a power of two apart would all fall into the same few cache sets, and kernels read a row
/// of every column: where columns are long, nine cache lines between them spread a row out.
constexpr u32 kLogRowsSpread = 9;
constexpr size_t kSpread = 9 * kAlignment / sizeof(Fp);

size_t spread_stride(u32 log_rows) {
  return (size_t{1} << log_rows) + (log_rows >= kLogRowsSpread ? kSpread : 0);
}

PlannedBuffer columns(u32 width, size_t stride, u32 first, u32 last) {
  return {width * stride * sizeof(Fp), stride, first, last};
}

u64 tree_bytes(u32 log_leaves) {
  return MerkleTree::digest_count(log_leaves) * sizeof(Digest);
}

bool is_fixed(const Layout& layout, u32 tree) {
  const HeightGroup& group = layout.groups[layout.trees[tree].first_group];
  return layout.segments[group.first_segment].part == Part::kFixed;
}

class Planner {
 public:
  Planner(const Layout& layout, u32 threads)
      : layout_(layout), log_blowup_(layout.shape.preset->log_blowup), threads_(threads) {
    plan_.traces.resize(layout.segment_count);
    plan_.ldes.resize(layout.segment_count);
    plan_.trees.resize(layout.tree_count);
  }

  MemoryPlan run() {
    const u32 fill = stage_++;
    const u32 base = stage_++;
    const u32 logup = stage_++;
    for (u32 t = 0; t < layout_.shape.base_tree_count; ++t) {
      if (!is_fixed(layout_, t)) base_tree(t, fill, base, logup);
    }
    derived_tree(layout_.logup_tree(), logup);
    const u32 quotient = stage_++;
    derived_tree(layout_.quotient_tree(), quotient);
    const u32 open = stage_++;
    const u32 deep = stage_++;
    plan_.points = columns(1, size_t{1} << layout_.log_domain(), open, deep);
    fri(deep);
    for_each([&](PlannedBuffer& b) { b.last = std::min(b.last, stage_); });
    place();
    return std::move(plan_);
  }

 private:
  static constexpr u32 kEnd = ~u32{0};

  template <class Body>
  void for_each_segment(u32 tree, const Body& body) const {
    const TreeLayout& t = layout_.trees[tree];
    for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
      const HeightGroup& group = layout_.groups[g];
      for (u32 s = 0; s < group.segment_count; ++s) body(group.first_segment + s);
    }
  }

  /// The LDE of a segment, made in `stage`, and the scratch of making it.
  void extend(u32 segment, u32 stage) {
    const Segment& s = layout_.segments[segment];
    // Fixed columns, which are the key's, have the same stride as the main columns beside them.
    const bool beside_fixed = s.part == Part::kMain && layout_.fixed_segment[s.table] != kNone;
    const u32 log_rows = s.log_height + log_blowup_;
    const size_t stride = beside_fixed ? size_t{1} << log_rows : spread_stride(log_rows);
    plan_.ldes[segment] = columns(s.width, stride, stage, kEnd);
    u64 scratch = coset_lde_scratch_bytes(s.width, s.log_height, log_blowup_, threads_);
    if (s.part == Part::kQuotient) {
      scratch = std::max(scratch, coset_interpolate_scratch_bytes(s.log_height + 1, threads_));
    }
    plan_.scratch_bytes = std::max(plan_.scratch_bytes, scratch);
  }

  void tree_at(u32 tree, u32 stage) {
    plan_.trees[tree] = {tree_bytes(layout_.trees[tree].log_height + log_blowup_), 0, stage, kEnd};
  }

  void base_tree(u32 tree, u32 fill, u32 base, u32 logup) {
    for_each_segment(tree, [&](u32 s) {
      const Segment& segment = layout_.segments[s];
      plan_.traces[s] = columns(segment.width, size_t{1} << segment.log_height, fill, logup);
      extend(s, base);
    });
    tree_at(tree, base);
  }

  /// A tree whose values exist from stage `made` on, each until it is extended.
  void derived_tree(u32 tree, u32 made) {
    for_each_segment(tree, [&](u32 s) {
      const Segment& segment = layout_.segments[s];
      // A quotient is three columns of twice the rows first.
      const bool is_quotient = segment.part == Part::kQuotient;
      const size_t stride =
          is_quotient ? size_t{2} << segment.log_height : spread_stride(segment.log_height);
      plan_.traces[s] = columns(is_quotient ? 3 : segment.width, stride, made, stage_);
      extend(s, stage_++);
    });
    tree_at(tree, stage_++);
  }

  void fri(u32 deep) {
    u32 log_word = layout_.log_domain();
    u32 made = deep;
    for (u32 step = 0; step < layout_.fri_step_count; ++step) {
      const u32 commit = stage_++;
      const u32 log_leaves = log_word - layout_.fri_steps[step];
      plan_.words.push_back(columns(3, size_t{1} << log_word, made, commit));
      plan_.layers.push_back(
          columns(3 << layout_.fri_steps[step], spread_stride(log_leaves), commit, kEnd));
      log_word = log_leaves;
      plan_.layer_trees.push_back({tree_bytes(log_leaves), 0, commit, kEnd});
      made = stage_++;
    }
    plan_.words.push_back(columns(3, size_t{1} << log_word, made, kEnd));
  }

  template <class Body>
  void for_each(const Body& body) {
    for (auto* list : {&plan_.traces, &plan_.ldes, &plan_.trees, &plan_.words, &plan_.layers,
                       &plan_.layer_trees}) {
      for (PlannedBuffer& b : *list) body(b);
    }
    body(plan_.points);
  }

  /// Largest first, each at the lowest offset that is free for as long as it lives.
  void place() {
    std::vector<PlannedBuffer*> order;
    for_each([&](PlannedBuffer& b) {
      if (b.bytes > 0) order.push_back(&b);
    });
    std::stable_sort(
        order.begin(), order.end(),
        [](const PlannedBuffer* a, const PlannedBuffer* b) { return a->bytes > b->bytes; });
    std::vector<const PlannedBuffer*> placed;  // offsets ascending
    for (PlannedBuffer* b : order) {
      u64 offset = 0;
      for (const PlannedBuffer* p : placed) {
        if (p->first > b->last || b->first > p->last) continue;
        if (p->offset >= offset + b->bytes) break;
        offset =
            std::max(offset, (p->offset + p->bytes + kAlignment - 1) / kAlignment * kAlignment);
      }
      b->offset = offset;
      plan_.arena_bytes = std::max(plan_.arena_bytes, offset + b->bytes);
      placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                     [](const PlannedBuffer* x, const PlannedBuffer* y) {
                                       return x->offset < y->offset;
                                     }),
                    b);
    }
  }

  const Layout& layout_;
  u32 log_blowup_;
  u32 threads_;
  u32 stage_ = 0;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan plan_memory(const Layout& layout, u32 threads) {
  return Planner(layout, threads).run();
}

u64 fixed_tree_bytes(const Layout& layout) {
  const u32 log_blowup = layout.shape.preset->log_blowup;
  u64 bytes = 0;
  for (u32 t = 0; t < layout.shape.base_tree_count; ++t) {
    if (is_fixed(layout, t)) bytes += tree_bytes(layout.trees[t].log_height + log_blowup);
  }
  for (u32 s = 0; s < layout.segment_count; ++s) {
    const Segment& segment = layout.segments[s];
    if (segment.part != Part::kFixed) continue;
    bytes += (u64{segment.width} * sizeof(Fp) << segment.log_height) * (1 + (u64{1} << log_blowup));
  }
  return bytes;
}

}  // namespace epochd::prover
