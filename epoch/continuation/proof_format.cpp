#include "epoch/continuation/proof_format.hpp"

#include "epoch/chips/airs.hpp"
#include "prover/hash/blake3.hpp"

namespace epochd {
namespace {

constexpr u32 kLogRange16 = 16;

bool is_epoch_chip(ChipId chip) {
  return chip <= ChipId::kBoundary && chips::find_air(chip) != nullptr;
}
bool is_constant(ChipId chip) {
  return chip == ChipId::kProgram || chip == ChipId::kRange16 || chip == ChipId::kBytes ||
         chip == ChipId::kBoundary;
}

prover::TableShape table(ChipId chip, u32 log_height, u32 fixed_tree, u32 main_tree) {
  prover::TableShape t;
  t.air = chips::find_air(chip);
  t.log_height = log_height;
  t.fixed_tree = t.air->fixed_width > 0 ? fixed_tree : prover::kNone;
  t.main_tree = main_tree;
  return t;
}

}  // namespace

prover::Digest VerifyingKey::digest() const {
  u64 words[4 + 8] = {preset_id, entry, log_program, log_image};
  for (u32 i = 0; i < 4; ++i) {
    words[4 + i] = epoch_root.words[i];
    words[8 + i] = global_root.words[i];
  }
  return prover::blake3_hash(words, sizeof words);
}

u32 fixed_height(ChipId chip, const VerifyingKey& vk) {
  switch (chip) {
    case ChipId::kProgram:
      return vk.log_program;
    case ChipId::kRange16:
    case ChipId::kBytes:
      return kLogRange16;
    case ChipId::kImage:
      return vk.log_image;
    default:
      return 0;
  }
}

bool table_list_ok(const EpochStatement& s, const VerifyingKey& vk, const RunParams& params) {
  if (s.table_count > prover::kTablesMax) return false;
  u32 constants = 0;
  for (u32 i = 0; i < s.table_count; ++i) {
    const TableEntry& t = s.tables[i];
    if (!is_epoch_chip(t.chip)) return false;
    if (t.log_height < prover::kLogHeightMin || t.log_height > prover::kLogHeightMax) return false;
    const u32 fixed = fixed_height(t.chip, vk);
    if (fixed != 0 && t.log_height != fixed) return false;
    constants += is_constant(t.chip) ? 1 : 0;
    if (i == 0) continue;
    const TableEntry& before = s.tables[i - 1];
    if (t.chip < before.chip) return false;
    if (t.chip == before.chip) {
      const bool second = i < 2 || s.tables[i - 2].chip != t.chip;
      if (is_constant(t.chip) || !second || params.preset->instance_limit < kInstancesMax ||
          t.log_height >= before.log_height) {
        return false;
      }
    }
  }
  // Constants appear once each (duplicates are refused above), so four of them are all of them.
  return constants == 4;
}

u32 boundary_height(const EpochStatement& s) {
  return s.tables[s.table_count - 1].log_height;
}

bool epoch_layout(const EpochStatement& s, const RunParams& params, prover::Layout& out) {
  prover::ProofShape shape;
  shape.preset = params.preset;
  shape.base_tree_count = kEpochTreeCount;
  shape.table_count = s.table_count;
  for (u32 i = 0; i < s.table_count; ++i) {
    const bool is_boundary = s.tables[i].chip == ChipId::kBoundary;
    shape.tables[i] = table(s.tables[i].chip, s.tables[i].log_height, kEpochFixedTree,
                            is_boundary ? kEpochBoundaryTree : kEpochMainTree);
    if (is_boundary) shape.tables[i].params[0] = prover::Fp::from_u64(s.label);
  }
  return prover::derive_layout(shape, out);
}

GlobalPlan global_plan(u32 epochs, u64 anchors, const prover::Preset& preset) {
  GlobalPlan plan;
  plan.epochs = epochs;
  plan.anchors = anchors;
  plan.group_count = (epochs + preset.group_size - 1) / preset.group_size;
  const u64 chunk = u64{1} << preset.log_anchor_chunk;
  plan.chunk_count = static_cast<u32>((anchors + chunk - 1) / chunk);
  return plan;
}

u64 anchor_chunk_rows(const GlobalPlan& plan, u32 chunk, const prover::Preset& preset) {
  const u64 size = u64{1} << preset.log_anchor_chunk;
  const u64 left = plan.anchors - chunk * size;
  return left < size ? left : size;
}

u32 anchor_chunk_height(const GlobalPlan& plan, u32 chunk, const prover::Preset& preset) {
  return height_for(anchor_chunk_rows(plan, chunk, preset));
}

bool group_layout(u32 first_label, const u32* log_heights, u32 count, const prover::Preset& preset,
                  prover::Layout& out) {
  prover::ProofShape shape;
  shape.preset = &preset;
  shape.base_tree_count = count;
  shape.table_count = count;
  for (u32 i = 0; i < count; ++i) {
    shape.tables[i] = table(ChipId::kBoundaryGlobal, log_heights[i], prover::kNone, i);
    shape.tables[i].params[0] = prover::Fp::from_u64(first_label + i);
  }
  return prover::derive_layout(shape, out);
}

bool chunk_layout(u32 log_height, const prover::Preset& preset, prover::Layout& out) {
  prover::ProofShape shape;
  shape.preset = &preset;
  shape.base_tree_count = 1;
  shape.table_count = 1;
  shape.tables[0] = table(ChipId::kAnchor, log_height, prover::kNone, 0);
  return prover::derive_layout(shape, out);
}

bool last_layout(u32 log_anchor, const VerifyingKey& vk, const prover::Preset& preset,
                 prover::Layout& out) {
  prover::ProofShape shape;
  shape.preset = &preset;
  shape.base_tree_count = kLastTreeCount;
  shape.table_count = 3;
  shape.tables[0] = table(ChipId::kRange16, kLogRange16, kLastFixedTree, kLastMainTree);
  shape.tables[1] = table(ChipId::kAnchor, log_anchor, prover::kNone, kLastMainTree);
  shape.tables[2] = table(ChipId::kImage, vk.log_image, kLastFixedTree, kLastMainTree);
  return prover::derive_layout(shape, out);
}

}  // namespace epochd
