#include "epoch/chips/fills.hpp"

#include <array>

#include "epoch/chips/all_airs.hpp"
#include "epoch/chips/all_fills.hpp"
#include "epoch/chips/kernels.hpp"
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

prover::TableSource source(ChipId chip, size_t rows, const void* records, u32 record_bytes) {
  prover::TableSource s;
  s.kernels = &air_kernels(chip);
  s.used_rows = rows;
  s.block.kind = static_cast<u32>(chip);
  s.block.records = records;
  s.block.record_bytes = record_bytes;
  return s;
}

/// fill(r, row) for each row of a range.
template <class FillRow>
auto each_row(FillRow fill) {
  return [fill](size_t begin, size_t end, Fp* base, size_t stride) {
    for (size_t r = begin; r < end; ++r) {
      RowWriter row{base + r, stride};
      fill(r, row);
    }
  };
}

}  // namespace

prover::TableSource instruction_source(ChipId chip, const void* records, size_t rows,
                                       std::span<const ProgramRow> program) {
  const FillRange fill = kInstructionFills[static_cast<u32>(chip)];
  EPOCHD_ASSERT(fill != nullptr);
  const u32 bytes =
      chip == ChipId::kUnaligned ? sizeof(UnalignedRecord) : sizeof(InstructionRecord);
  prover::TableSource s = source(chip, rows, records, bytes);
  s.block.shared = program.data();
  s.block.shared_bytes = program.size_bytes();
  s.fill_rows = [fill, records, program](size_t begin, size_t end, Fp* base, size_t stride) {
    fill(records, program.data(), begin, end, base, stride);
  };
  return s;
}

prover::TableSource refresh_source(const RefreshRecord* records, size_t rows) {
  prover::TableSource s = source(ChipId::kRefresh, rows, records, sizeof(RefreshRecord));
  s.fill_rows = each_row(
      [records](size_t r, RowWriter& row) { Fill<RefreshAir>::fill(records[r], nullptr, row); });
  return s;
}

prover::TableSource boundary_source(ChipId chip, const BoundaryRecord* records, size_t rows,
                                    u32 label) {
  prover::TableSource s = source(chip, rows, records, sizeof(BoundaryRecord));
  s.block.argument = label;
  s.fill_rows = each_row([records, label](size_t r, RowWriter& row) {
    Fill<BoundaryAir>::fill(records[r], label, row);
  });
  return s;
}

prover::TableSource anchor_source(const AnchorRecord* records, const u64* previous_keys,
                                  size_t rows) {
  prover::TableSource s = source(ChipId::kAnchor, rows, records, sizeof(AnchorRecord));
  s.block.shared = previous_keys;
  s.block.shared_bytes = rows * sizeof(u64);
  s.fill_rows = each_row([records, previous_keys](size_t r, RowWriter& row) {
    Fill<AnchorAir>::fill(records[r], previous_keys[r], row);
  });
  return s;
}

prover::TableSource image_source(const ImageEnd* ends, size_t rows) {
  prover::TableSource s = source(ChipId::kImage, rows, ends, sizeof(ImageEnd));
  s.fill_rows = each_row([ends](size_t r, RowWriter& row) {
    Fill<ImageAir>::fill(ends[r].fini, ends[r].fini_epoch, ends[r].key, ends[r].previous_key, row);
  });
  return s;
}

prover::TableSource counter_source(ChipId chip) {
  return source(chip, 0, nullptr, 0);
}

}  // namespace epochd::chips
