// What each operation computes, written from the RISC-V unprivileged manual (RV64I, M), one plain
// function per operation. The oracle of the chip tests: it shares nothing with `fill` or `eval`.
#pragma once

#include <gtest/gtest.h>

#include "epoch/isa/opcode.hpp"

namespace epochd::chips::harness {

/// The low 32 bits of a value, sign-extended: what every W instruction writes.
inline u64 sext32(u64 x) {
  return static_cast<u64>(static_cast<i64>(static_cast<i32>(static_cast<u32>(x))));
}
inline i64 as_signed(u64 x) {
  return static_cast<i64>(x);
}

inline u64 ref_add(u64 a, u64 b) {
  return a + b;
}
inline u64 ref_sub(u64 a, u64 b) {
  return a - b;
}
inline u64 ref_addw(u64 a, u64 b) {
  return sext32(a + b);
}
inline u64 ref_subw(u64 a, u64 b) {
  return sext32(a - b);
}
inline u64 ref_slt(u64 a, u64 b) {
  return as_signed(a) < as_signed(b) ? 1 : 0;
}
inline u64 ref_sltu(u64 a, u64 b) {
  return a < b ? 1 : 0;
}
inline u64 ref_sll(u64 a, u64 s) {
  return a << (s & 63);
}
inline u64 ref_srl(u64 a, u64 s) {
  return a >> (s & 63);
}
inline u64 ref_sra(u64 a, u64 s) {
  return static_cast<u64>(as_signed(a) >> (s & 63));
}
inline u64 ref_sllw(u64 a, u64 s) {
  return sext32(a << (s & 31));
}
inline u64 ref_srlw(u64 a, u64 s) {
  return sext32((a & 0xffffffff) >> (s & 31));
}
inline u64 ref_sraw(u64 a, u64 s) {
  return static_cast<u64>(as_signed(sext32(a)) >> (s & 31));
}
inline u64 ref_mul(u64 a, u64 b) {
  return a * b;
}
inline u64 ref_mulh(u64 a, u64 b) {
  return static_cast<u64>((static_cast<i128>(as_signed(a)) * as_signed(b)) >> 64);
}
inline u64 ref_mulhu(u64 a, u64 b) {
  return static_cast<u64>((static_cast<u128>(a) * b) >> 64);
}
inline u64 ref_mulhsu(u64 a, u64 b) {
  return static_cast<u64>((static_cast<i128>(as_signed(a)) * static_cast<i128>(b)) >> 64);
}
inline u64 ref_mulw(u64 a, u64 b) {
  return sext32(a * b);
}
inline u64 ref_div(u64 a, u64 b) {
  if (b == 0) return ~0ull;
  if (a == 1ull << 63 && b == ~0ull) return a;
  return static_cast<u64>(as_signed(a) / as_signed(b));
}
inline u64 ref_divu(u64 a, u64 b) {
  return b == 0 ? ~0ull : a / b;
}
inline u64 ref_rem(u64 a, u64 b) {
  if (b == 0) return a;
  if (a == 1ull << 63 && b == ~0ull) return 0;
  return static_cast<u64>(as_signed(a) % as_signed(b));
}
inline u64 ref_remu(u64 a, u64 b) {
  return b == 0 ? a : a % b;
}
inline u64 ref_divw(u64 a, u64 b) {
  return sext32(ref_div(sext32(a), sext32(b)));
}
inline u64 ref_divuw(u64 a, u64 b) {
  return sext32(ref_divu(a & 0xffffffff, b & 0xffffffff));
}
inline u64 ref_remw(u64 a, u64 b) {
  return sext32(ref_rem(sext32(a), sext32(b)));
}
inline u64 ref_remuw(u64 a, u64 b) {
  return sext32(ref_remu(a & 0xffffffff, b & 0xffffffff));
}

/// The value written to rd by an operation that computes (no loads, stores, jumps). Canonical
/// forms: where an operation takes a register or an immediate, the unused one is 0.
inline u64 reference_result(Op op, u64 pc, u64 rs1, u64 rs2, u64 imm) {
  (void)pc;
  const u64 b = rs2 + imm;
  switch (op) {
    case Op::kAdd:
      return ref_add(rs1, rs2);
    case Op::kSub:
      return ref_sub(rs1, rs2);
    case Op::kAddi:
      return ref_add(rs1, imm);
    case Op::kAddw:
      return ref_addw(rs1, b);
    case Op::kSubw:
      return ref_subw(rs1, rs2);
    case Op::kAnd:
      return rs1 & b;
    case Op::kOr:
      return rs1 | b;
    case Op::kXor:
      return rs1 ^ b;
    case Op::kSlt:
      return ref_slt(rs1, b);
    case Op::kSltu:
      return ref_sltu(rs1, b);
    case Op::kSlli:
      return ref_sll(rs1, imm);
    case Op::kSrli:
      return ref_srl(rs1, imm);
    case Op::kSrai:
      return ref_sra(rs1, imm);
    case Op::kSlliw:
      return ref_sllw(rs1, imm);
    case Op::kSrliw:
      return ref_srlw(rs1, imm);
    case Op::kSraiw:
      return ref_sraw(rs1, imm);
    case Op::kSll:
      return ref_sll(rs1, rs2);
    case Op::kSrl:
      return ref_srl(rs1, rs2);
    case Op::kSra:
      return ref_sra(rs1, rs2);
    case Op::kSllw:
      return ref_sllw(rs1, rs2);
    case Op::kSrlw:
      return ref_srlw(rs1, rs2);
    case Op::kSraw:
      return ref_sraw(rs1, rs2);
    case Op::kMul:
      return ref_mul(rs1, rs2);
    case Op::kMulh:
      return ref_mulh(rs1, rs2);
    case Op::kMulhu:
      return ref_mulhu(rs1, rs2);
    case Op::kMulhsu:
      return ref_mulhsu(rs1, rs2);
    case Op::kMulw:
      return ref_mulw(rs1, rs2);
    case Op::kDiv:
      return ref_div(rs1, rs2);
    case Op::kDivu:
      return ref_divu(rs1, rs2);
    case Op::kRem:
      return ref_rem(rs1, rs2);
    case Op::kRemu:
      return ref_remu(rs1, rs2);
    case Op::kDivw:
      return ref_divw(rs1, rs2);
    case Op::kDivuw:
      return ref_divuw(rs1, rs2);
    case Op::kRemw:
      return ref_remw(rs1, rs2);
    case Op::kRemuw:
      return ref_remuw(rs1, rs2);
    default:
      ADD_FAILURE() << "no reference for op " << static_cast<u32>(op);
      return 0;
  }
}

}  // namespace epochd::chips::harness
