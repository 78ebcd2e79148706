// Programs of a few instructions, each made for one property of epochs: where a cell is first
// touched, how long the last epoch is, which regions of memory a run uses.
#pragma once

#include "epoch/machine.hpp"
#include "tests/epoch/exec/assembler.hpp"
#include "tests/epoch/isa/elf_builder.hpp"

namespace epochd::testing {

constexpr u32 kTextBase = 0x10000;
constexpr u32 kDataBase = 0x20000;
constexpr u32 kLowBase = 0x2000;       ///< below the image
constexpr u32 kHighBase = 0x40000000;  ///< above it

/// The data segment of data_elf: one cell, file-backed.
constexpr u64 kDataValue = 0x1122334455667788ull;

/// Text at kTextBase and one cell of kDataValue at kDataBase.
inline std::vector<u8> data_elf(const std::vector<u32>& words) {
  test::BuilderSegment text;
  text.address = kTextBase;
  text.bytes = test::little_endian(words);
  test::BuilderSegment data;
  data.flags = 6;
  data.address = kDataBase;
  for (u32 i = 0; i < 8; ++i) data.bytes.push_back(static_cast<u8>(kDataValue >> (8 * i)));
  return test::build_elf(kTextBase, {text, data});
}

/// rd = value. Pre: value < 2^31 - 2^11.
inline void load_immediate(std::vector<u32>& code, u32 rd, u32 value) {
  const u32 upper = (value + 0x800) >> 12;
  const i32 lower = static_cast<i32>(value) - static_cast<i32>(upper << 12);
  if (upper != 0) code.push_back(test::lui(rd, upper));
  if (upper == 0 || lower != 0) code.push_back(test::addi(rd, upper == 0 ? 0 : rd, lower));
}
/// rd = the first address of the input region: 3 << 30.
inline void load_input_base(std::vector<u32>& code, u32 rd) {
  code.push_back(test::addi(rd, 0, 3));
  code.push_back(test::i_type(0x1013, rd, rd, 30));
}
/// emit(register).
inline void emit_register(std::vector<u32>& code, u32 reg) {
  code.push_back(test::addi(test::kA0, reg, 0));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
}
inline void exit_with(std::vector<u32>& code, i32 exit_code) {
  code.push_back(test::addi(test::kA0, 0, exit_code));
  test::append(code, test::system_call(static_cast<i32>(kSyscallExit)));
}

/// Runs exactly `cycles` instructions, emits 7 and exits with 3. Pre: cycles >= 6.
inline std::vector<u8> straight_line(u32 cycles) {
  std::vector<u32> code;
  code.push_back(test::addi(test::kA0, 0, 7));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  while (code.size() + 3 < cycles) code.push_back(test::kNop);
  exit_with(code, 3);
  return data_elf(code);
}

/// Stores 77 to a fresh cell in instruction number `cycle` (from 0), loads it in the next one,
/// emits it and exits with 0. The wait before is a loop of two instructions. Pre: cycle >= 6.
inline std::vector<u8> store_in_cycle(u32 cycle) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kHighBase);
  code.push_back(test::addi(test::kT1, 0, 77));
  const u32 rounds = (cycle - 4) / 2;
  const u32 upper = (rounds + 0x800) >> 12;
  code.push_back(test::lui(test::kT2, upper));
  code.push_back(test::addi(test::kT2, test::kT2, static_cast<i32>(rounds - (upper << 12))));
  if (cycle % 2 != 0) code.push_back(test::kNop);
  code.push_back(test::addi(test::kT2, test::kT2, -1));
  code.push_back(test::bne(test::kT2, 0, -4));
  code.push_back(test::sd(test::kT1, test::kT0, 0));
  code.push_back(test::ld(test::kA1, test::kT0, 0));
  emit_register(code, test::kA1);
  exit_with(code, 0);
  return data_elf(code);
}

/// Fills `cells` cells from kLowBase and as many from kHighBase with 1, 2, 3 ...; adds up the
/// input's length word, its first word, and the data cell; overwrites the first input word and the
/// data cell with the sum, reads both back and emits their sum, then the sum of all filled cells.
inline std::vector<u8> all_regions(u32 cells) {
  using namespace test;
  constexpr u32 kLow = 8, kHigh = 9, kIn = 18, kData = 19, kSum = 20, kI = kT0, kX = kT1;
  std::vector<u32> code;
  load_immediate(code, kLow, kLowBase);
  load_immediate(code, kHigh, kHighBase);
  load_immediate(code, kData, kDataBase);
  load_input_base(code, kIn);
  code.push_back(addi(kI, 0, static_cast<i32>(cells)));
  code.push_back(sd(kI, kLow, 0));
  code.push_back(sd(kI, kHigh, 0));
  code.push_back(addi(kLow, kLow, 8));
  code.push_back(addi(kHigh, kHigh, 8));
  code.push_back(addi(kI, kI, -1));
  code.push_back(bne(kI, 0, -20));
  code.push_back(ld(kSum, kIn, 0));
  code.push_back(ld(kX, kIn, 8));
  code.push_back(add(kSum, kSum, kX));
  code.push_back(ld(kX, kData, 0));
  code.push_back(add(kSum, kSum, kX));
  code.push_back(sd(kSum, kIn, 8));
  code.push_back(sd(kSum, kData, 0));
  code.push_back(ld(kSum, kIn, 8));
  code.push_back(ld(kX, kData, 0));
  code.push_back(add(kSum, kSum, kX));
  emit_register(code, kSum);
  code.push_back(addi(kSum, 0, 0));
  code.push_back(addi(kI, 0, static_cast<i32>(cells)));
  code.push_back(addi(kLow, kLow, -8));
  code.push_back(addi(kHigh, kHigh, -8));
  code.push_back(ld(kX, kLow, 0));
  code.push_back(add(kSum, kSum, kX));
  code.push_back(ld(kX, kHigh, 0));
  code.push_back(add(kSum, kSum, kX));
  code.push_back(addi(kI, kI, -1));
  code.push_back(bne(kI, 0, -28));
  emit_register(code, kSum);
  exit_with(code, 0);
  return data_elf(code);
}
/// What all_regions emits first, for an input of these words.
inline u64 all_regions_sum(const std::vector<u64>& input) {
  return 2 * (input.size() * 8 + (input.empty() ? 0 : input[0]) + kDataValue);
}

}  // namespace epochd::testing
