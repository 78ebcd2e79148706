// Records used again for one epoch after the other, in memory of a fixed size.
#pragma once

#include <type_traits>

#include "epoch/exec/records.hpp"

namespace epochd {

/// Clears records for an epoch like the one they hold. Where the tables have room for more than
/// twice the rows, all is given back and taken anew, a quarter more than the rows there were:
/// otherwise each would keep its largest size of all epochs, in pieces between which nothing fits.
inline void recycle(EpochRecords& records) {
  const auto for_each = [&](const auto& visit) {
    for (auto& rows : records.instructions) visit(rows);
    visit(records.unaligned);
  };
  size_t used = 0;
  size_t held = 0;
  for_each([&](auto& rows) {
    used += rows.size();
    held += rows.capacity();
  });
  const bool is_loose = held > 2 * used;
  std::array<size_t, kInstructionChipCount + 1> wanted{};
  u32 table = 0;
  for_each([&](auto& rows) {
    wanted[table++] = rows.size() + rows.size() / 4;
    rows.clear();
    if (is_loose) std::remove_reference_t<decltype(rows)>(rows.get_allocator()).swap(rows);
  });
  table = 0;
  for_each([&](auto& rows) {
    const size_t count = wanted[table++];
    if (is_loose) rows.reserve(count);
  });
  records.refresh.clear();
  records.boundary.clear();
}

}  // namespace epochd
