// Encodes RV64IM instructions for tests, from the formats and opcode tables of the ISA manual; qemu
// decodes the same words, so a mistake here cannot hide one in the decoder.
#pragma once

#include <array>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::test {

struct Mnemonic {
  const char* name;
  u32 base;  ///< opcode, funct3 and funct7 in place
};

constexpr Mnemonic kRegisterOps[] = {
    {"add", 0x00000033},    {"sub", 0x40000033},   {"sll", 0x00001033},  {"slt", 0x00002033},
    {"sltu", 0x00003033},   {"xor", 0x00004033},   {"srl", 0x00005033},  {"sra", 0x40005033},
    {"or", 0x00006033},     {"and", 0x00007033},   {"mul", 0x02000033},  {"mulh", 0x02001033},
    {"mulhsu", 0x02002033}, {"mulhu", 0x02003033}, {"div", 0x02004033},  {"divu", 0x02005033},
    {"rem", 0x02006033},    {"remu", 0x02007033},  {"addw", 0x0000003b}, {"subw", 0x4000003b},
    {"sllw", 0x0000103b},   {"srlw", 0x0000503b},  {"sraw", 0x4000503b}, {"mulw", 0x0200003b},
    {"divw", 0x0200403b},   {"divuw", 0x0200503b}, {"remw", 0x0200603b}, {"remuw", 0x0200703b}};
constexpr Mnemonic kImmediateOps[] = {{"addi", 0x0013}, {"slti", 0x2013}, {"sltiu", 0x3013},
                                      {"xori", 0x4013}, {"ori", 0x6013},  {"andi", 0x7013},
                                      {"addiw", 0x001b}};
constexpr Mnemonic kShiftOps[] = {
    {"slli", 0x1013}, {"srli", 0x5013}, {"srai", 0x40005013}};  // amounts 0..63
constexpr Mnemonic kWordShiftOps[] = {
    {"slliw", 0x101b}, {"srliw", 0x501b}, {"sraiw", 0x4000501b}};  // amounts 0..31
constexpr Mnemonic kLoads[] = {{"lb", 0x0003},  {"lh", 0x1003},  {"lw", 0x2003}, {"ld", 0x3003},
                               {"lbu", 0x4003}, {"lhu", 0x5003}, {"lwu", 0x6003}};
constexpr Mnemonic kStores[] = {{"sb", 0x0023}, {"sh", 0x1023}, {"sw", 0x2023}, {"sd", 0x3023}};
constexpr Mnemonic kBranches[] = {{"beq", 0x0063}, {"bne", 0x1063},  {"blt", 0x4063},
                                  {"bge", 0x5063}, {"bltu", 0x6063}, {"bgeu", 0x7063}};

constexpr u32 kEcall = 0x00000073;
constexpr u32 kEbreak = 0x00100073;
constexpr u32 kNop = 0x00000013;
constexpr u32 kFence = 0x0ff0000f;

constexpr u32 r_type(u32 base, u32 rd, u32 rs1, u32 rs2) {
  return base | rd << 7 | rs1 << 15 | rs2 << 20;
}
constexpr u32 i_type(u32 base, u32 rd, u32 rs1, i32 imm) {
  return base | rd << 7 | rs1 << 15 | static_cast<u32>(imm) << 20;
}
constexpr u32 s_type(u32 base, u32 rs2, u32 rs1, i32 imm) {
  const u32 u = static_cast<u32>(imm);
  return base | rs1 << 15 | rs2 << 20 | (u & 31) << 7 | (u >> 5 & 127) << 25;
}
constexpr u32 b_type(u32 base, u32 rs1, u32 rs2, i32 offset) {
  const u32 u = static_cast<u32>(offset);
  return base | rs1 << 15 | rs2 << 20 | (u >> 11 & 1) << 7 | (u >> 1 & 15) << 8 |
         (u >> 5 & 63) << 25 | (u >> 12 & 1) << 31;
}

constexpr u32 addi(u32 rd, u32 rs1, i32 imm) {
  return i_type(0x13, rd, rs1, imm);
}
constexpr u32 add(u32 rd, u32 rs1, u32 rs2) {
  return r_type(0x33, rd, rs1, rs2);
}
constexpr u32 lui(u32 rd, u32 upper20) {
  return 0x37 | rd << 7 | upper20 << 12;
}
constexpr u32 auipc(u32 rd, u32 upper20) {
  return 0x17 | rd << 7 | upper20 << 12;
}
constexpr u32 ld(u32 rd, u32 rs1, i32 imm) {
  return i_type(0x3003, rd, rs1, imm);
}
constexpr u32 lw(u32 rd, u32 rs1, i32 imm) {
  return i_type(0x2003, rd, rs1, imm);
}
constexpr u32 sd(u32 rs2, u32 rs1, i32 imm) {
  return s_type(0x3023, rs2, rs1, imm);
}
constexpr u32 sb(u32 rs2, u32 rs1, i32 imm) {
  return s_type(0x0023, rs2, rs1, imm);
}
constexpr u32 bne(u32 rs1, u32 rs2, i32 offset) {
  return b_type(0x1063, rs1, rs2, offset);
}
constexpr u32 jalr(u32 rd, u32 rs1, i32 imm) {
  return i_type(0x67, rd, rs1, imm);
}
constexpr u32 jal(u32 rd, i32 offset) {
  const u32 u = static_cast<u32>(offset);
  return 0x6f | rd << 7 | (u & 0xff000) | (u >> 11 & 1) << 20 | (u >> 1 & 1023) << 21 |
         (u >> 20 & 1) << 31;
}

// Registers by their ABI names.
constexpr u32 kRa = 1, kT0 = 5, kT1 = 6, kT2 = 7, kA0 = 10, kA1 = 11, kA7 = 17;

/// exit(a0), emit(a0).
inline std::vector<u32> system_call(i32 number) {
  return {addi(kA7, 0, number), kEcall};
}

inline void append(std::vector<u32>& code, const std::vector<u32>& more) {
  code.insert(code.end(), more.begin(), more.end());
}

}  // namespace epochd::test
