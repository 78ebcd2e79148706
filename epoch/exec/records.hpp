// What replay hands to the chips: compact records, one per row, which a chip's `fill` turns into
// columns on the CPU or on the GPU. Plain structs, copied to devices as they are.
#pragma once

#include <array>
#include <memory_resource>
#include <utility>
#include <vector>

#include "epoch/machine.hpp"

namespace epochd {

/// One executed instruction. Fields an instruction does not use are 0.
struct InstructionRecord {
  u32 program_row;  ///< index into the Program table
  u32 ts;           ///< 1 + 4 * (cycle within the epoch)
  u32 t_rs1;        ///< time of the previous access to the same key, for each access the row makes
  u32 t_rs2;
  u32 t_mem;
  u32 t_rd;
  u64 rs1;     ///< value read; ecall: a7
  u64 rs2;     ///< value read; ecall: a0
  u64 mem;     ///< the cell (8 bytes) before the access; loads and stores; for emit: unused
  u64 rd_old;  ///< value of rd (or the sink) before the write; emit: the output counter before it
};
static_assert(sizeof(InstructionRecord) == 56);
// ecall accesses: x17 at sub-step rs1, x10 at sub-step rs2; emit also the output counter at
// sub-step rd (t_rd, rd_old -> rd_old + 1). exit and debug leave t_rd = rd_old = 0.

/// A load or store not aligned to its width: two cells, the second possibly unused (then mem2 =
/// t_mem2 = 0).
struct UnalignedRecord {
  InstructionRecord base;
  u64 mem2;
  u32 t_mem2;
  u32 reserved;
};
static_assert(sizeof(UnalignedRecord) == 72);

/// Moves one token forward: (key, t_from, value) -> (key, t_to, value). Ordered by (t_to, key).
struct RefreshRecord {
  u32 key;
  u32 t_from;
  u32 t_to;
  u32 reserved;
  u64 value;
};
static_assert(sizeof(RefreshRecord) == 24);

/// A key the epoch touched: as it stood before and after. Keys ascending.
struct BoundaryRecord {
  u32 key;
  u32 init_epoch;  ///< label of the last epoch that touched it, 0: none
  u64 init;
  u64 fini;
  u32 fini_ts;
  u32 reserved;
};
static_assert(sizeof(BoundaryRecord) == 32);

/// A key touched in the run and not in the image: its genesis and its end.
struct AnchorRecord {
  u32 key;
  u32 fini_epoch;
  u64 init;
  u64 fini;
};
static_assert(sizeof(AnchorRecord) == 24);

/// The public values of one epoch (docs/machine.md, "The statement").
struct EpochPublic {
  u32 label = 0;  ///< 1, 2, 3 ...
  bool is_final = false;
  u32 pc_in = 0;
  u32 pc_out = 0;
  u32 cycles = 0;
  u32 out_in = 0;
  std::vector<u64> outputs;  ///< the words emitted; out_out = out_in + outputs.size()
  u64 exit_code = 0;         ///< final epoch only
};

/// Everything an epoch proof is made from. The bulk of it, the instructions, lives in memory of the
/// caller's choice: pinned memory, where a device copies it from.
struct EpochRecords {
  using Instructions = std::pmr::vector<InstructionRecord>;

  explicit EpochRecords(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : EpochRecords(memory, std::make_index_sequence<kInstructionChipCount>()) {}

  /// Indexed by ChipId below kInstructionChipCount; the kUnaligned slot stays empty.
  std::array<Instructions, kInstructionChipCount> instructions;
  std::pmr::vector<UnalignedRecord> unaligned;
  std::vector<RefreshRecord> refresh;
  std::vector<BoundaryRecord> boundary;
  EpochPublic public_values;

 private:
  template <size_t... kChip>
  EpochRecords(std::pmr::memory_resource* memory, std::index_sequence<kChip...>)
      : instructions{{(static_cast<void>(kChip), Instructions(memory))...}}, unaligned(memory) {}
};

}  // namespace epochd
