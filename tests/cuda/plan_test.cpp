// The plan of a device's memory, without a device: an upper bound of every session there can be,
// not a wild one, and the numbers a refusal gives.
#include "cuda/session/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "cuda/rt/slab_resource.hpp"
#include "cuda/session/buffers.hpp"
#include "cuda/session/mirror.hpp"
#include "cuda/session/record_ring.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/epoch_tables.hpp"
#include "epoch/exec/access_shape.hpp"
#include "epoch/exec/recycle_records.hpp"

namespace epochd::cuda {
namespace {

constexpr u64 kGibibyte = u64{1} << 30;
constexpr u32 kRegisterKeys = kSinkKey - kRegBase + 1;

/// An epoch of so many instructions of each operation; index kOpCount: misaligned accesses.
using Mix = std::array<u64, kOpCount + 1>;

/// Records that have only their numbers right, with every refresh and boundary row that memory
/// accesses can bring.
EpochRecords records_of(const Mix& mix) {
  EpochRecords records;
  u64 cells = kRegisterKeys;
  for (u32 i = 1; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    auto& rows = records.instructions[static_cast<u32>(chip_of(op))];
    rows.resize(rows.size() + mix[i]);
    if (access_shape(op).mem) cells += mix[i];
  }
  records.unaligned.resize(mix[kOpCount]);
  cells += 2 * mix[kOpCount];
  records.refresh.resize(cells);
  records.boundary.resize(cells);
  return records;
}

std::unique_ptr<prover::Layout> layout_of(const Mix& mix, const RunParams& params) {
  VerifyingKey vk;
  vk.log_program = ProgramSize{}.log_program;
  const EpochRecords records = records_of(mix);
  const auto tables = plan_tables(records, vk, *params.preset);
  auto layout = std::make_unique<prover::Layout>();
  EXPECT_TRUE(epoch_layout(make_statement(records, tables), params, *layout));
  return layout;
}

/// Takes instructions in a random order, each as often as it goes under the cap with a random part
/// of what is left.
Mix random_mix(const RunParams& params, std::mt19937_64& random) {
  const AreaModel model = epoch_area(params);
  u64 area = model.cap;
  u64 cycles = u64{1} << params.epoch_size_log2;
  Mix mix{};
  const u32 kinds = 1 + random() % 6;
  for (u32 i = 0; i < kinds; ++i) {
    const u32 op = 1 + random() % kOpCount;
    const u64 each = op == kOpCount ? model.unaligned : model.per_op[op];
    u64 count = std::min(cycles, area / each);
    if (i + 1 < kinds) count = random() % (count + 1);
    mix[op] += count;
    area -= count * each;
    cycles -= count;
  }
  return mix;
}

TEST(CudaPlan, BoundsEveryEpochUnderTheCap) {
  std::mt19937_64 random(20260731);
  for (const prover::Preset& preset : prover::kPresets) {
    for (const u32 size : {6u, 12u, 15u}) {
      const RunParams params{&preset, size};
      const CudaPlan plan = plan_cuda(params, Residency::kHostMirror);
      double fullest = 0;
      for (u32 i = 0; i < 60; ++i) {
        const auto layout = layout_of(random_mix(params, random), params);
        const size_t bytes = session_bytes(*layout);
        ASSERT_LE(bytes, plan.epoch_bytes) << preset.name << " 2^" << size << " mix " << i;
        ASSERT_LE(mirror_bytes(*layout), plan.mirror_bytes);
        fullest = std::max(fullest, double(bytes) / double(plan.epoch_bytes));
      }
      EXPECT_GE(fullest, 0.4) << preset.name << " 2^" << size;
    }
  }
}

/// Every operation alone, as often as fits.
TEST(CudaPlan, BoundsEpochsOfOneInstruction) {
  const RunParams params{&prover::kPresets[0], 16};
  const AreaModel model = epoch_area(params);
  const CudaPlan plan = plan_cuda(params, Residency::kHostMirror);
  for (u32 op = 1; op <= kOpCount; ++op) {
    Mix mix{};
    const u64 each = op == kOpCount ? model.unaligned : model.per_op[op];
    mix[op] = std::min(u64{1} << params.epoch_size_log2, model.cap / each);
    const auto layout = layout_of(mix, params);
    EXPECT_LE(session_bytes(*layout), plan.epoch_bytes) << "op " << op;
    EXPECT_LE(mirror_bytes(*layout), plan.mirror_bytes) << "op " << op;
  }
}

TEST(CudaPlan, BoundsEverySubProofOfTheGlobalProof) {
  std::mt19937_64 random(5);
  for (const prover::Preset& preset : prover::kPresets) {
    const RunParams params{&preset, 18};
    const CudaPlan plan = plan_cuda(params, Residency::kHostMirror);
    const auto layout = std::make_unique<prover::Layout>();
    const auto check = [&](bool is_layout) {
      ASSERT_TRUE(is_layout);
      EXPECT_LE(session_bytes(*layout), plan.global_bytes) << preset.name;
      EXPECT_LE(mirror_bytes(*layout), plan.mirror_bytes) << preset.name;
    };
    for (u32 i = 0; i < 100; ++i) {
      const u32 count = 1 + random() % preset.group_size;
      std::vector<u32> heights(count);
      for (u32& h : heights) h = 5 + random() % (boundary_log_height_max(params) - 4);
      check(group_layout(1, heights.data(), count, preset, *layout));
    }
    for (u32 h = 5; h <= preset.log_anchor_chunk; ++h) check(chunk_layout(h, preset, *layout));
    VerifyingKey vk;
    for (vk.log_image = 5; vk.log_image <= 16; ++vk.log_image) {
      check(last_layout(preset.log_anchor_chunk, vk, preset, *layout));
    }
  }
}

TEST(CudaPlan, FitsTheDevicesItIsMadeFor) {
  const prover::Preset& preset = *prover::find_preset(1);
  EXPECT_LE(plan_cuda({&preset, 20}).device_bytes(), 6 * kGibibyte);
  EXPECT_LE(plan_cuda({&preset, 22}).device_bytes(), 24 * kGibibyte);
}

TEST(CudaPlan, GrowsWithTheEpochAndTheProgram) {
  const prover::Preset& preset = *prover::find_preset(1);
  for (u32 size = kEpochSizeLog2Min; size < kEpochSizeLog2Max; ++size) {
    const CudaPlan plan = plan_cuda({&preset, size});
    const CudaPlan next = plan_cuda({&preset, size + 1});
    EXPECT_GT(next.epoch_bytes, plan.epoch_bytes) << size;
    EXPECT_GE(next.global_bytes, plan.global_bytes) << size;
    EXPECT_EQ(plan.mirror_bytes, 0u);
  }
  PlannedProgram large;
  large.size.log_program = 20;
  large.size.log_image = 18;
  large.text_words = 3u << 20;
  const RunParams params{&preset, 18};
  const CudaPlan plan = plan_cuda(params);
  const CudaPlan of_large = plan_cuda(params, Residency::kDeviceOnly, large);
  EXPECT_GT(of_large.epoch_bytes, plan.epoch_bytes);
  EXPECT_GT(of_large.fixed_bytes, plan.fixed_bytes);
  EXPECT_GT(of_large.descriptor_bytes, (3u << 20) * sizeof(u32));
  EXPECT_TRUE(large.covers({}));
  EXPECT_FALSE(PlannedProgram{}.covers(large));
  EXPECT_TRUE(PlannedProgram{}.at_least(large).covers(large));
}

TEST(CudaPlan, CountsWhatFitsAndSaysWhatDoesNot) {
  const RunParams params{&prover::kPresets[0], 20};
  const CudaPlan plan = plan_cuda(params);
  for (const u32 provers : {1u, 2u, 5u}) {
    const u64 needed = plan.device_bytes(provers) + kDriverBytes;
    EXPECT_EQ(in_flight_max(plan, needed), provers);
    EXPECT_EQ(in_flight_max(plan, needed - 1), provers - 1);
  }
  EXPECT_EQ(in_flight_max(plan, 0), 0u);
  const std::string text = plan_refusal(params, Residency::kDeviceOnly, {}, 2 * kGibibyte);
  EXPECT_NE(text.find("of 2^20 cycles"), std::string::npos) << text;
  EXPECT_NE(text.find("device has 2.0 free"), std::string::npos) << text;
  EXPECT_NE(text.find("EPOCH_SIZE_LOG2 <= 18 fits"), std::string::npos) << text;
  EXPECT_EQ(plan_refusal(params, Residency::kDeviceOnly, {}, kGibibyte / 2).substr(0, 20),
            "an epoch of 2^20 cyc");
  EXPECT_NE(plan_refusal(params, Residency::kDeviceOnly, {}, kGibibyte / 2)
                .find("no EPOCH_SIZE_LOG2 fits"),
            std::string::npos);
}

/// Rows of each chip, by what share of the cycles takes it: most of them by a few.
void replay_mix(EpochRecords& records, u32 cycles, std::span<const double> shares) {
  double sum = 0;
  std::vector<double> until;
  for (const double share : shares) until.push_back(sum += share);
  std::mt19937_64 random(cycles);
  for (u32 i = 0; i < cycles; ++i) {
    const double at = sum * static_cast<double>(random() >> 11) * 0x1p-53;
    const auto chip = std::upper_bound(until.begin(), until.end() - 1, at);
    records.instructions[static_cast<size_t>(chip - until.begin())].emplace_back();
  }
}

TEST(CudaPlan, RecordMemoryHoldsEpochsOfChangingMixes) {
  constexpr u32 kProvers = 3;
  const RunParams params{&prover::kPresets[0], 13};
  const u64 bytes = record_bytes(params, kProvers);
  for (u64 seed = 0; seed < 4; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<u8> memory(bytes + SlabResource::kAlignment);
    void* slab = memory.data();
    size_t space = memory.size();
    std::align(SlabResource::kAlignment, bytes, slab, space);
    SlabResource resource(static_cast<u8*>(slab), bytes, std::pmr::new_delete_resource());
    EpochRecords sets[] = {EpochRecords(&resource), EpochRecords(&resource)};
    std::vector<double> shares(kInstructionChipCount);
    for (u32 epoch = 0; epoch < 70; ++epoch) {
      // A program goes through phases; within one, epochs are alike.
      for (double& share : shares) {
        if (epoch % 7 == 0) share = std::pow(double(random() % 1000) / 1000, 4);
        share *= 0.9 + double(random() % 200) / 1000;
      }
      EpochRecords& records = sets[random() % 2];
      recycle(records);
      for (const auto& rows : records.instructions) EXPECT_TRUE(rows.empty());
      replay_mix(records, 1u << params.epoch_size_log2, shares);
    }
    EXPECT_EQ(resource.overflow_count(), 0u) << "seed " << seed;
  }
}

TEST(RecordRing, UsesAPlaceAgainOnlyFromItsBeginning) {
  RecordRing ring(1000);
  const auto next = [&](size_t bytes) {
    const RecordRing::Piece piece = ring.next(bytes);
    return std::pair(piece.at, piece.is_reused);
  };
  EXPECT_EQ(next(200), std::pair(size_t{0}, false));
  EXPECT_EQ(next(512), std::pair(size_t{256}, false));
  EXPECT_EQ(next(232), std::pair(size_t{768}, false)) << "to the last byte";
  EXPECT_EQ(next(1), std::pair(size_t{0}, true));
  EXPECT_EQ(next(744), std::pair(size_t{256}, false));
  EXPECT_EQ(next(1000), std::pair(size_t{0}, true));
  EXPECT_EQ(next(0), std::pair(size_t{1000}, false));
}

TEST(CudaPlan, IsDescribedForEverySize) {
  const std::string text = describe_plans(*prover::find_preset(1), Residency::kDeviceOnly);
  EXPECT_EQ(text.rfind("2^16 1.", 0), 0u) << text;
  for (u32 size = 17; size <= kEpochSizeLog2Max; ++size) {
    EXPECT_NE(text.find(", 2^" + std::to_string(size) + " "), std::string::npos) << text;
  }
  EXPECT_TRUE(text.ends_with(" GiB")) << text;
}

}  // namespace
}  // namespace epochd::cuda
