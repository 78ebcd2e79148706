#include "epoch/chips/fills.hpp"

#include <array>

#include "epoch/chips/all_airs.hpp"
#include "epoch/chips/all_fills.hpp"
#include "prover/core/assert.hpp"

namespace epochd::chips {
namespace {

using prover::Fp;

template <class Air>
void fill_range(const void* records, const ProgramRow* program, size_t begin, size_t end, Fp* base,
                size_t stride) {
  const auto* typed = static_cast<const typename Fill<Air>::Record*>(records);
  for (size_t r = begin; r < end; ++r) {
    RowWriter row{base + r, stride};
    Fill<Air>::fill(typed[r], program, row);
  }
}
using FillRange = void (*)(const void*, const ProgramRow*, size_t, size_t, Fp*, size_t);

template <class... Entries>
constexpr std::array<FillRange, kInstructionChipCount> instruction_fills(AirList<Entries...>) {
  std::array<FillRange, kInstructionChipCount> fills{};
  const auto add = [&]<class Entry>() {
    if constexpr (Entry::kChip <= ChipId::kEcall) {
      fills[static_cast<u32>(Entry::kChip)] = &fill_range<typename Entry::Air>;
    }
  };
  (add.template operator()<Entries>(), ...);
  return fills;
}
constexpr auto kInstructionFills = instruction_fills(AllAirs{});

}  // namespace

FillRows fill_instructions(ChipId chip, const void* records, const ProgramRow* program) {
  const FillRange fill = kInstructionFills[static_cast<u32>(chip)];
  EPOCHD_ASSERT(fill != nullptr);
  return [=](size_t begin, size_t end, Fp* base, size_t stride) {
    fill(records, program, begin, end, base, stride);
  };
}

FillRows fill_refresh(const RefreshRecord* records) {
  return [=](size_t begin, size_t end, Fp* base, size_t stride) {
    fill_range<RefreshAir>(records, nullptr, begin, end, base, stride);
  };
}

FillRows fill_boundary(const BoundaryRecord* records, u32 label) {
  return [=](size_t begin, size_t end, Fp* base, size_t stride) {
    for (size_t r = begin; r < end; ++r) {
      RowWriter row{base + r, stride};
      Fill<BoundaryAir>::fill(records[r], label, row);
    }
  };
}

FillRows fill_anchors(const AnchorRecord* records, const u64* previous_keys) {
  return [=](size_t begin, size_t end, Fp* base, size_t stride) {
    for (size_t r = begin; r < end; ++r) {
      RowWriter row{base + r, stride};
      Fill<AnchorAir>::fill(records[r], previous_keys[r], row);
    }
  };
}

FillRows fill_image(const ImageEnd* ends) {
  return [=](size_t begin, size_t end, Fp* base, size_t stride) {
    for (size_t r = begin; r < end; ++r) {
      RowWriter row{base + r, stride};
      Fill<ImageAir>::fill(ends[r].fini, ends[r].fini_epoch, ends[r].key, ends[r].previous_key,
                           row);
    }
  };
}

}  // namespace epochd::chips
