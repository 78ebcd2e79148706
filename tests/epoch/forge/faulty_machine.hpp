// A machine that can be made to err: executes a guest one instruction at a time, lets a fault
// change what an instruction does, and carries on from there, so that everything downstream of the
// lie is consistent with it. Written for forging, apart from the executor that it is also compared
// with.
#pragma once

#include <functional>
#include <map>

#include "tests/epoch/continuation/run_fixture.hpp"

namespace epochd::testing {

/// One instruction with its honest effects, before they happen. A fault sees it twice: when its
/// operands are read (it may then change `address`), and when all of it is computed.
struct Step {
  enum class Stage : u8 { kOperands, kEffects };
  Stage stage = Stage::kOperands;
  Code::Entry instruction;
  u32 cycle = 0;  ///< within the epoch
  InstructionRecord record{};
  u64 address = 0;  ///< of a load or store
  u64 mem2 = 0;
  u32 t_mem2 = 0;
  u64 rd_value = 0;  ///< where the instruction writes rd
  u64 stored = 0;    ///< where it stores: the cell afterwards
  u64 stored2 = 0;   ///< and the next one, if the access crosses
  u32 next_pc = 0;
  bool exits = false;

  bool is_at(Op op) const { return stage == Stage::kEffects && instruction.op == op; }
  bool is_unaligned() const;
  bool crosses() const;
};

class FaultyMachine {
 public:
  using Fault = std::function<void(Step&)>;

  FaultyMachine(const Guest& g, const std::vector<u8>& input);

  bool halted() const { return halted_; }
  /// Runs up to `cycles` instructions as the next epoch.
  EpochRecords run_epoch(u32 cycles, const Fault& fault = {});
  u64 get(u32 key) const;
  /// Changes a key's value behind the program's back.
  void set(u32 key, u64 value) { memory_[key].value = value; }
  /// As if no epoch had touched the key before.
  void forget(u32 key, u64 value) { memory_[key] = {value, 0}; }
  void set_pc(u32 pc) { pc_ = pc; }

 private:
  struct Cell {
    u64 value = 0;
    u32 label = 0;  ///< of the epoch that touched it last
  };
  struct Token {
    u64 init = 0;
    u32 init_epoch = 0;
    u32 time = 0;
  };

  u64 access(u32 key, u32 time, u32& previous);
  Step begin(u32 cycle, const Code::Entry& e);
  void reach_memory(Step& s);
  void compute(Step& s);
  void call(Step& s);
  void commit(const Step& s);
  void append(const Step& s);

  const Guest& g_;
  std::map<u32, Cell> memory_;
  std::map<u32, Token> tokens_;  ///< of the current epoch
  EpochRecords out_;
  u32 pc_;
  u32 label_ = 0;
  bool halted_ = false;
};

/// Runs to the end in epochs of the guest's size.
std::vector<EpochRecords> run_faulty(const Guest& g, const std::vector<u8>& input,
                                     const FaultyMachine::Fault& fault = {});

}  // namespace epochd::testing
