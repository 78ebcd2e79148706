// Where a CUDA session's traces live: the gate, the host's copy, and the gather that is compared
// with it.
#include "cuda/ntt/ntt.hpp"
#include "cuda/quotient/quotient.hpp"
#include "cuda/session/cuda_backend.hpp"

namespace epochd::cuda {

using prover::HeightGroup;
using prover::kNone;
using prover::Part;
using prover::Segment;
using prover::TableShape;
using prover::TableSource;
using prover::TreeLayout;

void CudaSession::decide_residency() {
  const BackendOptions& options = backend_->options_;
  facts_.resize(layout_->shape.table_count);
  const bool fits_plan = session_bytes(*layout_) <= backend_->arena_.bytes();
  bool is_device_only = true;
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const TableShape& shape = layout_->shape.tables[t];
    const TableSource& source = sources_[t];
    const ChipId chip = static_cast<ChipId>(source.block.kind);
    TableFacts& f = facts_[t];
    f.is_cuda = true;
    f.is_asked_for = options.residency == Residency::kDeviceOnly;
    f.has_debug_checks = options.has_debug_checks;
    f.fits_plan = fits_plan;
    f.is_height_supported =
        shape.log_height >= kNttLogRowsMin && shape.log_height <= kNttLogRowsMax;
    f.has_fill = !source.fill_rows || source.used_rows == 0 || source.block.records != nullptr;
    f.has_constraints = constraints_of(chip) != nullptr;
    f.has_fixed = layout_->fixed_segment[t] == kNone || fixed_[shape.fixed_tree] != nullptr;
    is_device_only = is_device_only && device_only_gate(f);
    if (backend_->strikes(Fault::kMisgatedTable)) f.has_constraints = false;
  }
  if (is_device_only || backend_->mirror_.data() == nullptr) return;
  EPOCHD_ASSERT(mirror_bytes(*layout_) <= backend_->mirror_.bytes());
  mirror_ = HostMirror(*layout_, backend_->mirror_.data());
  for (u32 tree = 0; tree < layout_->tree_count; ++tree) {
    if (fixed_[tree] != nullptr) mirror_.set_fixed(tree, fixed_[tree]->host);
  }
}

void CudaSession::require_device(DeviceStage stage) const {
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    if (reads_device(stage, facts_[t])) continue;
    const bool is_empty = mirror_.is_trace_empty(*layout_, t);
    throw ResidencyError(
        is_empty ? ResidencyErrorKind::kHostTraceEmpty : ResidencyErrorKind::kNoHostPath,
        layout_->shape.tables[t].air->name, stage);
  }
}

/// After a tree is built: the host's copy of it.
void CudaSession::committed(u32 tree) {
  const TreeLayout& t = layout_->trees[tree];
  const auto copy = [&](std::span<u64> to, const void* from) {
    if (!to.empty()) backend_->copy_down(to.data(), from, to.size_bytes());
  };
  for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
    const HeightGroup& group = layout_->groups[g];
    for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
      copy(mirror_.place_of_trace(s), buffers_->trace[s]);
      copy(mirror_.place_of_lde(s), buffers_->lde[s]);
    }
  }
  copy(mirror_.place_of_tree(tree), buffers_->tree[tree]);
  if (backend_->strikes(Fault::kCommittedWord)) {
    flip_word(buffers_->lde[layout_->groups[t.first_group].first_segment]);
  }
  if (mirror_.is_of_nothing()) return;
  backend_->stream_.synchronize();
  mirror_.arrived_tree(tree);
  if (!backend_->options_.has_debug_checks) return;
  for (u32 s = 0; s < layout_->segment_count; ++s) {
    const Segment& segment = layout_->segments[s];
    if (segment.part != Part::kMain) continue;
    if (layout_->shape.tables[segment.table].main_tree != tree) continue;
    mirror_.check_rows(segment.table, sources_[segment.table]);
  }
}

void CudaSession::committed_fri_layer(u32 step) {
  if (mirror_.is_of_nothing()) return;
  const std::span<u64> word = mirror_.place_of_fri_word(step);
  const std::span<u64> tree = mirror_.place_of_fri_tree(step);
  backend_->copy_down(word.data(), buffers_->fri[step].word, word.size_bytes());
  backend_->copy_down(tree.data(), buffers_->fri[step].tree, tree.size_bytes());
  backend_->stream_.synchronize();
  mirror_.arrived_fri_layer(step);
}

void CudaSession::gather(std::span<const u32> queries, std::vector<u64>& words) {
  require_device(DeviceStage::kGather);
  Counters& counters = backend_->counters_;
  std::vector<u64> gathered;
  std::string why;
  try {
    gather_on_device(queries, gathered);
    if (backend_->strikes(Fault::kGatherError)) {
      throw Error(ErrorKind::kTransient, cudaErrorInvalidValue, "an ordered fault of the gather");
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kSticky) throw;
    why = error.what();
  }
  if (backend_->strikes(Fault::kGatheredWord)) gathered.front() ^= 1;
  const bool has_failed = !why.empty();
  if (has_failed || !mirror_.is_of_nothing()) {
    std::vector<u64> mirrored;
    mirror_.gather(*layout_, queries, mirrored, why);
    const bool is_same = !has_failed && gathered == mirrored;
    counters.mirror_fallback += is_same ? 0 : 1;
    counters.gather += is_same ? 1 : 0;
    gathered = std::move(mirrored);
  } else {
    ++counters.gather;
  }
  words.insert(words.end(), gathered.begin(), gathered.end());
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    const bool is_empty = mirror_.is_trace_empty(*layout_, t);
    ++(is_empty ? counters.device_only : counters.host_mirror);
  }
}

void CudaSession::flip_word(u64* word) const {
  u64 value = 0;
  backend_->download(&value, word, sizeof value);
  value ^= 1;
  backend_->upload(word, &value, sizeof value);
}

}  // namespace epochd::cuda
