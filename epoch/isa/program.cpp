#include "epoch/isa/program.hpp"

#include <algorithm>

#include "epoch/isa/decode.hpp"

namespace epochd {

Program::Program(ElfImage image) : image_(std::move(image)) {
  for (const ElfSegment& segment : image_.segments) {
    if (segment.executable) add_code(segment);
    add_cells(segment);
  }
}

void Program::add_code(const ElfSegment& segment) {
  CodeRange range{segment.address, {}, {}};
  const size_t count = segment.bytes.size() / 4;  // a trailing part of a word is no instruction
  range.words.reserve(count);
  range.row_index.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const u8* b = segment.bytes.data() + 4 * i;
    const u32 word = b[0] | static_cast<u32>(b[1]) << 8 | static_cast<u32>(b[2]) << 16 |
                     static_cast<u32>(b[3]) << 24;
    const auto row = decode(static_cast<u32>(segment.address + 4 * i), word);
    range.words.push_back(word);
    range.row_index.push_back(row ? static_cast<u32>(rows_.size()) : kNoRow);
    if (row) rows_.push_back(*row);
  }
  if (count > 0) code_.push_back(std::move(range));
}

void Program::add_cells(const ElfSegment& segment) {
  for (size_t i = 0; i < segment.bytes.size(); ++i) {
    const u32 address = static_cast<u32>(segment.address + i);
    const u32 key = address / 8;
    // Segments ascend, but two may meet within one cell.
    if (cells_.empty() || cells_.back().key != key) cells_.push_back({key, 0});
    cells_.back().value |= static_cast<u64>(segment.bytes[i]) << (8 * (address % 8));
  }
}

const CodeRange* Program::find_range(u64 pc) const {
  const auto after = std::upper_bound(code_.begin(), code_.end(), pc,
                                      [](u64 a, const CodeRange& r) { return a < r.pc; });
  if (pc % 4 != 0 || after == code_.begin()) return nullptr;
  const CodeRange& range = *std::prev(after);
  return (pc - range.pc) / 4 < range.words.size() ? &range : nullptr;
}

u32 Program::row_index(u64 pc) const {
  const CodeRange* range = find_range(pc);
  return range == nullptr ? kNoRow : range->row_index[(pc - range->pc) / 4];
}

std::optional<u32> Program::word_at(u64 pc) const {
  const CodeRange* range = find_range(pc);
  if (range == nullptr) return std::nullopt;
  return range->words[(pc - range->pc) / 4];
}

}  // namespace epochd
