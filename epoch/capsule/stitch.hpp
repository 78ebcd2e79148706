// The stitch ties the epochs' memories together: it knows, for every key, the label of the last
// epoch that touched it. Sealing is sequential, in label order; everything after it is not.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "epoch/capsule/capsule.hpp"
#include "epoch/capsule/cell_pages.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd {

/// One label per key, in pages that exist only where a key was touched.
class LabelMap {
 public:
  using Page = CellPages<u32>::Page;

  /// 0 for a key never touched. Pre: `key` is a key of the machine.
  u32 get(u32 key) const {
    if (key >= kRegBase) return registers_[key - kRegBase];
    const Page* const page = pages_.find(key / kPageCells);
    return page == nullptr ? 0 : (*page)[key % kPageCells];
  }
  /// Returns the label it replaces.
  u32 exchange(u32 key, u32 label);

  /// The labels of the registers, from kRegBase on.
  std::span<const u32> registers() const { return registers_; }
  /// The pages of cells of which one was touched: cell page * kPageCells and those after.
  const CellPages<u32>& pages() const { return pages_; }
  /// Pages of cells in a row, or all registers, as registers() and pages() gave them. Threads: any,
  /// for different pages.
  void set(u32 first_key, std::span<const u32> labels);
  /// A hint: all of these pages of cells are about to be set.
  void expect(u32 first_key, u32 count) const {
    pages_.expect(first_key / kPageCells, count / kPageCells);
  }

  /// Calls visit(key, label) for every touched key, ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    pages_.for_each([&](u32 p, const Page& page) {
      for (u32 i = 0; i < kPageCells; ++i) {
        if (page[i] != 0) visit(p * kPageCells + i, page[i]);
      }
    });
    for (u32 r = 0; r < kRegisterKeyCount; ++r) {
      if (registers_[r] != 0) visit(kRegBase + r, registers_[r]);
    }
  }

 private:
  CellPages<u32> pages_;
  std::array<u32, kRegisterKeyCount> registers_{};
};

class Stitch {
 public:
  /// `program` goes into every capsule.
  explicit Stitch(const prover::Digest& program) : program_(program) {}

  u32 next_label() const { return next_label_; }
  const LabelMap& labels() const { return labels_; }

  /// Seals the next epoch. Pre: `epoch` is the one after the last sealed, in the scout's order.
  Capsule seal(const ScoutEpoch& epoch);

  /// Resuming: notes that epoch `label` touched `key`, from its boundary rows. Epochs in label
  /// order.
  void restore(u32 key, u32 label);
  /// Resuming: labels as labels() gave them, pages of cells or all registers at a time, then the
  /// label of the next epoch. Threads: any, for different pages; expect_labels() before.
  void restore_labels(u32 first_key, std::span<const u32> labels) {
    labels_.set(first_key, labels);
  }
  void expect_labels(u32 first_key, u32 count) { labels_.expect(first_key, count); }
  void resume(u32 next_label) { next_label_ = next_label; }

 private:
  prover::Digest program_;
  u32 next_label_ = 1;
  LabelMap labels_;
};

}  // namespace epochd
