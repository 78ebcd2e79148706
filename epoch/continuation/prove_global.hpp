// The global memory proof (docs/machine.md, "Continuation"): groups of boundaries, anchor chunks,
// and the image with the run's only range16. Two passes over the sub-proofs, because every main
// root is absorbed before the first challenge; each pass holds one sub-proof's data at a time.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "epoch/continuation/prove_epoch.hpp"
#include "epoch/continuation/run_memory.hpp"

namespace epochd {

/// The epochs' boundaries, kept outside (on disk in the daemon). Labels are 1 .. epochs.
struct BoundaryStore {
  u32 epochs = 0;
  std::function<std::vector<BoundaryRecord>(u32 label)> rows;
  std::function<prover::Digest(u32 label)> root;
  std::function<u32(u32 label)> log_height;
};

/// Words that go before the epoch records of a bundle.
inline std::vector<u64> bundle_header(const VerifyingKey& vk, const RunParams& params, u32 epochs,
                                      const RunMemory::Ends& ends) {
  const prover::Digest program = vk.digest();
  std::vector<u64> w{kBundleMagic, kFormatVersion, params.preset->id, params.epoch_size_log2};
  prover::push_digest(w, program);
  w.insert(w.end(), {epochs, ends.anchors.size()});
  w.insert(w.end(), ends.last_keys.begin(), ends.last_keys.end());
  return w;
}

template <class Backend>
class GlobalProver {
 public:
  using Session = typename Backend::Session;

  GlobalProver(const Backend& backend, const ProvingKey& key, const RunParams& params,
               const BoundaryStore& boundaries, const RunMemory::Ends& ends)
      : backend_(backend),
        key_(key),
        params_(params),
        boundaries_(boundaries),
        ends_(ends),
        plan_(global_plan(boundaries.epochs, ends.anchors.size(), *params.preset)),
        layout_(std::make_unique<prover::Layout>()) {}

  /// Calls emit(record) for each sub-proof, in order. `cancelled` is asked between sub-proofs; true
  /// ends early and returns false.
  bool prove(const std::function<void(std::span<const u64>)>& emit,
             const std::function<bool()>& cancelled = {}) {
    prover::Transcript base =
        global_transcript(params_, key_.vk.digest(), plan_.epochs, plan_.anchors,
                          ends_.last_keys.data(), key_.vk.global_root);
    for (u32 e = 1; e <= plan_.epochs; ++e) {
      absorb_boundary(base, boundaries_.log_height(e), boundaries_.root(e));
    }
    counts_.assign(kRange16Rows, 0);
    for (u32 i = 0; i < plan_.sub_proofs(); ++i) {
      if (cancelled && cancelled()) return false;
      base.absorb_digest("main root", i < plan_.group_count ? prover::Digest{} : main_root(i));
    }
    const prover::Challenges challenges = prover::draw_lookup_challenges(base);
    counts_.assign(kRange16Rows, 0);
    for (u32 i = 0; i < plan_.sub_proofs(); ++i) {
      if (cancelled && cancelled()) return false;
      emit(sub_proof(i, base.fork("sub-proof", i), challenges));
    }
    return true;
  }

 private:
  static constexpr size_t kRange16Rows = size_t{1} << 16;

  bool is_last(u32 index) const { return index + 1 == plan_.sub_proofs(); }

  prover::Digest main_root(u32 index) {
    Session session = begin(index);
    return session.commit(is_last(index) ? u32{kLastMainTree} : 0);
  }

  std::vector<u64> sub_proof(u32 index, prover::Transcript transcript,
                             const prover::Challenges& challenges) {
    Session session = begin(index);
    std::vector<u64> words(5, 0);
    for (u32 t = 0; t < layout_->shape.base_tree_count; ++t) {
      const prover::Digest root = session.commit(t);
      if (index < plan_.group_count) {
        if (root != boundaries_.root(first_label(index) + t)) {
          // A backend that computes wrongly now, or did then: for its owner to prove again.
          throw std::runtime_error("the boundary of epoch " +
                                   std::to_string(first_label(index) + t) +
                                   " does not have the root that its epoch's proof has");
        }
      } else if (t + 1 == layout_->shape.base_tree_count) {
        std::copy_n(root.words, 4, words.begin() + 1);
      }
    }
    prover::prove_argument(session, transcript, challenges, words);
    close_record(words);
    return words;
  }

  u32 first_label(u32 group) const { return group * params_.preset->group_size + 1; }

  /// A session with its base traces filled.
  Session begin(u32 index) {
    sources_.clear();
    if (index < plan_.group_count) {
      begin_group(index);
    } else {
      begin_anchors(index);
    }
    Session session(backend_, *layout_);
    if (is_last(index)) session.load_fixed(kLastFixedTree, key_.global_fixed);
    const prover::LookupSpec lookup = range16_lookup(is_last(index) ? 0 : prover::kNone, &counts_);
    session.fill(sources_, {&lookup, 1});
    return session;
  }

  void begin_group(u32 group) {
    const u32 first = first_label(group);
    const u32 count = std::min(params_.preset->group_size, plan_.epochs - (first - 1));
    u32 heights[prover::kBaseTreesMax];
    rows_.resize(count);
    for (u32 i = 0; i < count; ++i) {
      heights[i] = boundaries_.log_height(first + i);
      rows_[i] = boundaries_.rows(first + i);
      sources_.push_back(chips::boundary_source(ChipId::kBoundaryGlobal, rows_[i].data(),
                                                rows_[i].size(), first + i));
    }
    EPOCHD_ASSERT(group_layout(first, heights, count, *params_.preset, *layout_));
  }

  void begin_anchors(u32 index) {
    const u32 chunk = index - plan_.group_count;
    const size_t first = size_t{chunk} << params_.preset->log_anchor_chunk;
    const size_t rows = anchor_chunk_rows(plan_, chunk, *params_.preset);
    const u32 height = anchor_chunk_height(plan_, chunk, *params_.preset);
    const prover::TableSource anchors = chips::anchor_source(
        ends_.anchors.data() + first, ends_.anchor_previous.data() + first, rows);
    if (!is_last(index)) {
      sources_.push_back(anchors);
      EPOCHD_ASSERT(chunk_layout(height, *params_.preset, *layout_));
      return;
    }
    sources_.push_back(chips::counter_source(ChipId::kRange16));
    sources_.push_back(anchors);
    sources_.push_back(chips::image_source(ends_.image.data(), ends_.image.size()));
    EPOCHD_ASSERT(last_layout(height, key_.vk, *params_.preset, *layout_));
  }

  const Backend& backend_;
  const ProvingKey& key_;
  const RunParams& params_;
  const BoundaryStore& boundaries_;
  const RunMemory::Ends& ends_;
  GlobalPlan plan_;
  std::unique_ptr<prover::Layout> layout_;
  std::vector<std::vector<BoundaryRecord>> rows_;
  std::vector<prover::TableSource> sources_;
  std::vector<u64> counts_;
};

}  // namespace epochd
