#include "epoch/capsule/stitch.hpp"

#include <algorithm>
#include <utility>

namespace epochd {
namespace {

// Keys by three counting passes of 10 bits: a comparison sort would take longer than the scout
// itself.
std::vector<TouchedCell> sorted_by_key(const std::vector<TouchedCell>& cells) {
  constexpr u32 kDigitBits = 10;
  constexpr u32 kPasses = 3;
  static_assert(kCellCount <= 1u << (kDigitBits * kPasses));
  std::vector<TouchedCell> from = cells, to(cells.size());
  for (u32 pass = 0; pass < kPasses; ++pass) {
    const auto digit = [&](const TouchedCell& cell) {
      return cell.key >> (pass * kDigitBits) & ((1u << kDigitBits) - 1);
    };
    std::array<u32, 1u << kDigitBits> place{};
    for (const TouchedCell& cell : from) ++place[digit(cell)];
    u32 total = 0;
    for (u32& p : place) total += std::exchange(p, total);
    for (const TouchedCell& cell : from) to[place[digit(cell)]++] = cell;
    from.swap(to);
  }
  return from;
}

}  // namespace

u32 LabelMap::exchange(u32 key, u32 label) {
  if (key >= kRegBase) return std::exchange(registers_[key - kRegBase], label);
  return std::exchange(pages_.get(key / kPageCells)[key % kPageCells], label);
}

void LabelMap::set(u32 first_key, std::span<const u32> labels) {
  if (first_key == kRegBase) {
    EPOCHD_ASSERT(labels.size() == kRegisterKeyCount);
    std::ranges::copy(labels, registers_.begin());
    return;
  }
  EPOCHD_ASSERT(labels.size() % kPageCells == 0 && first_key % kPageCells == 0);
  EPOCHD_ASSERT(first_key + labels.size() <= kCellCount);
  for (u32 page = first_key / kPageCells; !labels.empty(); ++page) {
    std::ranges::copy(labels.first(kPageCells), pages_.get(page).begin());
    labels = labels.subspan(kPageCells);
  }
}

Capsule Stitch::seal(const ScoutEpoch& epoch) {
  EPOCHD_ASSERT(next_label_ <= kEpochCountMax);
  Capsule capsule;
  capsule.program = program_;
  capsule.label = next_label_++;
  capsule.pc = epoch.start.pc;
  capsule.cycles = epoch.cycles;
  capsule.out_in = static_cast<u32>(epoch.start.registers[kOutputCounterRegister]);
  capsule.first_cycle = epoch.first_cycle;
  capsule.is_final = epoch.is_final;
  capsule.keys.reserve(epoch.cells.size() + kRegisterKeyCount);
  for (const TouchedCell& cell : sorted_by_key(epoch.cells)) {
    capsule.keys.push_back({cell.key, labels_.exchange(cell.key, capsule.label), cell.value});
  }
  for (u32 r = 0; r < kRegisterKeyCount; ++r) {
    if ((epoch.touched_registers >> r & 1) == 0) continue;
    const u32 key = kRegBase + r;
    capsule.keys.push_back({key, labels_.exchange(key, capsule.label), epoch.start.registers[r]});
  }
  return capsule;
}

void Stitch::restore(u32 key, u32 label) {
  EPOCHD_ASSERT(label >= 1 && label <= kEpochCountMax && labels_.get(key) < label);
  labels_.exchange(key, label);
  if (label >= next_label_) next_label_ = label + 1;
}

}  // namespace epochd
