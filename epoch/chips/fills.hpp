// Records to rows, by ChipId: the CPU's use of every chip's `fill`.
#pragma once

#include <functional>

#include "epoch/exec/records.hpp"
#include "epoch/isa/opcode.hpp"
#include "prover/field/fp.hpp"

namespace epochd::chips {

/// Writes rows [begin, end) of one table: column c of row r is base[c * stride + r].
using FillRows = std::function<void(size_t begin, size_t end, prover::Fp* base, size_t stride)>;

/// For an instruction chip, from its records: InstructionRecord, or UnalignedRecord for kUnaligned.
FillRows fill_instructions(ChipId chip, const void* records, const ProgramRow* program);
FillRows fill_refresh(const RefreshRecord* records);
FillRows fill_boundary(const BoundaryRecord* records, u32 label);
/// previous_keys[i] stands before records[i] in its region's chain.
FillRows fill_anchors(const AnchorRecord* records, const u64* previous_keys);

/// How an image cell stands at the end of a run.
struct ImageEnd {
  u32 key;
  u32 fini_epoch;
  u64 fini;
  u64 previous_key;
};
FillRows fill_image(const ImageEnd* ends);

}  // namespace epochd::chips
