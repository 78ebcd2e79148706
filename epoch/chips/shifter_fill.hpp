// Fills the columns of the barrel shifter (shifter.hpp) for one shift.
#pragma once

#include "epoch/chips/fill_row.hpp"

namespace epochd::chips {

/// A shift instruction's kind.
struct ShiftKind {
  bool left, arithmetic, word;
};

/// The value a shift writes. Pre: s < 64, and s < 32 for word shifts.
EPOCHD_HD constexpr u64 shifted(u64 a, u32 s, ShiftKind kind) {
  if (kind.word) {
    const u32 x = static_cast<u32>(a);
    const i32 r = kind.left         ? static_cast<i32>(x << s)
                  : kind.arithmetic ? static_cast<i32>(x) >> s
                                    : static_cast<i32>(x >> s);
    return static_cast<u64>(static_cast<i64>(r));
  }
  if (kind.left) return a << s;
  return kind.arithmetic ? static_cast<u64>(static_cast<i64>(a) >> s) : a >> s;
}

template <class Air, class Row>
EPOCHD_HD void fill_shifter(Row& row, u64 a, u32 s, ShiftKind kind) {
  const u64 r = shifted(a, s, kind);
  const u32 position = kind.left ? s : 63 - s;
  const u32 j = position % 16;
  const u32 k = position / 16;
  const u64 power_low = (kind.left ? 1u : 2u) << (j & 3);
  const u64 power = power_low << (j & 12);
  const u64 low = lo32(a) * power;
  const u64 high = kind.word ? 0 : hi32(a) * power;
  const u64 source =
      kind.word ? (kind.arithmetic ? lo32(a) : lo32(r)) : (kind.arithmetic ? hi32(a) : 0);
  const u64 sign = source >> 31;
  set_word(row, Air::kALo, a);
  set_word(row, Air::kRLo, r);
  row.set(Air::kJ0, j & 1);
  row.set(Air::kJ1, (j >> 1) & 1);
  row.set(Air::kJ2, (j >> 2) & 1);
  row.set(Air::kJ3, j >> 3);
  if (k != 0) row.set(Air::kK1 + k - 1, 1);
  row.set(Air::kPowerLow, power_low);
  row.set(Air::kPower, power);
  row.set(Air::kFill, kind.arithmetic && sign != 0 ? power : 0);
  for (u32 i = 0; i < 3; ++i) {
    row.set(Air::kU0 + i, limb16(low, i));
    row.set(Air::kV0 + i, limb16(high, i));
  }
  row.set(Air::kRest, limb16(source, 0));
  row.set(Air::kTop, limb16(source, 1));
  row.set(Air::kSign, sign);
}

}  // namespace epochd::chips
