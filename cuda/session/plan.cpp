#include "cuda/session/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

#include "cuda/ntt/sizes.hpp"
#include "cuda/open/point_sizes.hpp"
#include "cuda/session/buffers.hpp"
#include "cuda/session/mirror.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/exec/records.hpp"
#include "prover/pcs/merkle.hpp"

namespace epochd::cuda {
namespace {

using prover::AirInfo;
using prover::Digest;
using prover::Fp3;
using prover::Layout;
using prover::Preset;

constexpr u64 kWord = sizeof(u64);
constexpr u64 kStagingBytes = u64{64} << 20;
/// Descriptors but for what grows with the program or an anchor chunk: challenges' powers, jobs,
/// query indices and digests' positions of the largest layout are less than half of it.
constexpr u64 kDescriptorBytes = u64{8} << 20;
constexpr u64 kLookupCounters = u64{1} << 16;
/// Buffers a session places, each aligned.
constexpr u64 kBufferCountMax = 1024;
constexpr u64 kAlignment = 256;

/// What an epoch's layout can have at most, table heights aside.
struct EpochLimits {
  u32 log_height;           ///< of the tallest table
  u32 boundary_log_height;  ///< of the boundary table
  u64 columns = 0;          ///< of all trees
  u64 openings = 0;
  u64 lane_scratch_words = 0;
};

EpochLimits epoch_limits(const RunParams& params, u32 log_program) {
  const Preset& preset = *params.preset;
  EpochLimits limits;
  limits.log_height = epoch_log_height_max(params, log_program);
  limits.boundary_log_height = boundary_log_height_max(params);
  for (u32 i = 0; i <= static_cast<u32>(ChipId::kBoundary); ++i) {
    const ChipId chip = static_cast<ChipId>(i);
    const AirInfo& air = *chips::find_air(chip);
    const u32 aux = 3 * air.aux_columns();
    const u64 columns = u64{air.fixed_width} + air.main_width + aux;
    limits.columns += preset.instance_limit * columns;
    limits.openings += preset.instance_limit * (columns + 3);
    const u32 height =
        std::max(chip_log_height_max(params, chip), chip == ChipId::kProgram ? log_program : 0);
    limits.lane_scratch_words =
        std::max<u64>(limits.lane_scratch_words,
                      lde_lane_scratch_words(std::max<u32>(air.main_width, aux), height));
  }
  const u64 quotient = u64{prover::kQuotientWidth} * prover::kHeightsMax;
  limits.columns += quotient;
  limits.openings = std::min<u64>(limits.openings + quotient, prover::kOpeningsMax);
  return limits;
}

u64 tree_bytes(u32 log_leaves) {
  return prover::MerkleTree::digest_count(log_leaves) * sizeof(Digest);
}

/// Words, trees and the last word of FRI: each layer is 2^log_fold times smaller than the last.
u64 fri_bytes(const Preset& preset, u32 log_domain) {
  u64 bytes = 0;
  for (u32 log_word = log_domain;;) {
    bytes += 3 * kWord << log_word;
    if (log_word <= preset.log_fold) return bytes;
    log_word -= preset.log_fold;
    bytes += tree_bytes(log_word);
  }
}

/// What is gathered: every row and every digest of every query (gathered_words_max).
u64 gathered_bytes(const Preset& preset, const EpochLimits& limits) {
  const u32 log_domain = limits.log_height + preset.log_blowup;
  const u64 trees = kEpochTreeCount + 2;
  const u64 words = limits.columns + (trees + prover::kFriStepsMax) * 4 * log_domain +
                    prover::kFriStepsMax * (u64{3} << preset.log_fold);
  return preset.query_count * words * kWord;
}

/// What is at one place of a session while its largest: bytes, and words a padded row for every
/// main and every LogUp column.
struct Place {
  u64 bytes = 0;
  double main = 0;
  double aux = 0;

  Place operator+(const Place& o) const { return {bytes + o.bytes, main + o.main, aux + o.aux}; }
};

/// The most that all places together take in an epoch.
u64 bytes_max(const RunParams& params, u32 log_program, const Place& all) {
  const double tables = epoch_table_bytes_max(params, log_program, [&](const AirInfo& air) {
    return kWord * (all.main * air.main_width + all.aux * 3 * air.aux_columns()) +
           double(sizeof(Fp3)) / kScanRowsMin;
  });
  return all.bytes + static_cast<u64>(tables);
}

/// SessionBuffers of the dearest epoch, place by place.
u64 epoch_arena_bytes(const RunParams& params, u32 log_program) {
  const Preset& preset = *params.preset;
  const u32 b = preset.log_blowup;
  const double blowup = 1u << b;
  const EpochLimits limits = epoch_limits(params, log_program);
  const u64 rows = u64{1} << limits.log_height;
  const u32 log_domain = limits.log_height + b;
  // Distinct heights' rows add up to less than twice the tallest's.
  const u64 quotients = 2 * prover::kQuotientWidth * kWord * rows;
  const u64 small = limits.openings * sizeof(Fp3) * std::max<u64>(1, rows / kPartialRowsMin) +
                    gathered_bytes(preset, limits) + limits.openings * sizeof(Fp3) +
                    kBufferCountMax * kAlignment;
  const u64 base_trees = tree_bytes(limits.boundary_log_height + b) + tree_bytes(log_domain);
  const Place kept{small + base_trees, blowup, 0};

  const Place first[] = {{sizeof(UnalignedRecord) * rows, 0, 0},
                         {0, 0, 1},
                         {2 * quotients + fri_bytes(preset, log_domain), 0, 0}};
  const Place second[] = {{0, 1, 1}, {2 * tree_bytes(log_domain) + (quotients << b), 0, blowup}};
  // Scratch of the main columns' extension, of LogUp's, of openings and DEEP. The lanes together
  // need two words for every row they extend, but never more than each needs for its largest.
  const Place by_rows[] = {{0, 2, 0}, {0, 0, 2}, {(u64{12} << (log_domain - 1)) * kWord, 0, 0}};
  const Place by_lanes{
      std::max(kLaneCount * limits.lane_scratch_words, u64{12} << (log_domain - 1)) * kWord, 0, 0};
  u64 most = 0;
  for (const Place& x : first) {
    for (const Place& y : second) {
      const Place session = kept + x + y;
      u64 bytes = 0;
      for (const Place& z : by_rows) {
        bytes = std::max(bytes, bytes_max(params, log_program, session + z));
      }
      most = std::max(most, std::min(bytes, bytes_max(params, log_program, session + by_lanes)));
    }
  }
  return most;
}

/// The most that `bytes_of` gives for a sub-proof of the global proof: a group of the tallest
/// boundaries, a full anchor chunk, the last one.
u64 global_bytes_max(const RunParams& params, u32 log_image,
                     const std::function<size_t(const Layout&)>& bytes_of) {
  const Preset& preset = *params.preset;
  const auto layout = std::make_unique<Layout>();
  const std::vector<u32> heights(preset.group_size, boundary_log_height_max(params));
  EPOCHD_ASSERT(group_layout(1, heights.data(), preset.group_size, preset, *layout));
  u64 bytes = bytes_of(*layout);
  EPOCHD_ASSERT(chunk_layout(preset.log_anchor_chunk, preset, *layout));
  bytes = std::max<u64>(bytes, bytes_of(*layout));
  VerifyingKey vk;
  vk.log_image = log_image;
  EPOCHD_ASSERT(last_layout(preset.log_anchor_chunk, vk, preset, *layout));
  return std::max<u64>(bytes, bytes_of(*layout));
}

/// HostMirror of the dearest epoch.
u64 epoch_mirror_bytes(const RunParams& params, u32 log_program) {
  const Preset& preset = *params.preset;
  const u32 b = preset.log_blowup;
  const EpochLimits limits = epoch_limits(params, log_program);
  const u32 log_domain = limits.log_height + b;
  const u64 quotient = 2 * prover::kQuotientWidth * kWord << log_domain;
  const double tables = epoch_table_bytes_max(params, log_program, [&](const AirInfo& air) {
    return kWord * double(1 + (1u << b)) * (air.main_width + 3 * air.aux_columns());
  });
  return static_cast<u64>(tables) + tree_bytes(limits.boundary_log_height + b) +
         3 * tree_bytes(log_domain) + quotient + fri_bytes(preset, log_domain) +
         kBufferCountMax * kAlignment;
}

/// Traces, extensions and digests of fixed tables that stand in one tree.
u64 fixed_tree_bytes(std::initializer_list<std::pair<ChipId, u32>> tables, u32 log_blowup) {
  u64 bytes = 0;
  u32 log_height = 0;
  for (const auto& [chip, height] : tables) {
    bytes += (chips::find_air(chip)->fixed_width * kWord << height) * (1 + (u64{1} << log_blowup));
    log_height = std::max(log_height, height);
  }
  return bytes + tree_bytes(log_height + log_blowup);
}

/// Heights with twiddle tables of their own: those large enough for the fast kernels to matter.
std::vector<u32> table_heights(const RunParams& params) {
  std::vector<u32> heights;
  for (u32 h = 13; h <= std::min(22u, params.epoch_size_log2 + 1); ++h) heights.push_back(h);
  return heights;
}

std::string gibibytes(u64 bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", double(bytes) / double(u64{1} << 30));
  return text;
}

}  // namespace

PlannedProgram PlannedProgram::of(const ProvingKey& key) {
  return {{key.vk.log_program, key.vk.log_image}, key.row_of_word.size()};
}

PlannedProgram PlannedProgram::at_least(const PlannedProgram& other) const {
  return {{std::max(size.log_program, other.size.log_program),
           std::max(size.log_image, other.size.log_image)},
          std::max(text_words, other.text_words)};
}

bool PlannedProgram::covers(const PlannedProgram& other) const {
  return size.log_program >= other.size.log_program && size.log_image >= other.size.log_image &&
         text_words >= other.text_words;
}

CudaPlan plan_cuda(const RunParams& params, Residency residency, const PlannedProgram& program) {
  const u32 b = params.preset->log_blowup;
  const u32 log_program = program.size.log_program;
  const u32 log_image = program.size.log_image;
  CudaPlan plan;
  plan.epoch_bytes = epoch_arena_bytes(params, log_program);
  plan.global_bytes = global_bytes_max(params, log_image, session_bytes);
  const u64 of_program = (sizeof(ProgramRow) << log_program) + program.text_words * sizeof(u32);
  const u64 of_anchors = (kWord << params.preset->log_anchor_chunk) + kLookupCounters * kWord;
  plan.descriptor_bytes = kDescriptorBytes + std::max(of_program, of_anchors);
  plan.staging_bytes = kStagingBytes;
  plan.record_bytes = record_bytes(params, 1);
  if (residency == Residency::kHostMirror) {
    plan.mirror_bytes = std::max(epoch_mirror_bytes(params, log_program),
                                 global_bytes_max(params, log_image, mirror_bytes));
  }
  plan.table_heights = table_heights(params);
  plan.log_blowup = b;
  plan.log_domain_max = b + std::max({epoch_log_height_max(params, log_program), log_image,
                                      params.preset->log_anchor_chunk});
  plan.table_bytes =
      ntt_table_bytes(plan.table_heights, b) + 2 * point_table_bytes(plan.log_domain_max);
  plan.fixed_bytes =
      fixed_tree_bytes(
          {{ChipId::kRange16, 16}, {ChipId::kBytes, 16}, {ChipId::kProgram, log_program}}, b) +
      fixed_tree_bytes({{ChipId::kRange16, 16}, {ChipId::kImage, log_image}}, b);
  return plan;
}

u64 record_bytes(const RunParams& params, u32 provers) {
  const u64 sets = (kReplayedAhead + provers + provers - 1) / provers;
  return sets * (7 * sizeof(InstructionRecord) / 2 << params.epoch_size_log2);
}

u32 in_flight_max(const CudaPlan& plan, u64 free_bytes) {
  const u64 shared = plan.table_bytes + plan.fixed_bytes + kDriverBytes;
  return free_bytes < shared ? 0 : static_cast<u32>((free_bytes - shared) / plan.prover_bytes());
}

std::string describe_plans(const prover::Preset& preset, Residency residency) {
  std::string text;
  for (u32 size = 16; size <= kEpochSizeLog2Max; ++size) {
    const CudaPlan plan = plan_cuda({&preset, size}, residency);
    text += (size == 16 ? "2^" : ", 2^") + std::to_string(size) + " " +
            gibibytes(plan.device_bytes() + kDriverBytes);
  }
  return text + " GiB";
}

std::string plan_refusal(const RunParams& params, Residency residency,
                         const PlannedProgram& program, u64 free_bytes) {
  const auto needed = [&](const RunParams& p) {
    return plan_cuda(p, residency, program).device_bytes() + kDriverBytes;
  };
  const std::string text = "an epoch of 2^" + std::to_string(params.epoch_size_log2) +
                           " cycles needs " + gibibytes(needed(params)) + " GiB, device has " +
                           gibibytes(free_bytes) + " free: ";
  RunParams smaller = params;
  while (smaller.epoch_size_log2 > kEpochSizeLog2Min) {
    --smaller.epoch_size_log2;
    if (needed(smaller) <= free_bytes) {
      return text + "EPOCH_SIZE_LOG2 <= " + std::to_string(smaller.epoch_size_log2) + " fits";
    }
  }
  return text + "no EPOCH_SIZE_LOG2 fits";
}

}  // namespace epochd::cuda
