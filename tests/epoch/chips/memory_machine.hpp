// RegisterMachine with branches, jumps, loads, stores and system calls. The reference reads and
// writes memory one byte at a time, as the manual defines it; it shares nothing with `fill` or
// `eval`.
#pragma once

#include "tests/epoch/chips/register_machine.hpp"

namespace epochd::chips::harness {

/// Bytes an access moves.
inline u32 access_width(Op op) {
  switch (op) {
    case Op::kLb:
    case Op::kLbu:
    case Op::kSb:
      return 1;
    case Op::kLh:
    case Op::kLhu:
    case Op::kSh:
      return 2;
    case Op::kLw:
    case Op::kLwu:
    case Op::kSw:
      return 4;
    default:
      return 8;
  }
}
/// A loaded value, extended as the operation says.
inline u64 extend_loaded(Op op, u64 raw) {
  switch (op) {
    case Op::kLb:
      return raw < 0x80 ? raw : raw + 0xffffffffffffff00;
    case Op::kLh:
      return raw < 0x8000 ? raw : raw + 0xffffffffffff0000;
    case Op::kLw:
      return raw < 0x80000000 ? raw : raw + 0xffffffff00000000;
    default:
      return raw;
  }
}
inline bool branch_taken(Op op, u64 a, u64 b) {
  switch (op) {
    case Op::kBeq:
      return a == b;
    case Op::kBne:
      return a != b;
    case Op::kBlt:
      return as_signed(a) < as_signed(b);
    case Op::kBge:
      return as_signed(a) >= as_signed(b);
    case Op::kBltu:
      return a < b;
    case Op::kBgeu:
      return a >= b;
    default:
      ADD_FAILURE() << "no branch";
      return false;
  }
}

class MemoryMachine : public RegisterMachine {
 public:
  using RegisterMachine::RegisterMachine;

  /// Gives a cell a value, as some earlier store would.
  void poke_cell(u32 cell, u64 value) {
    retire(cell);
    tokens_[cell] = {ts_ - 1, value};
    issue(cell);
  }
  u64 cell(u32 key) { return token(key).value; }

  void branch(Op op, u32 rs1, u32 rs2, u32 target) {
    InstructionRecord& r = begin(op, 0, rs1, rs2, target);
    touch(kRegBase + rs1, ts_ + kSubRs1, r.t_rs1, r.rs1);
    touch(kRegBase + rs2, ts_ + kSubRs2, r.t_rs2, r.rs2);
    end(branch_taken(op, r.rs1, r.rs2) ? target : pc_ + 4);
  }
  void jal(u32 rd, u32 target) {
    InstructionRecord& r = begin(Op::kJal, rd == 0 ? kSinkRegister : rd, 0, 0, target);
    write_rd(r, pc_ + 4);
    end(target);
  }
  void jalr(u32 rd, u32 rs1, u64 imm) {
    InstructionRecord& r = begin(Op::kJalr, rd == 0 ? kSinkRegister : rd, rs1, 0, imm);
    touch(kRegBase + rs1, ts_ + kSubRs1, r.t_rs1, r.rs1);
    write_rd(r, pc_ + 4);
    end(static_cast<u32>((r.rs1 + imm) & ~1ull));
  }
  /// Pre: the access lies in one cell and below 2^32.
  void load(Op op, u32 rd, u32 rs1, u64 imm) {
    InstructionRecord& r = begin(op, rd == 0 ? kSinkRegister : rd, rs1, 0, imm);
    touch(kRegBase + rs1, ts_ + kSubRs1, r.t_rs1, r.rs1);
    const u64 at = r.rs1 + imm;
    u64 raw = 0;
    for (u32 i = access_width(op); i-- > 0;) raw = raw * 256 + byte_at(at + i);
    touch(static_cast<u32>(at / 8), ts_ + kSubMem, r.t_mem, r.mem);
    write_rd(r, extend_loaded(op, raw));
    end(pc_ + 4);
  }
  void store(Op op, u32 rs1, u32 rs2, u64 imm) {
    InstructionRecord& r = begin(op, 0, rs1, rs2, imm);
    touch(kRegBase + rs1, ts_ + kSubRs1, r.t_rs1, r.rs1);
    touch(kRegBase + rs2, ts_ + kSubRs2, r.t_rs2, r.rs2);
    const u64 at = r.rs1 + imm;
    touch(static_cast<u32>(at / 8), ts_ + kSubMem, r.t_mem, r.mem);
    u64 rest = r.rs2;
    for (u32 i = 0; i < access_width(op); ++i, rest /= 256) set_byte(at + i, rest % 256);
    end(pc_ + 4);
  }
  /// Reads a7 and a0 as they stand.
  void ecall() {
    InstructionRecord& r = begin(Op::kEcall, 0, 0, 0, 0);
    touch(kRegBase + 17, ts_ + kSubRs1, r.t_rs1, r.rs1);
    touch(kRegBase + 10, ts_ + kSubRs2, r.t_rs2, r.rs2);
    const Fp minus = -Fp::one();
    const u64 lo = r.rs2 & 0xffffffff;
    const u64 hi = r.rs2 >> 32;
    if (r.rs1 == 1) {
      touch(kOutputCounterKey, ts_ + kSubRd, r.t_rd, r.rd_old);
      tokens_[kOutputCounterKey].value = r.rd_old + 1;
      prover::add_tuple(outside_, id(Bus::kOutput), {r.rd_old, lo, hi}, minus);
    }
    if (r.rs1 == 93) prover::add_tuple(outside_, id(Bus::kExit), {lo, hi}, minus);
    end(r.rs1 == 93 ? 1 : pc_ + 4);
  }

 protected:
  InstructionRecord& begin(Op op, u32 rd, u32 rs1, u32 rs2, u64 imm) {
    InstructionRecord r{};
    r.program_row = static_cast<u32>(program_.size());
    r.ts = ts_;
    program_.push_back(
        {pc_, op, static_cast<u8>(rd), static_cast<u8>(rs1), static_cast<u8>(rs2), imm});
    records_.push_back(r);
    return records_.back();
  }
  void end(u32 next_pc) {
    pc_ = next_pc;
    ts_ += kTicksPerCycle;
  }
  void write_rd(InstructionRecord& r, u64 value) {
    const u32 key = kRegBase + program_.back().rd;
    touch(key, ts_ + kSubRd, r.t_rd, r.rd_old);
    tokens_[key].value = value;
  }
  u64 byte_at(u64 address) {
    u64 value = token(static_cast<u32>(address / 8)).value;
    for (u64 i = 0; i < address % 8; ++i) value /= 256;
    return value % 256;
  }
  void set_byte(u64 address, u64 byte) {
    u64 weight = 1;
    for (u64 i = 0; i < address % 8; ++i) weight *= 256;
    u64& value = token(static_cast<u32>(address / 8)).value;
    value += byte * weight - byte_at(address) * weight;
  }
};

/// A constraint of this name is among those violated, or a lookup of this name fails.
inline void expect_objects(const Verdict& verdict, const std::string& label) {
  EXPECT_TRUE(verdict.violated.count(label) != 0 || verdict.bad_lookups.count(label) != 0)
      << label << " does not object: " << verdict;
}

}  // namespace epochd::chips::harness
