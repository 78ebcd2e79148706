#include "cuda/session/mirror.hpp"

#include <algorithm>

#include "prover/pcs/merkle.hpp"
#include "prover/prove/cpu/session_detail.hpp"

namespace epochd::cuda {

using prover::Digest;
using prover::Fp;
using prover::HeightGroup;
using prover::kNone;
using prover::Layout;
using prover::Part;
using prover::Segment;
using prover::shifted_unique;
using prover::TreeLayout;

namespace {

constexpr u32 kDigestWords = sizeof(Digest) / sizeof(u64);

size_t tree_words(u32 log_leaves) {
  return kDigestWords * ((size_t{2} << log_leaves) - 1);
}

/// Appends the digests MerkleTree::append_siblings() appends, from levels that stand back to back.
void append_siblings(std::span<const u64> levels, u32 log_leaves, std::vector<u32> open,
                     std::vector<u64>& words) {
  for (u32 level = 0; level < log_leaves; ++level) {
    const size_t first = (size_t{2} << log_leaves) - (size_t{2} << (log_leaves - level));
    size_t parents = 0;
    for (size_t i = 0; i < open.size(); ++i) {
      const u32 index = open[i];
      if (i + 1 < open.size() && open[i + 1] == (index ^ 1)) {
        ++i;
      } else {
        const auto digest = levels.subspan(kDigestWords * (first + (index ^ 1)), kDigestWords);
        words.insert(words.end(), digest.begin(), digest.end());
      }
      open[parents++] = index >> 1;
    }
    open.resize(parents);
  }
}

/// FRI layer `step`: log2 of its word.
u32 log_word_of(const Layout& layout, u32 step) {
  u32 log_word = layout.log_domain();
  for (u32 i = 0; i < step; ++i) log_word -= layout.fri_steps[i];
  return log_word;
}

}  // namespace

std::string table_name(const Layout& layout, u32 segment) {
  const Segment& s = layout.segments[segment];
  if (s.part == Part::kQuotient) return "quotient of 2^" + std::to_string(s.log_height) + " rows";
  return layout.shape.tables[s.table].air->name;
}

HostMirror::HostMirror(const Layout& layout, u8* memory)
    : layout_(&layout),
      traces_(layout.segment_count),
      ldes_(layout.segment_count),
      trees_(layout.tree_count),
      words_(layout.fri_step_count),
      layer_trees_(layout.fri_step_count),
      fixed_(layout.tree_count) {
  Placer placer(memory);
  const auto place = [&](Copy& copy, size_t words) {
    copy.place = {placer.take<u64>(words), words};
  };
  const u32 b = layout.shape.preset->log_blowup;
  for (u32 t = 0; t < layout.tree_count; ++t) {
    const TreeLayout& tree = layout.trees[t];
    bool is_fixed = false;
    for (u32 g = tree.first_group; g < tree.first_group + tree.group_count; ++g) {
      const HeightGroup& group = layout.groups[g];
      for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
        const Segment& segment = layout.segments[s];
        is_fixed = segment.part == Part::kFixed;
        if (is_fixed) continue;
        const size_t words = size_t{segment.width} << segment.log_height;
        if (segment.part != Part::kQuotient) place(traces_[s], words);
        place(ldes_[s], words << b);
      }
    }
    if (!is_fixed) place(trees_[t], tree_words(tree.log_height + b));
  }
  for (u32 i = 0; i < layout.fri_step_count; ++i) {
    const u32 log_word = log_word_of(layout, i);
    place(words_[i], size_t{3} << log_word);
    place(layer_trees_[i], tree_words(log_word - layout.fri_steps[i]));
  }
  bytes_ = placer.used();
}

HostMirror::Copy HostMirror::at(const std::vector<Copy>& copies, u32 index) {
  return index < copies.size() ? copies[index] : Copy{};
}

void HostMirror::arrived_tree(u32 tree) {
  if (is_of_nothing()) return;
  const TreeLayout& t = layout_->trees[tree];
  for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
    const HeightGroup& group = layout_->groups[g];
    for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
      traces_[s].is_there = !traces_[s].place.empty();
      ldes_[s].is_there = !ldes_[s].place.empty();
    }
  }
  trees_[tree].is_there = !trees_[tree].place.empty();
}

void HostMirror::arrived_fri_layer(u32 step) {
  if (is_of_nothing()) return;
  words_[step].is_there = true;
  layer_trees_[step].is_there = true;
}

void HostMirror::set_fixed(u32 tree, FixedTreePtr fixed) {
  if (!is_of_nothing()) fixed_[tree] = std::move(fixed);
}

bool HostMirror::is_trace_empty(const Layout& layout, u32 table) const {
  for (const u32 s : {layout.main_segment[table], layout.logup_segment[table]}) {
    if (s != kNone && (!at(traces_, s).is_there || !at(ldes_, s).is_there)) return true;
  }
  return false;
}

const Fp* HostMirror::extension(const Layout& layout, u32 tree, u32 segment,
                                const std::string& why) const {
  if (!is_of_nothing() && fixed_[tree]) {
    const u32 first = layout.groups[layout.trees[tree].first_group].first_segment;
    return fixed_[tree]->ldes[segment - first].data.data();
  }
  if (!at(ldes_, segment).is_there) {
    throw ResidencyError(ResidencyErrorKind::kHostTraceEmpty, table_name(layout, segment),
                         DeviceStage::kGather, why);
  }
  return reinterpret_cast<const Fp*>(ldes_[segment].place.data());
}

void HostMirror::gather_rows(const Layout& layout, u32 tree, std::span<const u32> queries,
                             std::vector<u64>& words, const std::string& why) const {
  const TreeLayout& t = layout.trees[tree];
  const u32 b = layout.shape.preset->log_blowup;
  for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
    const HeightGroup& group = layout.groups[g];
    const size_t rows = size_t{1} << (group.log_height + b);
    for (const u32 row : shifted_unique(queries, layout.log_height_max() - group.log_height)) {
      for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
        const Fp* columns = extension(layout, tree, s, why);
        for (u32 c = 0; c < layout.segments[s].width; ++c) {
          words.push_back(columns[c * rows + row].value());
        }
      }
    }
  }
}

void HostMirror::gather_siblings(const Layout& layout, u32 tree, std::span<const u32> queries,
                                 std::vector<u64>& words) const {
  const TreeLayout& t = layout.trees[tree];
  const auto leaves = shifted_unique(queries, layout.log_height_max() - t.log_height);
  if (fixed_[tree]) {
    fixed_[tree]->tree.append_siblings(leaves, words);
  } else {
    append_siblings(trees_[tree].place, t.log_height + layout.shape.preset->log_blowup, leaves,
                    words);
  }
}

void HostMirror::gather(const Layout& layout, std::span<const u32> queries, std::vector<u64>& words,
                        const std::string& why) const {
  for (u32 tree = 0; tree < layout.tree_count; ++tree) {
    gather_rows(layout, tree, queries, words, why);
    gather_siblings(layout, tree, queries, words);
  }
  u32 shift = 0;
  for (u32 step = 0; step < layout.fri_step_count; ++step) {
    shift += layout.fri_steps[step];
    if (!words_[step].is_there) {
      throw ResidencyError(ResidencyErrorKind::kHostTraceEmpty, "FRI layer " + std::to_string(step),
                           DeviceStage::kGather, why);
    }
    const u32 log_word = log_word_of(layout, step);
    const auto leaves = shifted_unique(queries, shift);
    for (const u32 leaf : leaves) {
      const size_t first = size_t{leaf} << layout.fri_steps[step];
      for (size_t i = first; i < first + (size_t{1} << layout.fri_steps[step]); ++i) {
        for (u32 c = 0; c < 3; ++c) {
          words.push_back(words_[step].place[(size_t{c} << log_word) + i]);
        }
      }
    }
    append_siblings(layer_trees_[step].place, log_word - layout.fri_steps[step], leaves, words);
  }
}

void HostMirror::check_rows(u32 table, const prover::TableSource& source) const {
  if (is_of_nothing() || !source.fill_rows) return;
  const u32 segment = layout_->main_segment[table];
  const std::string name = table_name(*layout_, segment);
  if (!at(traces_, segment).is_there) {
    throw ResidencyError(ResidencyErrorKind::kHostTraceEmpty, name, DeviceStage::kFill);
  }
  const size_t rows = size_t{1} << layout_->segments[segment].log_height;
  const std::span<const u64> device = traces_[segment].place;
  std::vector<Fp> host(device.size(), Fp::zero());
  source.fill_rows(0, source.used_rows, host.data(), rows);
  for (size_t i = 0; i < device.size(); ++i) {
    if (host[i].value() == device[i]) continue;
    throw ResidencyError(
        ResidencyErrorKind::kWrongRows, name, DeviceStage::kFill,
        "column " + std::to_string(i / rows) + ", row " + std::to_string(i % rows));
  }
}

size_t mirror_bytes(const Layout& layout) {
  return HostMirror(layout, nullptr).bytes_;
}

}  // namespace epochd::cuda
