// The host's copy of what a device session commits: traces, extensions, trees and FRI layers, and
// the query data read from them. Host code without CUDA; whoever has a device copies into it.
//
// A copy counts as there when it was put there, never because it was meant to be.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda/session/buffers.hpp"
#include "cuda/session/residency.hpp"
#include "prover/pcs/fixed_tree.hpp"
#include "prover/prove/table_source.hpp"

namespace epochd::cuda {

class HostMirror {
 public:
  using FixedTreePtr = std::shared_ptr<const prover::FixedTree>;

  /// Of nothing: every copy stays empty.
  HostMirror() = default;
  /// In memory of someone else, mirror_bytes(layout) of it at least; it outlives this.
  HostMirror(const prover::Layout& layout, u8* memory);

  /// Where to copy to. Empty for fixed columns, whose data the key has, and in a mirror of nothing.
  std::span<u64> place_of_trace(u32 segment) const { return at(traces_, segment).place; }
  std::span<u64> place_of_lde(u32 segment) const { return at(ldes_, segment).place; }
  std::span<u64> place_of_tree(u32 tree) const { return at(trees_, tree).place; }
  std::span<u64> place_of_fri_word(u32 step) const { return at(words_, step).place; }
  std::span<u64> place_of_fri_tree(u32 step) const { return at(layer_trees_, step).place; }
  /// To be called when the copies have arrived.
  void arrived_tree(u32 tree);
  void arrived_fri_layer(u32 step);
  void set_fixed(u32 tree, FixedTreePtr fixed);

  bool is_of_nothing() const { return layout_ == nullptr; }
  /// Whether a table lacks its trace or its extension here, read from the copies themselves.
  bool is_trace_empty(const prover::Layout& layout, u32 table) const;

  /// Appends what the device session's gather appends. Errors: ResidencyError(kHostTraceEmpty) at
  /// the first table whose copy is not there; `why` says what made it necessary.
  void gather(const prover::Layout& layout, std::span<const u32> queries, std::vector<u64>& words,
              const std::string& why = "") const;

  /// Compares a table's trace with the rows that its source writes on the host.
  /// Errors: ResidencyError(kWrongRows), naming the first difference; kHostTraceEmpty.
  void check_rows(u32 table, const prover::TableSource& source) const;

 private:
  struct Copy {
    std::span<u64> place;
    bool is_there = false;
  };

  static Copy at(const std::vector<Copy>& copies, u32 index);
  const prover::Fp* extension(const prover::Layout& layout, u32 tree, u32 segment,
                              const std::string& why) const;
  void gather_rows(const prover::Layout& layout, u32 tree, std::span<const u32> queries,
                   std::vector<u64>& words, const std::string& why) const;
  void gather_siblings(const prover::Layout& layout, u32 tree, std::span<const u32> queries,
                       std::vector<u64>& words) const;

  friend size_t mirror_bytes(const prover::Layout& layout);

  const prover::Layout* layout_ = nullptr;
  size_t bytes_ = 0;
  std::vector<Copy> traces_;         ///< by segment
  std::vector<Copy> ldes_;           ///< by segment
  std::vector<Copy> trees_;          ///< by tree
  std::vector<Copy> words_;          ///< by FRI step
  std::vector<Copy> layer_trees_;    ///< by FRI step
  std::vector<FixedTreePtr> fixed_;  ///< by tree
};

/// What a message calls the table of a segment.
std::string table_name(const prover::Layout& layout, u32 segment);

/// Bytes of the mirror of one layout.
size_t mirror_bytes(const prover::Layout& layout);

}  // namespace epochd::cuda
