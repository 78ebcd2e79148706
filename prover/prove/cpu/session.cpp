#include "prover/prove/cpu/session.hpp"

#include <algorithm>

#include "prover/core/assert.hpp"
#include "prover/pcs/ntt.hpp"
#include "prover/prove/cpu/session_detail.hpp"

namespace epochd::prover {
namespace {

constexpr size_t kRowGrain = 2048;

}  // namespace

CpuSession::CpuSession(const CpuBackend& backend, const Layout& layout)
    : backend_(backend),
      layout_(&layout),
      plan_(plan_memory(layout, backend.pool().threads())),
      arena_(backend.arenas().take(plan_.arena_bytes)),
      trace_(layout.segment_count),
      lde_(layout.segment_count),
      fixed_(layout.tree_count),
      trees_(layout.tree_count) {}

CpuSession::~CpuSession() {
  if (arena_.size() > 0) backend_.arenas().give_back(std::move(arena_));
}

void CpuSession::for_rows(size_t rows, const std::function<void(size_t, size_t)>& body) const {
  backend_.pool().for_ranges(rows, kRowGrain, body);
}

void CpuSession::load_fixed(u32 tree, std::shared_ptr<const FixedTree> fixed) {
  fixed_[tree] = std::move(fixed);
}

void CpuSession::fill(std::span<const TableSource> sources, std::span<const LookupSpec> lookups) {
  EPOCHD_ASSERT(sources.size() == layout_->shape.table_count);
  sources_.assign(sources.begin(), sources.end());
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const u32 segment = layout_->main_segment[t];
    if (segment == kNone) continue;
    const size_t rows = size_t{1} << layout_->shape.tables[t].log_height;
    trace_[segment] = place_columns(plan_.traces[segment], layout_->segments[segment].width, rows);
    Matrix& trace = trace_[segment];
    const size_t used = sources[t].fill_rows ? sources[t].used_rows : 0;
    for_rows(rows, [&](size_t begin, size_t end) {
      for (u32 c = 0; c < trace.width; ++c) {
        std::fill(trace.column(c) + begin, trace.column(c) + end, Fp::zero());
      }
      if (begin < used)
        sources[t].fill_rows(begin, std::min(end, used), trace.column(0), trace.stride);
    });
  }
  count_lookups(lookups);
}

TableColumns CpuSession::trace_set(u32 table) const {
  const TableShape& shape = layout_->shape.tables[table];
  TableColumns set{nullptr, nullptr, size_t{1} << shape.log_height, shape.air->fixed_width};
  if (const u32 s = layout_->fixed_segment[table]; s != kNone) {
    const TreeLayout& tree = layout_->trees[shape.fixed_tree];
    const u32 first = layout_->groups[tree.first_group].first_segment;
    set.fixed = fixed_[shape.fixed_tree]->traces[s - first].data.data();
  }
  if (const u32 s = layout_->main_segment[table]; s != kNone) set.main = trace_[s].data.data();
  return set;
}

std::vector<const Fp*> CpuSession::trace_columns(u32 table) const {
  const AirInfo& air = *layout_->shape.tables[table].air;
  const TableColumns set = trace_set(table);
  std::vector<const Fp*> columns;
  for (u32 c = 0; c < u32{air.fixed_width} + air.main_width; ++c) columns.push_back(set.column(c));
  return columns;
}

const Matrix& CpuSession::lde(u32 segment) const {
  const Segment& s = layout_->segments[segment];
  if (s.part != Part::kFixed) return lde_[segment];
  const u32 tree = layout_->shape.tables[s.table].fixed_tree;
  return fixed_[tree]
      ->ldes[segment - layout_->groups[layout_->trees[tree].first_group].first_segment];
}

TableColumns CpuSession::lde_columns(u32 table) const {
  const u32 fixed = layout_->fixed_segment[table];
  const u32 main = layout_->main_segment[table];
  TableColumns set{nullptr, nullptr, 0, layout_->shape.tables[table].air->fixed_width};
  if (fixed != kNone) {
    set.fixed = lde(fixed).column(0);
    set.stride = lde(fixed).stride;
  }
  if (main != kNone) {
    EPOCHD_ASSERT(fixed == kNone || lde(main).stride == set.stride);
    set.main = lde(main).column(0);
    set.stride = lde(main).stride;
  }
  return set;
}

Digest CpuSession::commit(u32 tree) {
  if (fixed_[tree]) return fixed_[tree]->tree.root();
  const TreeLayout& t = layout_->trees[tree];
  const u32 log_blowup = layout_->shape.preset->log_blowup;
  std::vector<HeightColumns> groups;
  for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
    const HeightGroup& group = layout_->groups[g];
    HeightColumns columns{group.log_height + log_blowup, {}};
    for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
      if (layout_->segments[s].part == Part::kQuotient) {
        extend_quotient(s);
      } else {
        extend_trace(s);
      }
      for (u32 c = 0; c < lde_[s].width; ++c) columns.columns.push_back(lde_[s].column(c));
    }
    groups.push_back(std::move(columns));
  }
  trees_[tree] = MerkleTree::build(backend_.isa(), groups, backend_.pool(),
                                   reinterpret_cast<Digest*>(place(plan_.trees[tree])));
  return trees_[tree].root();
}

void CpuSession::extend_trace(u32 segment) {
  const Segment& s = layout_->segments[segment];
  const u32 log_blowup = layout_->shape.preset->log_blowup;
  const Matrix& trace = trace_[segment];
  lde_[segment] = place_columns(plan_.ldes[segment], s.width, trace.rows << log_blowup);
  coset_lde(backend_.isa(), trace.column(0), trace.stride, lde_[segment].column(0),
            lde_[segment].stride, s.width, s.log_height, log_blowup, backend_.pool());
}

void CpuSession::gather(std::span<const u32> queries, std::vector<u64>& words) {
  const u32 log_domain = layout_->log_domain();
  const u32 log_blowup = layout_->shape.preset->log_blowup;
  for (u32 tree = 0; tree < layout_->tree_count; ++tree) {
    const TreeLayout& t = layout_->trees[tree];
    for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
      const HeightGroup& group = layout_->groups[g];
      for (const u32 row : shifted_unique(queries, log_domain - log_blowup - group.log_height)) {
        for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
          const Matrix& m = lde(s);
          for (u32 c = 0; c < m.width; ++c) words.push_back(m.column(c)[row].value());
        }
      }
    }
    const MerkleTree& merkle = fixed_[tree] ? fixed_[tree]->tree : trees_[tree];
    const auto leaves = shifted_unique(queries, log_domain - log_blowup - t.log_height);
    merkle.append_siblings(leaves, words);
  }
  u32 shift = 0;
  for (u32 step = 0; step < layers_.size(); ++step) {
    const FriLayer& layer = layers_[step];
    shift += layout_->fri_steps[step];
    const auto leaves = shifted_unique(queries, shift);
    for (const u32 leaf : leaves) {
      for (u32 c = 0; c < layer.leaves.width; ++c) {
        words.push_back(layer.leaves.column(c)[leaf].value());
      }
    }
    layer.tree.append_siblings(leaves, words);
  }
}

}  // namespace epochd::prover
