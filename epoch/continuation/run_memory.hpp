// The run's memory as the global proof sees it: for every key any epoch touched, its first and its
// last value and the label that last touched it. Grows with the memory a program touches, not with
// the number of epochs.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "epoch/capsule/cell_pages.hpp"
#include "epoch/chips/fills.hpp"
#include "epoch/continuation/proof_format.hpp"
#include "epoch/isa/program.hpp"

namespace epochd {

class RunMemory {
 public:
  /// The boundary rows of epoch `label`. Pre: epochs in label order.
  void absorb(u32 label, std::span<const BoundaryRecord> rows);
  /// As if the epochs had been absorbed that left these keys, from first_key on, as they are:
  /// touched last by the labels given (0: never), `genesis` at the start of the run, `values` now.
  /// Pre: pages of 1024 cells in a row, or the registers. Threads: any, for different pages.
  void restore(u32 first_key, std::span<const u32> labels, std::span<const u64> genesis,
               std::span<const u64> values);
  /// A hint: all of these pages of cells are about to be restored.
  void expect(u32 first_key, u32 count) const {
    pages_.expect(first_key / kPageCells, count / kPageCells);
  }

  /// Rows of the anchor and image tables, and the chain ends.
  struct Ends {
    std::vector<AnchorRecord> anchors;  ///< keys ascending
    std::vector<u64> anchor_previous;
    std::vector<chips::ImageEnd> image;  ///< one per image cell
    std::array<u64, kRegionCount> last_keys{};
  };
  /// Pre: `image` is the program's, keys ascending.
  Ends finish(std::span<const ImageCell> image) const;

 private:
  struct State {
    u64 init = 0;
    u64 fini = 0;
    u32 fini_epoch = 0;  ///< 0: not touched
  };
  using Page = CellPages<State>::Page;

  State& at(u32 key);
  const State* find(u32 key) const;
  template <class Visit>
  void for_each(const Visit& visit) const;

  CellPages<State> pages_;
  Page registers_{};
};

}  // namespace epochd
