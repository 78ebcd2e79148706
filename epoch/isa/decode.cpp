#include "epoch/isa/decode.hpp"

#include <array>

namespace epochd {
namespace {

// Major opcodes (bits 6..0).
enum Major : u32 {
  kLoadMajor = 0x03,
  kFenceMajor = 0x0f,
  kImmMajor = 0x13,
  kAuipcMajor = 0x17,
  kImmWordMajor = 0x1b,
  kStoreMajor = 0x23,
  kRegMajor = 0x33,
  kLuiMajor = 0x37,
  kRegWordMajor = 0x3b,
  kBranchMajor = 0x63,
  kJalrMajor = 0x67,
  kJalMajor = 0x6f,
};
constexpr u32 kEcallWord = 0x00000073;

// Bits [low, low + count) of a word.
constexpr u32 bits(u32 word, u32 low, u32 count) {
  return (word >> low) & ((1u << count) - 1);
}

constexpr u64 sign_extend(u32 value, u32 width) {
  const u64 sign = 1ull << (width - 1);
  return (static_cast<u64>(value) ^ sign) - sign;
}

constexpr u64 imm_i(u32 w) {
  return sign_extend(bits(w, 20, 12), 12);
}
constexpr u64 imm_s(u32 w) {
  return sign_extend(bits(w, 25, 7) << 5 | bits(w, 7, 5), 12);
}
constexpr u64 imm_u(u32 w) {
  return sign_extend(w & 0xfffff000u, 32);
}
constexpr u64 imm_b(u32 w) {
  return sign_extend(
      bits(w, 31, 1) << 12 | bits(w, 7, 1) << 11 | bits(w, 25, 6) << 5 | bits(w, 8, 4) << 1, 13);
}
constexpr u64 imm_j(u32 w) {
  return sign_extend(
      bits(w, 31, 1) << 20 | bits(w, 12, 8) << 12 | bits(w, 20, 1) << 11 | bits(w, 21, 10) << 1,
      21);
}

using Row8 = std::array<Op, 8>;  // by funct3
constexpr Op kNo = Op::kNone;

constexpr Row8 kLoads = {Op::kLb, Op::kLh, Op::kLw, Op::kLd, Op::kLbu, Op::kLhu, Op::kLwu, kNo};
constexpr Row8 kStores = {Op::kSb, Op::kSh, Op::kSw, Op::kSd, kNo, kNo, kNo, kNo};
constexpr Row8 kBranches = {Op::kBeq, Op::kBne, kNo, kNo, Op::kBlt, Op::kBge, Op::kBltu, Op::kBgeu};
constexpr Row8 kImms = {Op::kAddi, kNo, Op::kSlt, Op::kSltu, Op::kXor, kNo, Op::kOr, Op::kAnd};
constexpr Row8 kRegs = {Op::kAdd, Op::kSll, Op::kSlt, Op::kSltu,
                        Op::kXor, Op::kSrl, Op::kOr,  Op::kAnd};
constexpr Row8 kMuls = {Op::kMul, Op::kMulh, Op::kMulhsu, Op::kMulhu,
                        Op::kDiv, Op::kDivu, Op::kRem,    Op::kRemu};
constexpr Row8 kRegWords = {Op::kAddw, Op::kSllw, kNo, kNo, kNo, Op::kSrlw, kNo, kNo};
constexpr Row8 kMulWords = {Op::kMulw, kNo, kNo, kNo, Op::kDivw, Op::kDivuw, Op::kRemw, Op::kRemuw};

Op reg_op(u32 funct3, u32 funct7) {
  if (funct7 == 0x00) return kRegs[funct3];
  if (funct7 == 0x01) return kMuls[funct3];
  if (funct7 == 0x20 && funct3 == 0) return Op::kSub;
  if (funct7 == 0x20 && funct3 == 5) return Op::kSra;
  return kNo;
}

Op reg_word_op(u32 funct3, u32 funct7) {
  if (funct7 == 0x00) return kRegWords[funct3];
  if (funct7 == 0x01) return kMulWords[funct3];
  if (funct7 == 0x20 && funct3 == 0) return Op::kSubw;
  if (funct7 == 0x20 && funct3 == 5) return Op::kSraw;
  return kNo;
}

// The field above the shift amount is all zero, or has only the bit that marks an arithmetic shift.
Op shift_imm_op(u32 funct3, bool zero_top, bool arithmetic_top, Op left, Op right, Op arithmetic) {
  if (funct3 == 1 && zero_top) return left;
  if (funct3 == 5 && zero_top) return right;
  if (funct3 == 5 && arithmetic_top) return arithmetic;
  return kNo;
}

struct Fields {
  u32 pc, word, funct3, funct7;
  u8 rd, rs1, rs2;
  u8 destination;  // rd, or the sink where rd = x0
};

ProgramRow row(const Fields& f, Op op, u8 rd, u8 rs1, u8 rs2, u64 imm) {
  return {f.pc, op, rd, rs1, rs2, imm, 0};
}

ProgramRow imm_row(const Fields& f) {
  if (f.funct3 == 1 || f.funct3 == 5) {
    const u32 top = bits(f.word, 26, 6);
    const Op op = shift_imm_op(f.funct3, top == 0, top == 0x10, Op::kSlli, Op::kSrli, Op::kSrai);
    return row(f, op, f.destination, f.rs1, 0, bits(f.word, 20, 6));
  }
  return row(f, kImms[f.funct3], f.destination, f.rs1, 0, imm_i(f.word));
}

ProgramRow imm_word_row(const Fields& f) {
  if (f.funct3 == 0) return row(f, Op::kAddw, f.destination, f.rs1, 0, imm_i(f.word));
  const Op op =
      shift_imm_op(f.funct3, f.funct7 == 0, f.funct7 == 0x20, Op::kSlliw, Op::kSrliw, Op::kSraiw);
  return row(f, op, f.destination, f.rs1, 0, bits(f.word, 20, 5));
}

// Rows of words outside RV64IM come back with Op::kNone.
ProgramRow any_row(const Fields& f) {
  const ProgramRow none = row(f, kNo, 0, 0, 0, 0);
  switch (bits(f.word, 0, 7)) {
    case kLoadMajor:
      return row(f, kLoads[f.funct3], f.destination, f.rs1, 0, imm_i(f.word));
    case kStoreMajor:
      return row(f, kStores[f.funct3], 0, f.rs1, f.rs2, imm_s(f.word));
    case kImmMajor:
      return imm_row(f);
    case kImmWordMajor:
      return imm_word_row(f);
    case kRegMajor:
      return row(f, reg_op(f.funct3, f.funct7), f.destination, f.rs1, f.rs2, 0);
    case kRegWordMajor:
      return row(f, reg_word_op(f.funct3, f.funct7), f.destination, f.rs1, f.rs2, 0);
    case kLuiMajor:
      return row(f, Op::kAddi, f.destination, 0, 0, imm_u(f.word));
    case kAuipcMajor:
      return row(f, Op::kAddi, f.destination, 0, 0, f.pc + imm_u(f.word));
    case kBranchMajor:
      return row(f, kBranches[f.funct3], 0, f.rs1, f.rs2, f.pc + imm_b(f.word));
    case kJalMajor:
      return row(f, Op::kJal, f.destination, 0, 0, f.pc + imm_j(f.word));
    case kJalrMajor:
      return f.funct3 == 0 ? row(f, Op::kJalr, f.destination, f.rs1, 0, imm_i(f.word)) : none;
    case kFenceMajor:  // FENCE and FENCE.I; their other fields are hints to be ignored
      return f.funct3 <= 1 ? row(f, Op::kAddi, kSinkRegister, 0, 0, 0) : none;
    default:
      return f.word == kEcallWord ? row(f, Op::kEcall, 0, 0, 0, 0) : none;
  }
}

bool has_static_target(Op op) {
  return (op >= Op::kBeq && op <= Op::kBgeu) || op == Op::kJal;
}

constexpr std::array<std::string_view, kOpCount> kNames = {
    "none", "add",  "sub",   "addi", "addw",  "subw",   "and",   "or",   "xor",  "slt",
    "sltu", "slli", "srli",  "srai", "slliw", "srliw",  "sraiw", "sll",  "srl",  "sra",
    "sllw", "srlw", "sraw",  "beq",  "bne",   "blt",    "bge",   "bltu", "bgeu", "jal",
    "jalr", "ld",   "lw",    "lwu",  "lb",    "lbu",    "lh",    "lhu",  "sd",   "sw",
    "sb",   "sh",   "mul",   "mulh", "mulhu", "mulhsu", "mulw",  "div",  "divu", "rem",
    "remu", "divw", "divuw", "remw", "remuw", "ecall"};

}  // namespace

std::optional<ProgramRow> decode(u32 pc, u32 word) {
  const u8 rd = static_cast<u8>(bits(word, 7, 5));
  const Fields fields{.pc = pc,
                      .word = word,
                      .funct3 = bits(word, 12, 3),
                      .funct7 = bits(word, 25, 7),
                      .rd = rd,
                      .rs1 = static_cast<u8>(bits(word, 15, 5)),
                      .rs2 = static_cast<u8>(bits(word, 20, 5)),
                      .destination = rd == 0 ? static_cast<u8>(kSinkRegister) : rd};
  const ProgramRow result = any_row(fields);
  if (result.op == Op::kNone) return std::nullopt;
  if (has_static_target(result.op) && result.imm >= kAddressEnd) return std::nullopt;
  return result;
}

std::string_view op_name(Op op) {
  const auto index = static_cast<size_t>(op);
  return index < kNames.size() ? kNames[index] : kNames[0];
}

}  // namespace epochd
