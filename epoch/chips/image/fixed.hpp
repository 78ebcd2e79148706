// The fixed columns of image: row i is the i-th image cell, rows past the last are zero.
#pragma once

#include <span>

#include "epoch/chips/fill_row.hpp"
#include "epoch/chips/image/air.hpp"
#include "epoch/isa/program.hpp"

namespace epochd::chips {

template <>
struct FixedFill<ImageAir> {
  /// Pre: cells are sorted by key, each key once.
  template <class Row>
  static void fill(std::span<const ImageCell> cells, u32 index, Row& row) {
    const bool is_real = index < cells.size();
    const ImageCell cell = is_real ? cells[index] : ImageCell{};
    row.set(ImageAir::kReal, is_real ? 1 : 0);
    row.set(ImageAir::kKey, cell.key);
    set_word(row, ImageAir::kInitLo, cell.value);
  }
};

}  // namespace epochd::chips
