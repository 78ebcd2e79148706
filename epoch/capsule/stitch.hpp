// The stitch ties the epochs' memories together: it knows, for every key, the label of the last
// epoch that touched it. Sealing is sequential, in label order; everything after it is not.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "epoch/capsule/capsule.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd {

/// One label per key, in pages that exist only where a key was touched.
class LabelMap {
 public:
  LabelMap() : pages_(kCellCount / kPageCells) {}

  /// 0 for a key never touched. Pre: `key` is a key of the machine.
  u32 get(u32 key) const {
    if (key >= kRegBase) return registers_[key - kRegBase];
    const auto& page = pages_[key / kPageCells];
    return page == nullptr ? 0 : (*page)[key % kPageCells];
  }
  /// Returns the label it replaces.
  u32 exchange(u32 key, u32 label);

  /// Calls visit(key, label) for every touched key, ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    for (u32 p = 0; p < pages_.size(); ++p) {
      if (pages_[p] == nullptr) continue;
      for (u32 i = 0; i < kPageCells; ++i) {
        if ((*pages_[p])[i] != 0) visit(p * kPageCells + i, (*pages_[p])[i]);
      }
    }
    for (u32 r = 0; r < kRegisterKeyCount; ++r) {
      if (registers_[r] != 0) visit(kRegBase + r, registers_[r]);
    }
  }

 private:
  static constexpr u32 kPageCells = 1024;
  std::vector<std::unique_ptr<std::array<u32, kPageCells>>> pages_;
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

 private:
  prover::Digest program_;
  u32 next_label_ = 1;
  LabelMap labels_;
};

}  // namespace epochd
