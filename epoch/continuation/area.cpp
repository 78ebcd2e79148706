#include "epoch/continuation/area.hpp"

#include <algorithm>

#include "epoch/chips/airs.hpp"
#include "epoch/exec/access_shape.hpp"
#include "prover/core/assert.hpp"

namespace epochd {
namespace {

u32 count_accesses(AccessShape shape) {
  return u32{shape.rs1} + u32{shape.rs2} + u32{shape.mem} + u32{shape.rd};
}

/// The rows an access may need besides its own: one that moves its token forward, one that brings
/// the key into the epoch.
u32 access_area() {
  return row_area(ChipId::kRefresh) + row_area(ChipId::kBoundary);
}

}  // namespace

u32 row_area(ChipId chip) {
  const prover::AirInfo* air = chips::find_air(chip);
  EPOCHD_ASSERT(air != nullptr);
  return air->main_width + 3 * air->aux_columns() + prover::kQuotientWidth;
}

u32 instruction_area(Op op) {
  u32 accesses = count_accesses(access_shape(op));
  if (op == Op::kEcall) ++accesses;  // emit counts its word
  return row_area(chip_of(op)) + accesses * access_area();
}

u32 unaligned_area() {
  const u32 accesses =
      std::max(count_accesses(access_shape(Op::kLd)), count_accesses(access_shape(Op::kSd)));
  return row_area(ChipId::kUnaligned) + (accesses + 1) * access_area();
}

AreaModel epoch_area(const RunParams& params) {
  AreaModel model;
  const u32 cell = params.preset->area_per_cycle + 1;
  for (u32 i = static_cast<u32>(Op::kNone) + 1; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    model.per_op[i] = std::max(instruction_area(op), access_shape(op).mem ? cell : 0);
  }
  model.unaligned = std::max(unaligned_area(), 2 * cell);
  model.cap = u64{params.preset->area_per_cycle} << params.epoch_size_log2;
  // 32 cycles' worth is the least cap there is; no instruction comes near it.
  const u32 dearest = *std::max_element(model.per_op.begin(), model.per_op.end());
  EPOCHD_ASSERT(std::max(dearest, model.unaligned) <= model.cap);
  return model;
}

}  // namespace epochd
