// Tables, commitments and query data of a CUDA session.
#include <algorithm>

#include "cuda/merkle/merkle.hpp"
#include "cuda/session/cuda_backend.hpp"
#include "cuda/trace/count.hpp"
#include "cuda/trace/fill.hpp"
#include "prover/prove/cpu/session_detail.hpp"

namespace epochd::cuda {

using prover::Digest;
using prover::Fp;
using prover::HeightGroup;
using prover::kNone;
using prover::Layout;
using prover::LookupSpec;
using prover::Part;
using prover::Segment;
using prover::TableColumns;
using prover::TableShape;
using prover::TableSource;
using prover::TreeLayout;

static_assert(kLogupScanRows >= kScanRowsMin && kDotRows >= kPartialRowsMin);

CudaSession::CudaSession(const CudaBackend& backend, const Layout& layout)
    : backend_(&backend), layout_(&layout), fixed_(layout.tree_count) {
  backend.reserve_arena(session_bytes(layout));
  Placer placer(backend.arena_.data());
  buffers_ = std::make_unique<SessionBuffers>(layout, placer);
  backend.record_uploads_.begin(buffers_->records, buffers_->record_bytes);
}

void CudaSession::load_fixed(u32 tree, std::shared_ptr<const prover::FixedTree> fixed) {
  fixed_[tree] = &backend_->fixed(fixed);
}

TableColumns CudaSession::trace_set(u32 table) const {
  const TableShape& shape = layout_->shape.tables[table];
  TableColumns set{nullptr, nullptr, size_t{1} << shape.log_height, shape.air->fixed_width};
  if (const u32 s = layout_->fixed_segment[table]; s != kNone) {
    const u32 first = layout_->groups[layout_->trees[shape.fixed_tree].first_group].first_segment;
    set.fixed = reinterpret_cast<const Fp*>(fixed_[shape.fixed_tree]->traces[s - first].data());
  }
  if (const u32 s = layout_->main_segment[table]; s != kNone) {
    set.main = reinterpret_cast<const Fp*>(buffers_->trace[s]);
  }
  return set;
}

u64* CudaSession::segment_lde(u32 segment) const {
  const Segment& s = layout_->segments[segment];
  if (s.part != Part::kFixed) return buffers_->lde[segment];
  const u32 tree = layout_->shape.tables[s.table].fixed_tree;
  const u32 first = layout_->groups[layout_->trees[tree].first_group].first_segment;
  return reinterpret_cast<u64*>(fixed_[tree]->ldes[segment - first].data());
}

TableColumns CudaSession::lde_set(u32 table) const {
  const TableShape& shape = layout_->shape.tables[table];
  const size_t rows = size_t{1} << (shape.log_height + layout_->shape.preset->log_blowup);
  TableColumns set{nullptr, nullptr, rows, shape.air->fixed_width};
  if (const u32 s = layout_->fixed_segment[table]; s != kNone) {
    set.fixed = reinterpret_cast<const Fp*>(segment_lde(s));
  }
  if (const u32 s = layout_->main_segment[table]; s != kNone) {
    set.main = reinterpret_cast<const Fp*>(segment_lde(s));
  }
  return set;
}

RowSource CudaSession::row_source(const HeightGroup& group) const {
  const u32 b = layout_->shape.preset->log_blowup;
  RowSource source;
  for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
    source.add(segment_lde(s), u32{1} << (group.log_height + b), layout_->segments[s].width);
  }
  return source;
}

const Digest* CudaSession::tree_levels(u32 tree) const {
  if (fixed_[tree] != nullptr) {
    return reinterpret_cast<const Digest*>(fixed_[tree]->levels.data());
  }
  return buffers_->tree[tree];
}

void CudaSession::fill(std::span<const TableSource> sources, std::span<const LookupSpec> lookups) {
  EPOCHD_ASSERT(sources.size() == layout_->shape.table_count);
  sources_.assign(sources.begin(), sources.end());
  decide_residency();
  require_device(DeviceStage::kFill);
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    if (layout_->main_segment[t] != kNone) fill_table(t);
  }
  count_lookups(lookups);
  ++backend_->counters_.fill;
}

void CudaSession::fill_table(u32 table) {
  const TableSource& source = sources_[table];
  const u32 segment = layout_->main_segment[table];
  const size_t rows = size_t{1} << layout_->shape.tables[table].log_height;
  u64* base = buffers_->trace[segment];
  cudaStream_t stream = backend_->stream_.get();
  EPOCHD_CUDA_CHECK(
      cudaMemsetAsync(base, 0, rows * layout_->segments[segment].width * sizeof(u64), stream));
  if (source.block.records == nullptr || source.used_rows == 0) return;
  prover::RecordBlock block = source.block;
  block.records = backend_->upload_records(block.records, source.used_rows * block.record_bytes);
  if (block.shared != nullptr) {
    const void*& device = shared_[block.shared];
    if (device == nullptr) {
      const std::span<const u8> host(static_cast<const u8*>(block.shared), block.shared_bytes);
      device = backend_->upload(host);
    }
    block.shared = device;
  }
  const bool filled =
      launch_fill(block, source.used_rows, reinterpret_cast<Fp*>(base), rows, stream);
  EPOCHD_ASSERT(filled);
}

namespace {

/// The sends on lookup buses of one table, lowered for the counting kernel.
class CountProgram {
 public:
  CountProgram(const TableShape& shape, std::span<const LookupSpec> lookups)
      : shape_(shape), air_(*shape.air) {
    for (u32 i = 0; i < air_.interaction_count; ++i) {
      const prover::Interaction& interaction = air_.interactions[i];
      if (!interaction.is_send) continue;
      for (u32 l = 0; l < lookups.size(); ++l) {
        if (lookups[l].bus == interaction.bus) add(interaction, l);
      }
    }
  }
  std::vector<CountAccess> accesses;
  std::vector<CountTerm> terms;

 private:
  void add(const prover::Interaction& interaction, u32 target) {
    const prover::LinearForm* forms = air_.forms + interaction.first_form;
    CountAccess a{};
    a.multiplicity = lower(forms[0]);
    a.arity = interaction.arity;
    a.target = target;
    for (u32 k = 0; k < a.arity; ++k) a.tuple[k] = lower(forms[k + 1]);
    accesses.push_back(a);
  }
  CountForm lower(const prover::LinearForm& form) {
    const u32 columns = u32{air_.fixed_width} + air_.main_width;
    CountForm f{static_cast<u32>(terms.size()), 0, form.constant};
    for (u32 t = form.first_term; t < u32{form.first_term} + form.term_count; ++t) {
      const prover::LinearTerm& term = air_.terms[t];
      if (term.slot >= columns) {
        f.constant += term.coefficient * shape_.params[term.slot - columns];
      } else {
        terms.push_back({term.slot, term.coefficient});
        ++f.count;
      }
    }
    return f;
  }

  const TableShape& shape_;
  const prover::AirInfo& air_;
};

}  // namespace

void CudaSession::count_lookups(std::span<const LookupSpec> lookups) {
  std::vector<CountTarget> targets;
  for (const LookupSpec& spec : lookups) {
    const size_t counters = size_t{spec.counter_count} << spec.log_height;
    CountTarget t{};
    if (spec.table == kNone) {
      t.counters = backend_->take_descriptors<unsigned long long>(counters);
    } else {
      const size_t first = size_t{spec.first_counter} << spec.log_height;
      t.counters = reinterpret_cast<unsigned long long*>(
          buffers_->trace[layout_->main_segment[spec.table]] + first);
    }
    if (spec.carried != nullptr) {
      backend_->upload(t.counters, spec.carried->data(), counters * sizeof(u64));
    }
    if (spec.row_of != nullptr) {
      t.row_of = backend_->upload(std::span<const u32>(*spec.row_of));
      t.row_of_size = spec.row_of->size();
    }
    std::copy(spec.weights.begin(), spec.weights.end(), t.weights);
    t.row_base = spec.row_base;
    t.row_shift = spec.row_shift;
    t.log_height = spec.log_height;
    t.counter_count = spec.counter_count;
    t.selects_column = spec.selects_column ? 1 : 0;
    targets.push_back(t);
  }
  const CountTarget* device_targets = backend_->upload(std::span<const CountTarget>(targets));
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const CountProgram program(layout_->shape.tables[t], lookups);
    if (program.accesses.empty() || sources_[t].used_rows == 0) continue;
    CountJob job{};
    job.columns = trace_set(t);
    job.rows = sources_[t].used_rows;
    job.accesses = backend_->upload(std::span<const CountAccess>(program.accesses));
    job.access_count = static_cast<u32>(program.accesses.size());
    job.terms = backend_->upload(std::span<const CountTerm>(program.terms));
    job.targets = device_targets;
    launch_count(job, backend_->stream_.get());
  }
  for (u32 l = 0; l < lookups.size(); ++l) {
    if (lookups[l].table != kNone) continue;
    backend_->download(lookups[l].carried->data(), targets[l].counters,
                       lookups[l].carried->size() * sizeof(u64));
  }
}

/// Extends all columns of a tree, matrices beside each other on the lanes, tallest first.
void CudaSession::extend_tree(const TreeLayout& tree) const {
  const u32 b = layout_->shape.preset->log_blowup;
  cudaStream_t stream = backend_->stream_.get();
  const Lanes& lanes = backend_->lanes_;
  const u32 first = layout_->groups[tree.first_group].first_segment;
  const HeightGroup& last = layout_->groups[tree.first_group + tree.group_count - 1];
  std::vector<LdeJob> jobs;
  for (u32 s = first; s < last.first_segment + last.segment_count; ++s) {
    const Segment& segment = layout_->segments[s];
    jobs.push_back({buffers_->trace[s], buffers_->lde[s], segment.width, segment.log_height});
  }
  if (layout_->segments[first].part != Part::kQuotient) {
    coset_lde(backend_->tables_, lanes, jobs, buffers_->scratch, b, stream);
    return;
  }
  lanes.fork(stream);
  for (u32 i = 0; i < jobs.size(); ++i) {
    lde_from_coefficients(backend_->tables_, jobs[i].in, jobs[i].out, jobs[i].columns,
                          jobs[i].log_n, b, lanes.stream(i % kLaneCount));
  }
  lanes.join(stream);
}

Digest CudaSession::download_digest(const Digest* device) {
  Digest d;
  backend_->download(&d, device, sizeof d);
  return d;
}

Digest CudaSession::commit(u32 tree) {
  require_device(DeviceStage::kExtend);
  const TreeLayout& t = layout_->trees[tree];
  const u32 b = layout_->shape.preset->log_blowup;
  const u64 root = tree_root_offset(t.log_height + b);
  if (fixed_[tree] != nullptr) return download_digest(tree_levels(tree) + root);
  extend_tree(t);
  std::vector<TreeHeight> heights;
  for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
    const HeightGroup& group = layout_->groups[g];
    heights.push_back({group.log_height + b, row_source(group)});
  }
  build_tree(heights, buffers_->tree[tree], backend_->stream_.get());
  committed(tree);
  ++backend_->counters_.lde;
  ++backend_->counters_.merkle;
  return download_digest(buffers_->tree[tree] + root);
}

void CudaSession::plan_tree(u32 tree, std::span<const u32> queries, GatherPlan& plan) const {
  const TreeLayout& t = layout_->trees[tree];
  const u32 log_top = layout_->log_height_max();
  for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
    const HeightGroup& group = layout_->groups[g];
    plan.add_rows(row_source(group), prover::shifted_unique(queries, log_top - group.log_height));
  }
  std::vector<u64> positions;
  append_sibling_positions(t.log_height + layout_->shape.preset->log_blowup,
                           prover::shifted_unique(queries, log_top - t.log_height), positions);
  plan.add_digests(tree_levels(tree), positions);
}

void CudaSession::plan_layer(u32 step, u32 shift, std::span<const u32> queries,
                             GatherPlan& plan) const {
  const FriLayerBuffers& layer = buffers_->fri[step];
  const auto leaves = prover::shifted_unique(queries, shift);
  plan.add_fri_leaves(layer.word, u64{1} << layer.log_word, layer.log_fold, leaves);
  std::vector<u64> positions;
  append_sibling_positions(layer.log_word - layer.log_fold, leaves, positions);
  plan.add_digests(layer.tree, positions);
}

void CudaSession::gather_on_device(std::span<const u32> queries, std::vector<u64>& words) {
  GatherPlan plan;
  for (u32 tree = 0; tree < layout_->tree_count; ++tree) plan_tree(tree, queries, plan);
  u32 shift = 0;
  for (u32 step = 0; step < layout_->fri_step_count; ++step) {
    shift += layout_->fri_steps[step];
    plan_layer(step, shift, queries, plan);
  }
  EPOCHD_ASSERT(plan.words() <= buffers_->gathered_words);
  launch_gather(plan, backend_->upload(std::span<const u64>(plan.packed())), buffers_->gathered,
                backend_->stream_.get());
  const size_t before = words.size();
  words.resize(before + plan.words());
  backend_->download(words.data() + before, buffers_->gathered, plan.words() * sizeof(u64));
}

}  // namespace epochd::cuda
