// Constants of the machine that executor, chips and verifier share (docs/machine.md). Freestanding.
#pragma once

#include "prover/core/types.hpp"

namespace epochd {

// --- Keys: one name for every cell
// -----------------------------------------------------------------
constexpr u32 kCellCount = 1u << 29;  ///< memory cell c = address / 8 has key c < 2^29
constexpr u32 kRegBase = 1u << 31;    ///< register r has key kRegBase + r
constexpr u32 kOutputCounterKey = kRegBase + 32;
constexpr u32 kSinkRegister = 33;  ///< stands for rd = x0; nothing reads it
constexpr u32 kSinkKey = kRegBase + kSinkRegister;

// --- Address space
// ---------------------------------------------------------------------------------
constexpr u64 kAddressMin = 0x1000;  ///< the lowest accessible byte
constexpr u64 kAddressEnd = 1ull << 32;
constexpr u64 kImageEnd = 0xC0000000ull;   ///< PT_LOAD segments lie in [kAddressMin, kImageEnd)
constexpr u64 kInputBase = 0xC0000000ull;  ///< u64 byte length, then the bytes, zero padded
constexpr u64 kInputBytesMax = (1ull << 30) - 16;
constexpr u32 kInputFirstCell = static_cast<u32>(kInputBase / 8);  ///< 0x1800'0000

// --- Time
// ------------------------------------------------------------------------------------------
constexpr u32 kTicksPerCycle = 4;
constexpr u32 kFirstTs = 1;  ///< instruction i has ts = 1 + 4i; time 0 is before the epoch
constexpr u32 kSubRs1 = 0;
constexpr u32 kSubRs2 = 1;
constexpr u32 kSubMem = 2;
constexpr u32 kSubRd = 3;
constexpr u32 kEpochSizeLog2Min = 5;
constexpr u32 kEpochSizeLog2Max = 26;
constexpr u32 kEpochSizeLog2Default = 20;
constexpr u32 kEpochCountMax = (1u << 31) - 1;

constexpr u32 kHaltPc = 1;  ///< odd, in no Program row: nothing runs after an exit

// --- System calls (number in a7)
// --------------------------------------------------------------------
constexpr u64 kSyscallExit = 93;
constexpr u64 kSyscallEmit = 1;
constexpr u64 kSyscallDebug = 2;

// --- Buses (LogUp; send +, receive -). Ids are part of the statement.
// ---------------------------------
enum class Bus : u8 {
  kState = 1,  ///< pc, ts
  kProgram,    ///< pc, opcode, rd, rs1, rs2, imm_lo, imm_hi
  kMemory,     ///< key, ts, lo, hi
  kRange16,    ///< x
  kSign16,     ///< x, msb(x)
  kAlign,      ///< x >> 3, x & 7
  kBytes,      ///< op, x, y, z
  kOutput,     ///< index, lo, hi
  kExit,       ///< lo, hi
  kGlobal,     ///< key, lo, hi, epoch
  kOrder,      ///< region, key
};

/// The `op` field of the Bytes bus.
enum class ByteOp : u8 { kRange = 0, kAnd = 1, kOr = 2, kXor = 3 };

// --- Chips, in canonical table order
// ------------------------------------------------------------------
enum class ChipId : u8 {
  kAdd,
  kAddi,
  kAddw,
  kBitwise,
  kCompare,
  kShiftImm,
  kShift,
  kBeq,
  kBlt,
  kJal,
  kJalr,
  kLd,
  kLw,
  kLbh,
  kStore,
  kStoreNarrow,
  kUnaligned,
  kMul,
  kDivrem,
  kEcall,
  kRefresh,
  kProgram,
  kRange16,
  kBytes,
  kBoundary,
  kBoundaryGlobal,  ///< the boundary trace as the global proof sees it
  kAnchor,
  kImage,
  kCount,
};
constexpr u32 kChipCount = static_cast<u32>(ChipId::kCount);
/// Chips whose rows are executed instructions: kAdd .. kEcall.
constexpr u32 kInstructionChipCount = static_cast<u32>(ChipId::kEcall) + 1;

}  // namespace epochd
