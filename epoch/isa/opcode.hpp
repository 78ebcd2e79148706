// The canonical operations of the Program table. A code is what travels in the `opcode` field of
// the Program bus: disjoint across chips, 0 unused, values frozen (they are part of the statement).
//
// "Canonical" (docs/machine.md): LUI, AUIPC and LI are ADDI from x0; AND and ANDI share a code
// because the second operand is (register rs2) + (immediate), the unused one being 0; likewise OR,
// XOR, ADDW/ADDIW, SLT, SLTU.
#pragma once

#include "prover/core/types.hpp"

namespace epochd {

enum class Op : u8 {
  kNone = 0,
  kAdd,
  kSub,
  kAddi,
  kAddw,
  kSubw,
  kAnd,
  kOr,
  kXor,
  kSlt,
  kSltu,
  kSlli,
  kSrli,
  kSrai,
  kSlliw,
  kSrliw,
  kSraiw,
  kSll,
  kSrl,
  kSra,
  kSllw,
  kSrlw,
  kSraw,
  kBeq,
  kBne,
  kBlt,
  kBge,
  kBltu,
  kBgeu,
  kJal,
  kJalr,
  kLd,
  kLw,
  kLwu,
  kLb,
  kLbu,
  kLh,
  kLhu,
  kSd,
  kSw,
  kSb,
  kSh,
  kMul,
  kMulh,
  kMulhu,
  kMulhsu,
  kMulw,
  kDiv,
  kDivu,
  kRem,
  kRemu,
  kDivw,
  kDivuw,
  kRemw,
  kRemuw,
  kEcall,
  kCount,
};

constexpr u32 kOpCount = static_cast<u32>(Op::kCount);

/// One row of the Program table: a decodable instruction at `pc`, canonicalised. 24 bytes, copied
/// to devices.
struct ProgramRow {
  u32 pc;
  Op op;
  u8 rd;    ///< 33 (the sink) where the instruction writes x0; 0 where it writes nothing
  u8 rs1;   ///< 0 where unused
  u8 rs2;   ///< 0 where unused
  u64 imm;  ///< sign-extended; branch and JAL: absolute target; shifts: the amount; 0 where unused
  u64 reserved = 0;
};
static_assert(sizeof(ProgramRow) == 24);

}  // namespace epochd
