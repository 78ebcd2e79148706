// Which accesses the row of an operation makes, and in which chip it stands: the one source for
// scout, replay and tests. Every access is unconditional: an AND with an immediate reads x0 as rs2,
// an operation with rd = x0 writes the sink (docs/machine.md, "The Program table canonicalises").
#pragma once

#include <array>

#include "epoch/isa/opcode.hpp"
#include "epoch/machine.hpp"
#include "prover/core/assert.hpp"

namespace epochd {

struct AccessShape {
  bool rs1 = false;  ///< a register at sub-step kSubRs1; ecall: x17
  bool rs2 = false;  ///< a register at sub-step kSubRs2; ecall: x10
  bool mem = false;  ///< a cell at kSubMem, or two where an unaligned access crosses
  bool rd = false;   ///< a register at kSubRd; ecall: only emit, the output counter
  bool operator==(const AccessShape&) const = default;
};

/// Registers an ecall row names; the Program table's fields are 0 for it.
constexpr u8 kEcallNumberRegister = 17;
constexpr u8 kEcallArgumentRegister = 10;

/// The chip whose row executes `op`; for loads and stores aligned to their width. Misaligned ones
/// stand in ChipId::kUnaligned with the same shape. Pre: op is an operation, not kNone.
constexpr ChipId chip_of(Op op) {
  constexpr auto kWithin = [](Op o, Op first, Op last) { return o >= first && o <= last; };
  if (kWithin(op, Op::kAdd, Op::kSub)) return ChipId::kAdd;
  if (op == Op::kAddi) return ChipId::kAddi;
  if (kWithin(op, Op::kAddw, Op::kSubw)) return ChipId::kAddw;
  if (kWithin(op, Op::kAnd, Op::kXor)) return ChipId::kBitwise;
  if (kWithin(op, Op::kSlt, Op::kSltu)) return ChipId::kCompare;
  if (kWithin(op, Op::kSlli, Op::kSraiw)) return ChipId::kShiftImm;
  if (kWithin(op, Op::kSll, Op::kSraw)) return ChipId::kShift;
  if (kWithin(op, Op::kBeq, Op::kBne)) return ChipId::kBeq;
  if (kWithin(op, Op::kBlt, Op::kBgeu)) return ChipId::kBlt;
  if (op == Op::kJal) return ChipId::kJal;
  if (op == Op::kJalr) return ChipId::kJalr;
  if (op == Op::kLd) return ChipId::kLd;
  if (kWithin(op, Op::kLw, Op::kLwu)) return ChipId::kLw;
  if (kWithin(op, Op::kLb, Op::kLhu)) return ChipId::kLbh;
  if (kWithin(op, Op::kSd, Op::kSw)) return ChipId::kStore;
  if (kWithin(op, Op::kSb, Op::kSh)) return ChipId::kStoreNarrow;
  if (kWithin(op, Op::kMul, Op::kMulw)) return ChipId::kMul;
  if (kWithin(op, Op::kDiv, Op::kRemuw)) return ChipId::kDivrem;
  EPOCHD_ASSERT(op == Op::kEcall);
  return ChipId::kEcall;
}

constexpr AccessShape access_shape(Op op) {
  switch (chip_of(op)) {
    case ChipId::kAddi:
    case ChipId::kShiftImm:
    case ChipId::kJalr:
      return {.rs1 = true, .rd = true};
    case ChipId::kBeq:
    case ChipId::kBlt:
    case ChipId::kEcall:
      return {.rs1 = true, .rs2 = true};
    case ChipId::kJal:
      return {.rd = true};
    case ChipId::kLd:
    case ChipId::kLw:
    case ChipId::kLbh:
      return {.rs1 = true, .mem = true, .rd = true};
    case ChipId::kStore:
    case ChipId::kStoreNarrow:
      return {.rs1 = true, .rs2 = true, .mem = true};
    default:
      return {.rs1 = true, .rs2 = true, .rd = true};
  }
}

/// Bytes a load or store moves; 0 for every other operation.
constexpr u32 access_bytes(Op op) {
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
    case Op::kLd:
    case Op::kSd:
      return 8;
    default:
      return 0;
  }
}

constexpr bool is_store(Op op) {
  return op >= Op::kSd && op <= Op::kSh;
}

}  // namespace epochd
