// One attack: a program, what its machine gets wrong, and the cells changed to cover it up.
#pragma once

#include "tests/epoch/continuation/small_programs.hpp"
#include "tests/epoch/forge/faulty_machine.hpp"
#include "tests/epoch/forge/forge.hpp"

namespace epochd::testing {

using prover::Fp;

inline Fp fp(u64 v) {
  return Fp::from_u64(v);
}
inline Fp minus(u64 v) {
  return -Fp::from_u64(v);
}
inline Fp half() {
  return fp(2).inverse();
}

struct Attack {
  Guest g;
  std::vector<EpochRecords> epochs;
  RunForgery forgery;

  explicit Attack(const std::vector<u32>& code, const FaultyMachine::Fault& fault = {},
                  const std::vector<u64>& input = {}, u32 epoch_size_log2 = 10)
      : g(data_elf(code)) {
    g.params.epoch_size_log2 = epoch_size_log2;
    epochs = run_faulty(g, input.empty() ? std::vector<u8>{} : input_words(input), fault);
  }

  /// Runs another program, and fills the rows with its instructions.
  void execute_instead(const std::vector<u32>& code) {
    Guest other(data_elf(code));
    other.params = g.params;
    epochs = run_faulty(other, {});
    for (u32 label = 1; label <= epochs.size(); ++label) {
      forgery.epochs[label].rows = other.key.program;
    }
  }

  auto& records(ChipId chip, u32 label = 1) {
    return epochs[label - 1].instructions[static_cast<u32>(chip)];
  }
  /// Row of the instruction executed in `cycle` among its chip's.
  size_t row(ChipId chip, u32 cycle, u32 label = 1) {
    const u32 ts = 1 + 4 * cycle;
    if (chip == ChipId::kUnaligned) {
      const auto& list = epochs[label - 1].unaligned;
      for (size_t i = 0; i < list.size(); ++i) {
        if (list[i].base.ts == ts) return i;
      }
    } else {
      const auto& list = records(chip, label);
      for (size_t i = 0; i < list.size(); ++i) {
        if (list[i].ts == ts) return i;
      }
    }
    ADD_FAILURE() << "no row of this chip in cycle " << cycle;
    return 0;
  }
  InstructionRecord& record(ChipId chip, u32 cycle, u32 label = 1) {
    return records(chip, label)[row(chip, cycle, label)];
  }
  BoundaryRecord& boundary(u32 key, u32 label = 1) {
    for (BoundaryRecord& b : epochs[label - 1].boundary) {
      if (b.key == key) return b;
    }
    ADD_FAILURE() << "key " << key << " has no boundary row";
    return epochs[label - 1].boundary[0];
  }
  size_t boundary_row(u32 key, u32 label = 1) {
    return static_cast<size_t>(&boundary(key, label) - epochs[label - 1].boundary.data());
  }

  void cell_at_row(ChipId chip, size_t at, u32 column, Fp value, u32 label = 1) {
    forgery.epochs[label].cells.push_back({chip, at, column, value});
  }
  void cell(ChipId chip, u32 cycle, u32 column, Fp value, u32 label = 1) {
    cell_at_row(chip, row(chip, cycle, label), column, value, label);
  }
  void word(ChipId chip, u32 cycle, u32 lo_column, u64 value) {
    cell(chip, cycle, lo_column, fp(value & 0xffffffff));
    cell(chip, cycle, lo_column + 1, fp(value >> 32));
  }
  void limbs(ChipId chip, u32 cycle, u32 first_column, u64 value) {
    for (u32 i = 0; i < 4; ++i) {
      cell(chip, cycle, first_column + i, fp(value >> (16 * i) & 0xffff));
    }
  }
  Attempt run() { return forge_run(g, epochs, forgery); }

  void expect_refused_by(const Caught& by, u32 index = 0) {
    expect_epoch_refused(run(), index, by);
  }
  void expect_global_refused_by(const Caught& by) { expect_global_refused(run(), by); }
};

/// Makes the instruction of one cycle write this to rd.
inline FaultyMachine::Fault result_of_cycle(u32 cycle, u64 value) {
  return [=](Step& s) {
    if (s.stage == Step::Stage::kEffects && s.cycle == cycle) s.rd_value = value;
  };
}

/// The cycle of `binary_program`'s instruction under attack.
constexpr u32 kOpCycle = 2;
/// t0 = a, t1 = b, a0 = t0 op t1 (the given word), emit a0, exit 0.
inline std::vector<u32> binary_program(u32 op_word, i32 a, i32 b) {
  std::vector<u32> code;
  code.push_back(test::addi(test::kT0, 0, a));
  code.push_back(test::addi(test::kT1, 0, b));
  code.push_back(op_word);
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  return code;
}
/// a0 = t0 op t1.
constexpr u32 op_word(u32 base) {
  return test::r_type(base, test::kA0, test::kT0, test::kT1);
}

}  // namespace epochd::testing
