// The program as the proof sees it: the rows of the Program table and the image cells, both fixed
// by the ELF. The verifier computes the fixed tables from this class, so it stands apart from the
// executor.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "epoch/isa/elf.hpp"
#include "epoch/isa/opcode.hpp"

namespace epochd {

/// A cell with at least one file-backed byte; its other bytes are 0.
struct ImageCell {
  u32 key;
  u64 value;
  bool operator==(const ImageCell&) const = default;
};

/// A run of consecutive instruction words: the file-backed words of one executable segment.
struct CodeRange {
  u32 pc;                      ///< of the first word
  std::vector<u32> words;      ///< as in the file
  std::vector<u32> row_index;  ///< per word: index into rows(), or Program::kNoRow
};

class Program {
 public:
  static constexpr u32 kNoRow = ~0u;

  explicit Program(ElfImage image);

  u32 entry() const { return image_.entry; }
  /// One row per decodable word, pc increasing.
  std::span<const ProgramRow> rows() const { return rows_; }
  /// Index into rows() of the instruction at `pc`, or kNoRow.
  u32 row_index(u64 pc) const;
  /// The instruction word at `pc`, decodable or not.
  std::optional<u32> word_at(u64 pc) const;
  std::span<const CodeRange> code() const { return code_; }
  /// Keys ascending.
  std::span<const ImageCell> image_cells() const { return cells_; }
  const ElfImage& elf() const { return image_; }

 private:
  const CodeRange* find_range(u64 pc) const;
  void add_code(const ElfSegment& segment);
  void add_cells(const ElfSegment& segment);

  ElfImage image_;
  std::vector<ProgramRow> rows_;
  std::vector<CodeRange> code_;
  std::vector<ImageCell> cells_;
};

}  // namespace epochd
