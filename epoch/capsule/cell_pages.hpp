// Something for every cell of memory, in pages that take memory only where they were asked for.
// They lie side by side in one range of addresses, so that pages in a row can be made at once.
#pragma once

#include <array>
#include <atomic>

#include "epoch/exec/reservation.hpp"
#include "epoch/machine.hpp"

namespace epochd {

constexpr u32 kPageCells = 1024;
constexpr u32 kPageCount = kCellCount / kPageCells;

template <class T>
class CellPages {
 public:
  using Page = std::array<T, kPageCells>;

  /// Errors: throws std::system_error when the host refuses the address space.
  CellPages() : pages_(u64{kPageCount} * sizeof(Page)), is_there_(kPageCount) {}

  /// Null where there is none.
  const Page* find(u32 page) const {
    return has(page) ? static_cast<const Page*>(pages_.data()) + page : nullptr;
  }
  /// A new one is all zeros. Threads: any, for different pages.
  Page& get(u32 page) {
    std::atomic_ref(has_block_[page / kBlockPages]).store(1, std::memory_order_relaxed);
    flags()[page] = 1;
    return static_cast<Page*>(pages_.data())[page];
  }
  /// A hint: these pages are about to be asked for and filled.
  void expect(u32 first, u32 count) const {
    pages_.expect(u64{first} * sizeof(Page), u64{count} * sizeof(Page));
  }
  /// Calls visit(index, page) for every page there is, ascending.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (u32 b = 0; b < has_block_.size(); ++b) {
      if (has_block_[b] == 0) continue;
      for (u32 p = b * kBlockPages; p < (b + 1) * kBlockPages; ++p) {
        if (const Page* const page = find(p)) visit(p, *page);
      }
    }
  }

 private:
  static constexpr u32 kBlockPages = 1024;
  static_assert(kPageCount % kBlockPages == 0);

  // Of blocks without a page nothing is looked at: that would take memory for their flags.
  bool has(u32 page) const { return has_block_[page / kBlockPages] != 0 && flags()[page] != 0; }
  u8* flags() const { return static_cast<u8*>(is_there_.data()); }

  Reservation pages_;
  Reservation is_there_;  ///< a byte a page, so that threads may set neighbours
  std::array<u8, kPageCount / kBlockPages> has_block_{};
};

}  // namespace epochd
