// Mutants of the barrel shifter, for both chips that use it.
#pragma once

#include "tests/epoch/chips/edge_values.hpp"

namespace epochd::chips::harness {

/// Rows a shifter test trace starts with: (left shift of 0 by these), then three more.
constexpr u32 kZeroShifts[] = {0, 2, 4, 8, 16, 48};
constexpr size_t kRowZeroBy0 = 0, kRowZeroBy2 = 1, kRowZeroBy4 = 2, kRowZeroBy8 = 3,
                 kRowZeroBy16 = 4, kRowZeroBy48 = 5, kRowLeftBy5 = 6, kRowRightBy60 = 7,
                 kRowZeroWord = 8;
constexpr u64 kPattern = 0x8123456789abcdefull;

/// `shift(op, a, s)` appends one instruction. sll, srl, sllw: the chip's names for them.
template <class Shift>
void shifter_rows(Op sll, Op srl, Op sllw, const Shift& shift) {
  for (const u32 s : kZeroShifts) shift(sll, 0, s);
  shift(sll, kPattern, 5);
  shift(srl, kPattern, 60);
  shift(sllw, 0, 0);
}

/// Isolates every constraint of the shifter. `amount` is the column the amount is read from.
template <class Air>
void cover_shifter(ConstraintCoverage<Air>& coverage, ChipTrace<Air>& t, u32 amount) {
  const Fp zero = Fp::zero();
  const Fp one = Fp::one();
  const auto fp = [](u64 v) { return Fp::from_u64(v); };
  // A bit of 2 in place of the next bit: the same amount, another power. Shifting 0, the products
  // and the result do not mind.
  coverage.mutant(
      t, kRowZeroBy2,
      {{Air::kJ0, fp(2)}, {Air::kJ1, zero}, {Air::kPowerLow, fp(3)}, {Air::kPower, fp(3)}},
      "shifter.position.bit0_is_bool");
  coverage.mutant(
      t, kRowZeroBy4,
      {{Air::kJ1, fp(2)}, {Air::kJ2, zero}, {Air::kPowerLow, fp(7)}, {Air::kPower, fp(7)}},
      "shifter.position.bit1_is_bool");
  coverage.mutant(t, kRowZeroBy8, {{Air::kJ2, fp(2)}, {Air::kJ3, zero}, {Air::kPower, fp(31)}},
                  "shifter.position.bit2_is_bool");
  coverage.mutant(t, kRowZeroBy16, {{Air::kJ3, fp(2)}, {Air::kK1, zero}, {Air::kPower, fp(511)}},
                  "shifter.position.bit3_is_bool");
  coverage.mutant(t, kRowZeroBy48, {{Air::kK1, one}, {Air::kK2, one}, {Air::kK3, zero}},
                  "shifter.position.limbs0_is_bool");
  coverage.mutant(t, kRowZeroBy16, {{Air::kK1, -one}, {Air::kK2, one}},
                  "shifter.position.limbs1_is_bool");
  coverage.mutant(t, kRowZeroBy16, {{Air::kK1, zero}, {Air::kK2, -one}, {Air::kK3, one}},
                  "shifter.position.limbs2_is_bool");
  coverage.mutant(t, kRowZeroBy0, {{Air::kK1, one}, {Air::kK2, one}, {Air::kK3, -one}},
                  "shifter.position.limbs3_is_bool");
  coverage.mutant(t, kRowZeroWord, {{Air::kK2, one}, {amount, fp(32)}}, "shifter.position.word",
                  Inputs::kMayChange);
  coverage.mutant(t, kRowZeroBy0, {{Air::kPowerLow, fp(5)}, {Air::kPower, fp(5)}},
                  "shifter.power.low_bits");
  coverage.mutant(t, kRowZeroBy0, {{Air::kPower, fp(5)}}, "shifter.power.high_bits");
  coverage.mutant(t, kRowLeftBy5, {{Air::kFill, one}}, "shifter.power.fill");
  const auto plus_one = [&](size_t row, u32 column, const char* label) {
    coverage.mutant(t, row, {{column, t.main(column, row) + one}}, label);
  };
  plus_one(kRowRightBy60, Air::kU0, "shifter.product.low");
  plus_one(kRowLeftBy5, Air::kV2, "shifter.product.high");
  plus_one(kRowLeftBy5, Air::kRLo, "shifter.result.low");
  plus_one(kRowLeftBy5, Air::kRHi, "shifter.result.high");
  plus_one(kRowLeftBy5, Air::kRest, "shifter.sign.source");
}

/// Value moved between limbs, and a wrong sign with the filler that goes with it.
template <class Air>
void expect_shifter_forgeries_caught(ChipTrace<Air>& t) {
  for (size_t row = 0; row < t.real_rows; ++row) {
    expect_repacking_caught(t, row, Air::kU0, Air::kU1);
    expect_repacking_caught(t, row, Air::kU1, Air::kU2);
    expect_repacking_caught(t, row, Air::kV0, Air::kV1);
    expect_repacking_caught(t, row, Air::kV1, Air::kV2);
    expect_repacking_caught(t, row, Air::kRest, Air::kTop);
    const Fp sign = Fp::one() - t.main(Air::kSign, row);
    const Changes changes = {{Air::kSign, sign}, {Air::kFill, sign * t.main(Air::kPower, row)}};
    EXPECT_TRUE(judge_changed(t, row, changes).caught()) << row;
  }
}

}  // namespace epochd::chips::harness
