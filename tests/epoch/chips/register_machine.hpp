// A register file with token times, for chip tests: it makes the Program rows and records of a
// straight run of instructions, takes every result from the reference semantics, and knows what
// each bus must sum to. If a chip's rows balance against it, every value a row passed on (rd, pc,
// times) is the reference's.
#pragma once

#include "tests/epoch/chips/harness.hpp"
#include "tests/epoch/chips/semantics.hpp"

namespace epochd::chips::harness {

class RegisterMachine {
 public:
  explicit RegisterMachine(u32 pc = 0x10000) : pc_(pc) {
    prover::add_tuple(outside_, id(Bus::kState), {pc_, ts_}, Fp::one());
  }

  /// Gives a register a value, as some earlier instruction of another chip would.
  void poke(u32 reg, u64 value) {
    if (reg == 0) return;
    const u32 key = kRegBase + reg;
    retire(key);
    tokens_[key] = {ts_ - 1, value};
    issue(key);
  }
  /// Continues at another pc, as after a jump.
  void poke_pc(u32 pc) {
    prover::add_tuple(outside_, id(Bus::kState), {pc_, ts_}, -Fp::one());
    pc_ = pc;
    prover::add_tuple(outside_, id(Bus::kState), {pc_, ts_}, Fp::one());
  }
  u64 value(u32 reg) { return token(kRegBase + reg).value; }
  u32 pc() const { return pc_; }
  u32 ts() const { return ts_; }

  /// One instruction of the shape rd <- rs1, rs2, imm. With `reads_rs1`/`reads_rs2` false the chip
  /// makes no such access.
  void alu(Op op, u32 rd, u32 rs1, u32 rs2, u64 imm, bool reads_rs1 = true, bool reads_rs2 = true) {
    if (rd == 0) rd = kSinkRegister;
    InstructionRecord r{};
    r.program_row = static_cast<u32>(program_.size());
    r.ts = ts_;
    program_.push_back(
        {pc_, op, static_cast<u8>(rd), static_cast<u8>(rs1), static_cast<u8>(rs2), imm});
    if (reads_rs1) touch(kRegBase + rs1, ts_ + kSubRs1, r.t_rs1, r.rs1);
    if (reads_rs2) touch(kRegBase + rs2, ts_ + kSubRs2, r.t_rs2, r.rs2);
    touch(kRegBase + rd, ts_ + kSubRd, r.t_rd, r.rd_old);
    tokens_[kRegBase + rd].value = reference_result(op, pc_, r.rs1, r.rs2, imm);
    pc_ += 4;
    records_.push_back(r);
    ts_ += kTicksPerCycle;
  }

  const std::vector<ProgramRow>& program() const { return program_; }
  const std::vector<InstructionRecord>& records() const { return records_; }

  /// Constraints hold, lookups are in their tables, and State, Memory and Program balance.
  template <class Air>
  void expect_matches(const ChipTrace<Air>& trace) const {
    expect_honest(trace);
    BusBalance balance;
    prover::add_interactions(trace.view(), balance);
    for (const auto& [tuple, multiplicity] : finished()) {
      prover::add_tuple(balance, static_cast<u8>(tuple[0]), {tuple.begin() + 1, tuple.end()},
                        multiplicity);
    }
    for (const auto& [tuple, multiplicity] : balance) {
      if (is_lookup(static_cast<Bus>(tuple[0]))) continue;
      std::string text;
      for (const u64 v : tuple) text += " " + std::to_string(v);
      ADD_FAILURE() << Air::kName << ": bus tuple" << text << " is left with "
                    << multiplicity.value();
    }
  }

 protected:
  struct Token {
    u32 t;
    u64 value;
  };
  static u8 id(Bus bus) { return static_cast<u8>(bus); }
  static bool is_lookup(Bus bus) {
    return bus == Bus::kRange16 || bus == Bus::kSign16 || bus == Bus::kAlign || bus == Bus::kBytes;
  }
  /// A key first touched starts at time 0 with value 0, sent by the boundary.
  Token& token(u32 key) {
    const auto [it, is_new] = tokens_.try_emplace(key, Token{0, 0});
    if (is_new) issue(key);
    return it->second;
  }
  void touch(u32 key, u32 t, u32& t_prev, u64& old) {
    Token& held = token(key);
    t_prev = held.t;
    old = held.value;
    held.t = t;
  }
  void issue(u32 key) { memory(key, tokens_[key], Fp::one()); }
  void retire(u32 key) { memory(key, token(key), -Fp::one()); }
  void memory(u32 key, const Token& t, Fp sign) {
    prover::add_tuple(outside_, id(Bus::kMemory), {key, t.t, t.value & 0xffffffff, t.value >> 32},
                      sign);
  }
  /// What everything outside the chip puts on the buses, ends of all chains included.
  BusBalance finished() const {
    BusBalance all = outside_;
    const Fp minus = -Fp::one();
    prover::add_tuple(all, id(Bus::kState), {pc_, ts_}, minus);
    for (const auto& [key, t] : tokens_) {
      prover::add_tuple(all, id(Bus::kMemory), {key, t.t, t.value & 0xffffffff, t.value >> 32},
                        minus);
    }
    for (const ProgramRow& p : program_) {
      prover::add_tuple(
          all, id(Bus::kProgram),
          {p.pc, static_cast<u64>(p.op), p.rd, p.rs1, p.rs2, p.imm & 0xffffffff, p.imm >> 32},
          minus);
    }
    return all;
  }

  u32 pc_;
  u32 ts_ = kFirstTs;
  std::map<u32, Token> tokens_;
  BusBalance outside_;
  std::vector<ProgramRow> program_;
  std::vector<InstructionRecord> records_;
};

}  // namespace epochd::chips::harness
