// Operands and register patterns every arithmetic chip is tried with.
#pragma once

#include <span>

#include "tests/epoch/chips/register_machine.hpp"

namespace epochd::chips::harness {

constexpr u64 kSeed = 0x5eed0001;

/// 0, 1, -1, both extremes, words' extremes, powers of two and their neighbours, random.
inline std::vector<u64> edge_values(u32 random_count = 8, u64 seed = kSeed) {
  std::vector<u64> v = {0, 1, ~0ull, 1ull << 63, (1ull << 63) - 1, 0xffffffff, 0xffffffff00000000};
  for (const u32 k : {1, 8, 15, 16, 17, 31, 32, 33, 47, 48, 62, 63}) {
    const u64 power = 1ull << k;
    for (const u64 x : {power - 1, power, power + 1}) {
      v.push_back(x);
      if (k >= 31) v.push_back(0 - x);
    }
  }
  std::mt19937_64 rng(seed);
  for (u32 i = 0; i < random_count; ++i) v.push_back(rng());
  return v;
}

/// rd = 5, rs1 = 6, rs2 = 7, over every pair of edge values.
inline RegisterMachine every_register_pair(std::span<const Op> ops) {
  RegisterMachine m;
  const std::vector<u64> values = edge_values();
  for (const Op op : ops) {
    for (const u64 a : values) {
      for (const u64 b : values) {
        m.poke(6, a);
        m.poke(7, b);
        m.alu(op, 5, 6, 7, 0);
      }
    }
  }
  return m;
}

/// rd = 5, rs1 = 6, rs2 = x0, every edge value with every given immediate.
inline RegisterMachine every_immediate(std::span<const Op> ops, std::span<const u64> immediates,
                                       bool reads_rs2) {
  RegisterMachine m;
  for (const Op op : ops) {
    for (const u64 a : edge_values()) {
      for (const u64 imm : immediates) {
        m.poke(6, a);
        m.alu(op, 5, 6, 0, imm, true, reads_rs2);
      }
    }
  }
  return m;
}

/// Every way rd, rs1, rs2 can coincide, x0 among them.
inline RegisterMachine every_aliasing(std::span<const Op> ops, u64 imm = 0, bool reads_rs2 = true) {
  RegisterMachine m;
  std::mt19937_64 rng(kSeed);
  for (const Op op : ops) {
    for (const u32 rd : {0u, 1u, 2u, 31u}) {
      for (const u32 rs1 : {0u, 1u, 2u, 31u}) {
        for (const u32 rs2 : {0u, 1u, 2u, 31u}) {
          if (!reads_rs2 && rs2 != 0) continue;
          for (const u32 reg : {1u, 2u, 31u}) m.poke(reg, rng());
          m.alu(op, rd, rs1, rs2, imm, true, reads_rs2);
        }
      }
    }
  }
  return m;
}

}  // namespace epochd::chips::harness
