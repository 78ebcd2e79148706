// What each table of a proof is filled from: every chip's `fill` over its records, by ChipId.
#pragma once

#include <span>

#include "epoch/exec/records.hpp"
#include "epoch/isa/opcode.hpp"
#include "prover/prove/table_source.hpp"

namespace epochd::chips {

/// For an instruction chip, from its records: InstructionRecord, or UnalignedRecord for kUnaligned.
prover::TableSource instruction_source(ChipId chip, const void* records, size_t rows,
                                       std::span<const ProgramRow> program);
prover::TableSource refresh_source(const RefreshRecord* records, size_t rows);
/// For kBoundary and kBoundaryGlobal.
prover::TableSource boundary_source(ChipId chip, const BoundaryRecord* records, size_t rows,
                                    u32 label);
/// previous_keys[i] stands before records[i] in its region's chain.
prover::TableSource anchor_source(const AnchorRecord* records, const u64* previous_keys,
                                  size_t rows);
/// How an image cell stands at the end of a run.
struct ImageEnd {
  u32 key;
  u32 fini_epoch;
  u64 fini;
  u64 previous_key;
};
prover::TableSource image_source(const ImageEnd* ends, size_t rows);
/// For tables whose main columns are only lookup counters.
prover::TableSource counter_source(ChipId chip);

}  // namespace epochd::chips
