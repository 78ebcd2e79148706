// What each operation computes, once for scout and replay. Written against the RISC-V unprivileged
// ISA manual: wrap-around arithmetic, word results sign-extended, division by zero and overflow as
// its table says.
#pragma once

#include <cstdint>

#include "epoch/isa/opcode.hpp"
#include "prover/core/hd.hpp"
#include "prover/core/types.hpp"

namespace epochd::exec {

constexpr u64 sign_extend_word(u64 value) {
  return static_cast<u64>(static_cast<i64>(static_cast<i32>(static_cast<u32>(value))));
}

constexpr u64 kSignBit = 1ull << 63;

constexpr u64 divide(u64 a, u64 b) {
  if (b == 0) return ~0ull;
  if (a == kSignBit && b == ~0ull) return a;
  return static_cast<u64>(static_cast<i64>(a) / static_cast<i64>(b));
}

constexpr u64 remainder(u64 a, u64 b) {
  if (b == 0) return a;
  if (b == ~0ull) return 0;  // also where the quotient overflows
  return static_cast<u64>(static_cast<i64>(a) % static_cast<i64>(b));
}

constexpr u64 multiply_high(i128 a, i128 b) {
  return static_cast<u64>(static_cast<u128>(a * b) >> 64);
}

constexpr u64 shift_right_arithmetic(u64 a, u32 amount) {
  return static_cast<u64>(static_cast<i64>(a) >> amount);
}

EPOCHD_INLINE constexpr u64 multiply_divide(Op op, u64 a, u64 b) {
  const u64 word_a = a & 0xffffffff, word_b = b & 0xffffffff;
  const i128 signed_a = static_cast<i64>(a), signed_b = static_cast<i64>(b);
  switch (op) {
    case Op::kMul:
      return a * b;
    case Op::kMulh:
      return multiply_high(signed_a, signed_b);
    case Op::kMulhu:
      return static_cast<u64>((static_cast<u128>(a) * b) >> 64);
    case Op::kMulhsu:
      return multiply_high(signed_a, static_cast<i128>(b));
    case Op::kMulw:
      return sign_extend_word(a * b);
    case Op::kDiv:
      return divide(a, b);
    case Op::kDivu:
      return b == 0 ? ~0ull : a / b;
    case Op::kRem:
      return remainder(a, b);
    case Op::kRemu:
      return b == 0 ? a : a % b;
    // A 64-bit division of sign-extended words cannot overflow; truncation gives the word rule.
    case Op::kDivw:
      return sign_extend_word(divide(sign_extend_word(a), sign_extend_word(b)));
    case Op::kDivuw:
      return word_b == 0 ? ~0ull : sign_extend_word(word_a / word_b);
    case Op::kRemw:
      return sign_extend_word(remainder(sign_extend_word(a), sign_extend_word(b)));
    case Op::kRemuw:
      return sign_extend_word(word_b == 0 ? word_a : word_a % word_b);
    default:
      return 0;
  }
}

/// Operations that read two operands and write a register. `b` is (value of rs2) + (immediate), one
/// of which is 0. Operations of another kind yield 0.
EPOCHD_INLINE constexpr u64 alu(Op op, u64 a, u64 b) {
  switch (op) {
    case Op::kAdd:
    case Op::kAddi:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kAddw:
      return sign_extend_word(a + b);
    case Op::kSubw:
      return sign_extend_word(a - b);
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    case Op::kSlt:
      return static_cast<i64>(a) < static_cast<i64>(b);
    case Op::kSltu:
      return a < b;
    case Op::kSlli:
    case Op::kSll:
      return a << (b & 63);
    case Op::kSrli:
    case Op::kSrl:
      return a >> (b & 63);
    case Op::kSrai:
    case Op::kSra:
      return shift_right_arithmetic(a, b & 63);
    case Op::kSlliw:
    case Op::kSllw:
      return sign_extend_word(a << (b & 31));
    case Op::kSrliw:
    case Op::kSrlw:
      return sign_extend_word((a & 0xffffffff) >> (b & 31));
    case Op::kSraiw:
    case Op::kSraw:
      return shift_right_arithmetic(sign_extend_word(a), b & 31);
    default:
      return multiply_divide(op, a, b);
  }
}

EPOCHD_INLINE constexpr bool branch_taken(Op op, u64 a, u64 b) {
  switch (op) {
    case Op::kBeq:
      return a == b;
    case Op::kBne:
      return a != b;
    case Op::kBlt:
      return static_cast<i64>(a) < static_cast<i64>(b);
    case Op::kBge:
      return static_cast<i64>(a) >= static_cast<i64>(b);
    case Op::kBltu:
      return a < b;
    case Op::kBgeu:
      return a >= b;
    default:
      return false;
  }
}

/// The register value of a load whose bytes stand in the low end of `raw`; higher bytes are
/// ignored.
EPOCHD_INLINE constexpr u64 extend_load(Op op, u64 raw) {
  switch (op) {
    case Op::kLb:
      return static_cast<u64>(static_cast<i64>(static_cast<std::int8_t>(raw)));
    case Op::kLbu:
      return raw & 0xff;
    case Op::kLh:
      return static_cast<u64>(static_cast<i64>(static_cast<std::int16_t>(raw)));
    case Op::kLhu:
      return raw & 0xffff;
    case Op::kLw:
      return sign_extend_word(raw);
    case Op::kLwu:
      return raw & 0xffffffff;
    default:
      return raw;
  }
}

}  // namespace epochd::exec
