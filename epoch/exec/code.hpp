// The program made ready for interpretation: one entry per instruction word, so that the next
// instruction is the next entry and every static target is an index.
#pragma once

#include <span>
#include <vector>

#include "epoch/isa/program.hpp"

namespace epochd {

class Code {
 public:
  /// An instruction, or (op = kNone) a place that holds none and faults when reached.
  struct Entry {
    u64 imm = 0;
    u64 registers = 0;  ///< bit k: the row accesses register k (33: the sink)
    u32 pc = 0;
    u32 target = 0;  ///< branch, JAL: entry index of the target
    u32 row = 0;     ///< index into Program::rows()
    Op op = Op::kNone;
    u8 rd = 0;
    u8 rs1 = 0;  ///< ecall: 17
    u8 rs2 = 0;  ///< ecall: 10
  };
  static_assert(sizeof(Entry) == 32);

  /// The entry of a jump outside every executable segment; its pc is meaningless.
  static constexpr u32 kOutside = 0;

  /// Pre: `program` outlives this.
  explicit Code(const Program& program);

  const Program& program() const { return *program_; }
  std::span<const Entry> entries() const { return entries_; }
  /// Index of the entry at `pc`; kOutside if it is no word of an executable segment.
  u32 index_of(u64 pc) const {
    // One or two ranges in practice: the first comparison nearly always decides.
    size_t low = 0, high = ranges_.size();
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (ranges_[middle].pc <= pc ? low : high) = middle;
    }
    if (high == 0) return kOutside;
    const u64 offset = pc - ranges_[low].pc;
    return offset < ranges_[low].bytes && pc % 4 == 0
               ? ranges_[low].first + static_cast<u32>(offset / 4)
               : kOutside;
  }

 private:
  struct Range {
    u32 pc, bytes, first;
  };
  void add_range(const CodeRange& range);
  u32 target_index(u32 pc);

  const Program* program_;
  std::vector<Entry> entries_;
  std::vector<Range> ranges_;
};

}  // namespace epochd
