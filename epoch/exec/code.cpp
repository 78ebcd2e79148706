#include "epoch/exec/code.hpp"

#include "epoch/exec/access_shape.hpp"

namespace epochd {
namespace {

u64 register_mask(const ProgramRow& row) {
  const AccessShape shape = access_shape(row.op);
  if (row.op == Op::kEcall) return 1ull << kEcallNumberRegister | 1ull << kEcallArgumentRegister;
  return (shape.rs1 ? 1ull << row.rs1 : 0) | (shape.rs2 ? 1ull << row.rs2 : 0) |
         (shape.rd ? 1ull << row.rd : 0);
}

Code::Entry entry_of(const ProgramRow& row, u32 row_index) {
  Code::Entry entry{.imm = row.imm,
                    .registers = register_mask(row),
                    .pc = row.pc,
                    .row = row_index,
                    .op = row.op,
                    .rd = row.rd,
                    .rs1 = row.rs1,
                    .rs2 = row.rs2};
  if (row.op == Op::kEcall) {
    entry.rs1 = kEcallNumberRegister;
    entry.rs2 = kEcallArgumentRegister;
  }
  return entry;
}

bool has_static_target(Op op) {
  if (op == Op::kNone) return false;
  const ChipId chip = chip_of(op);
  return chip == ChipId::kBeq || chip == ChipId::kBlt || chip == ChipId::kJal;
}

}  // namespace

Code::Code(const Program& program) : program_(&program), entries_(1) {
  for (const CodeRange& range : program.code()) add_range(range);
  const size_t instructions = entries_.size();
  for (size_t i = 0; i < instructions; ++i) {
    if (!has_static_target(entries_[i].op)) continue;
    const u32 index = target_index(static_cast<u32>(entries_[i].imm));
    entries_[i].target = index;
  }
}

void Code::add_range(const CodeRange& range) {
  ranges_.push_back(
      {range.pc, static_cast<u32>(4 * range.words.size()), static_cast<u32>(entries_.size())});
  for (size_t i = 0; i <= range.words.size(); ++i) {
    // The last round is what comes after the last word: running into it faults.
    const u32 row = i < range.words.size() ? range.row_index[i] : Program::kNoRow;
    if (row == Program::kNoRow) {
      entries_.push_back({.pc = static_cast<u32>(range.pc + 4 * i)});
    } else {
      entries_.push_back(entry_of(program_->rows()[row], row));
    }
  }
}

u32 Code::target_index(u32 pc) {
  const u32 index = index_of(pc);
  if (index != kOutside) return index;
  entries_.push_back({.pc = pc});  // remembers where the jump went, for the fault's message
  return static_cast<u32>(entries_.size() - 1);
}

}  // namespace epochd
