// What proofs and bundles are made of, word by word, and which tables a proof has. Shared by prover
// and verifier; freestanding. Everything is little-endian u64 words; every length is bounded before
// it is used.
//
//   bundle  = kMagic, format version, preset id, epoch_size_log2, program digest (4), epochs E,
//   anchors A,
//             last key of each region (3), E epoch records, the global sub-proofs
//   record  = word count of the rest, statement, boundary root (4), main root (4), argument
//   statement = pc_in, pc_out, cycles, out_in, outputs m, exit code, tables n, n x (chip | log2
//   height << 8),
//             m output words
//   sub-proof = word count of the rest, main root (4; zeros if it has no main tree), argument
//
// How many global sub-proofs there are, and of which tables, follows from E, A, the boundaries'
// heights and the preset.
#pragma once

#include "epoch/machine.hpp"
#include "prover/hash/digest.hpp"
#include "prover/verify/layout.hpp"

namespace epochd {

constexpr u64 kBundleMagic = 0x3130'4448'434f'5045ull;  ///< "EPOCHD01"
constexpr u64 kFormatVersion = 1;
constexpr u32 kRegionCount = 3;
constexpr u64 kAnchorsMax = 1ull << 30;
constexpr u32 kInstancesMax = 2;

/// The chain of each Order region starts here; real keys are greater.
constexpr u64 kRegionStart[kRegionCount] = {kAddressMin / 8 - 1, kInputFirstCell - 1ull,
                                            kRegBase - 1ull};
constexpr u64 kRegionLast[kRegionCount] = {kInputFirstCell - 1ull, kCellCount - 1ull, kSinkKey};

struct RunParams {
  const prover::Preset* preset = nullptr;
  u32 epoch_size_log2 = kEpochSizeLog2Default;
};

/// The roots of what the verifier knows of a program, computed from the ELF
/// (epoch/continuation/setup.hpp).
struct VerifyingKey {
  u32 preset_id = 0;
  u32 entry = 0;
  u32 log_program = 0;           ///< log2 height of `program`
  u32 log_image = 0;             ///< log2 height of `image`
  prover::Digest epoch_root{};   ///< fixed tree of epoch proofs: range16, bytes, program
  prover::Digest global_root{};  ///< fixed tree of the global proof: range16, image

  /// What statements call the program.
  prover::Digest digest() const;
};

struct TableEntry {
  ChipId chip;
  u32 log_height;
  bool operator==(const TableEntry&) const = default;
};

/// One epoch's public values. `outputs` points into the caller's words.
struct EpochStatement {
  u32 label = 0;
  bool is_final = false;
  u32 pc_in = 0;
  u32 pc_out = 0;
  u32 cycles = 0;
  u32 out_in = 0;
  u32 output_count = 0;
  u64 exit_code = 0;
  u32 table_count = 0;
  TableEntry tables[prover::kTablesMax];
  const u64* outputs = nullptr;
};

/// Base trees of an epoch proof, in absorption order.
enum EpochTree : u32 { kEpochFixedTree, kEpochBoundaryTree, kEpochMainTree, kEpochTreeCount };
/// Base trees of the global proof's last sub-proof.
enum LastTree : u32 { kLastFixedTree, kLastMainTree, kLastTreeCount };

/// Fixed height of a chip, or 0 where the statement lists it.
u32 fixed_height(ChipId chip, const VerifyingKey& vk);
/// Whether the table list is one an honest prover could send: known epoch chips in canonical order,
/// at most two instances (the second strictly lower), the four constant tables present, heights in
/// bounds.
bool table_list_ok(const EpochStatement& s, const VerifyingKey& vk, const RunParams& params);
/// Pre: table_list_ok. False only if the layout's own limits are broken.
bool epoch_layout(const EpochStatement& s, const RunParams& params, prover::Layout& out);
/// log2 height of the boundary table. Pre: table_list_ok.
u32 boundary_height(const EpochStatement& s);

/// The global proof's sub-proofs: groups of boundaries, anchor chunks but the last, then the last
/// one.
struct GlobalPlan {
  u32 epochs = 0;
  u64 anchors = 0;
  u32 group_count = 0;
  u32 chunk_count = 0;  ///< anchor chunks; the last one stands in the last sub-proof
  u32 sub_proofs() const { return group_count + chunk_count; }
};
GlobalPlan global_plan(u32 epochs, u64 anchors, const prover::Preset& preset);
/// log2 height of anchor chunk i.
u32 anchor_chunk_height(const GlobalPlan& plan, u32 chunk, const prover::Preset& preset);
u64 anchor_chunk_rows(const GlobalPlan& plan, u32 chunk, const prover::Preset& preset);

/// A group's layout: `count` boundary tables, labels from first_label on, each in a tree of its
/// own.
bool group_layout(u32 first_label, const u32* log_heights, u32 count, const prover::Preset& preset,
                  prover::Layout& out);
bool chunk_layout(u32 log_height, const prover::Preset& preset, prover::Layout& out);
/// range16, the last anchor chunk, image.
bool last_layout(u32 log_anchor, const VerifyingKey& vk, const prover::Preset& preset,
                 prover::Layout& out);

/// The least h >= 5 with 2^h >= rows.
constexpr u32 height_for(u64 rows) {
  u32 h = prover::kLogHeightMin;
  while ((u64{1} << h) < rows) ++h;
  return h;
}

}  // namespace epochd
