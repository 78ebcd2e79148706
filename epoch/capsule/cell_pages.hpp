// Something for every cell of memory, in pages that exist only where it was asked for. Pages are
// found through blocks of pages, so that what touches little memory costs little.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "epoch/machine.hpp"

namespace epochd {

constexpr u32 kPageCells = 1024;
constexpr u32 kPageCount = kCellCount / kPageCells;

template <class T>
class CellPages {
 public:
  using Page = std::array<T, kPageCells>;

  /// Null where there is none.
  const Page* find(u32 page) const {
    const auto& block = blocks_[page / kBlockPages];
    return block == nullptr ? nullptr : (*block)[page % kBlockPages].get();
  }
  /// A new one is all zeros.
  Page& get(u32 page) {
    auto& block = blocks_[page / kBlockPages];
    if (block == nullptr) block = std::make_unique<Block>();
    auto& found = (*block)[page % kBlockPages];
    if (found == nullptr) found = std::make_unique<Page>();
    return *found;
  }
  /// Calls visit(index, page) for every page there is, ascending.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (u32 b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b] == nullptr) continue;
      for (u32 p = 0; p < kBlockPages; ++p) {
        if ((*blocks_[b])[p] != nullptr)
          visit(b * kBlockPages + p, std::as_const(*(*blocks_[b])[p]));
      }
    }
  }

 private:
  static constexpr u32 kBlockPages = 1024;
  using Block = std::array<std::unique_ptr<Page>, kBlockPages>;
  static_assert(kPageCount % kBlockPages == 0);

  std::array<std::unique_ptr<Block>, kPageCount / kBlockPages> blocks_;
};

}  // namespace epochd
