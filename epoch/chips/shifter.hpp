// The barrel shifter that shift_imm and shift share: r = a shifted by `amount` bits.
//
// Every shift is a left shift by pos bits of a 64-bit value into 128 bits: a left shift by s takes
// the low half after pos = s, a right shift by s the high half after 64 - s = 1 + pos, where
// pos = 63 - s. pos = 16 k + j; k is one-hot (k0 = is_real - k1 - k2 - k3), j four bits, and
// power = 2^j, doubled for right shifts, so power <= 2^16.
//
//   a_lo * power = u0 + 2^16 u1 + 2^32 u2    sides in [0, 2^48]: a_lo < 2^32, power <= 2^16
//   a_hi * power = v0 + 2^16 v1 + 2^32 v2    likewise; for W forms a_hi is replaced by 0
//
// with u, v range-checked limbs: the field equations are integer equations (differences < 2^49 < p)
// and base-2^16 digits are unique, so u and v are no free choice. a * power has the limbs
// w = (u0, u1, u2 + v0, v1, v2): a limb w2 >= 2^16 cannot arise, since v0 is a multiple of power
// and u2 < power. k then moves limbs, and r is a sum of selected limbs, a function of determined
// values; its words are below 2^32 because they are digits of the true result.
//
// Arithmetic right shifts add 2^64 - 2^(64-s) where the sign is set, W forms 2^32 - 2^(32-s):
// 2^(64-s) is power * 2^(16 k), and `fill` = power where an arithmetic shift has a negative
// operand, else 0. Per word, the quotient is below what is subtracted, so no carry arises.
//
// sign is the top bit of one 32-bit word, split here as rest + 2^16 top (Range16, Sign16): a_hi for
// SRA, a_lo for SRAW (whose result has the operand's sign), the result's low word for SLLW, SRLW, 0
// for SLL, SRL (then rest = top = sign = 0). W results are sign-extended by it.
//
// Needs: a's words below 2^32 (their writer's range checks), one-hot flags, and from the caller
// that `amount` is the instruction's shift amount.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

/// The six operations, as the instruction's one-hot flags.
template <class V>
struct ShiftFlags {
  V sll, srl, sra, sllw, srlw, sraw;
};

/// The shift amount that position 16 k + j stands for: degree 2.
template <class Air, class C, class V>
EPOCHD_HD constexpr V shifter_amount(C& c, const ShiftFlags<V>& f) {
  const auto left = f.sll + f.sllw;
  const auto right = f.srl + f.sra + f.srlw + f.sraw;
  const auto position = c.local(Air::kJ0) + c.local(Air::kJ1) * c.constant(2) +
                        c.local(Air::kJ2) * c.constant(4) + c.local(Air::kJ3) * c.constant(8) +
                        c.local(Air::kK1) * c.constant(16) + c.local(Air::kK2) * c.constant(32) +
                        c.local(Air::kK3) * c.constant(48);
  return left * position + right * (c.constant(63) - position);
}

/// j's bits, k's one-hot flags, power and fill.
template <class Air, class C, class V>
EPOCHD_HD constexpr void shifter_position(C& c, const ShiftFlags<V>& f) {
  const auto right = f.srl + f.sra + f.srlw + f.sraw;
  const auto is_real = f.sll + f.sllw + right;
  const auto one = c.constant(1);
  const auto k1 = c.local(Air::kK1);
  const auto k2 = c.local(Air::kK2);
  const auto k3 = c.local(Air::kK3);
  const auto k0 = is_real - k1 - k2 - k3;
  c.assert_bool(c.local(Air::kJ0), "shifter.position.bit0_is_bool");
  c.assert_bool(c.local(Air::kJ1), "shifter.position.bit1_is_bool");
  c.assert_bool(c.local(Air::kJ2), "shifter.position.bit2_is_bool");
  c.assert_bool(c.local(Air::kJ3), "shifter.position.bit3_is_bool");
  c.assert_bool(k0, "shifter.position.limbs0_is_bool");
  c.assert_bool(k1, "shifter.position.limbs1_is_bool");
  c.assert_bool(k2, "shifter.position.limbs2_is_bool");
  c.assert_bool(k3, "shifter.position.limbs3_is_bool");
  // W amounts are below 32: positions 0..31 to the left, 32..63 to the right.
  c.assert_zero(f.sllw * (k2 + k3) + (f.srlw + f.sraw) * (k0 + k1), "shifter.position.word");

  const auto power_low = c.local(Air::kPowerLow);
  const auto power = c.local(Air::kPower);
  c.assert_eq(
      (is_real + right) * (one + c.local(Air::kJ0)) * (one + c.local(Air::kJ1) * c.constant(3)),
      power_low, "shifter.power.low_bits");
  c.assert_eq(power_low * (one + c.local(Air::kJ2) * c.constant(15)) *
                  (one + c.local(Air::kJ3) * c.constant(255)),
              power, "shifter.power.high_bits");
  c.assert_eq((f.sra + f.sraw) * c.local(Air::kSign) * power, c.local(Air::kFill),
              "shifter.power.fill");
}

/// The products, the limbs' choice and the sign.
template <class Air, class C, class V>
EPOCHD_HD constexpr void shifter_result(C& c, const ShiftFlags<V>& f) {
  const auto right = f.srl + f.sra + f.srlw + f.sraw;
  const auto word = f.sllw + f.srlw + f.sraw;
  const auto is_real = f.sll + f.sllw + right;
  const auto two16 = c.constant(kTwo16);
  const auto two32 = c.constant(kTwo32);
  const auto u0 = c.local(Air::kU0);
  const auto u1 = c.local(Air::kU1);
  const auto u2 = c.local(Air::kU2);
  const auto v0 = c.local(Air::kV0);
  const auto v1 = c.local(Air::kV1);
  const auto v2 = c.local(Air::kV2);
  const auto power = c.local(Air::kPower);
  c.assert_eq(c.local(Air::kALo) * power, u0 + u1 * two16 + u2 * two32, "shifter.product.low");
  c.assert_eq((c.constant(1) - word) * c.local(Air::kAHi) * power, v0 + v1 * two16 + v2 * two32,
              "shifter.product.high");

  const auto k1 = c.local(Air::kK1);
  const auto k2 = c.local(Air::kK2);
  const auto k3 = c.local(Air::kK3);
  const auto k0 = is_real - k1 - k2 - k3;
  const auto w01 = u0 + u1 * two16;
  const auto w12 = u1 + (u2 + v0) * two16;
  const auto w23 = u2 + v0 + v1 * two16;
  const auto w34 = v1 + v2 * two16;
  const auto sign = c.local(Air::kSign);
  // The word of the filler where its lowest one lies in that word's lower or upper half.
  const auto fill_low = sign * two32 - c.local(Air::kFill);
  const auto fill_high = sign * two32 - c.local(Air::kFill) * two16;
  const auto ones = sign * c.constant(kTwo32 - 1);
  const auto r_lo = (f.sll + f.sllw) * (k0 * w01 + k1 * u0 * two16) +
                    right * (k0 * v2 + k1 * w34 + k2 * w23 + k3 * w12) +
                    f.sra * (k0 * fill_low + k1 * fill_high) +
                    f.sraw * (k2 * fill_low + k3 * fill_high);
  const auto r_hi = f.sll * (k0 * w23 + k1 * w12 + k2 * w01 + k3 * u0 * two16) +
                    (f.srl + f.sra) * (k2 * v2 + k3 * w34) +
                    f.sra * ((k0 + k1) * ones + k2 * fill_low + k3 * fill_high) + word * ones;
  c.assert_eq(c.local(Air::kRLo), r_lo, "shifter.result.low");
  c.assert_eq(c.local(Air::kRHi), r_hi, "shifter.result.high");

  const auto source = f.sra * c.local(Air::kAHi) + f.sraw * c.local(Air::kALo) +
                      (f.sllw + f.srlw) * c.local(Air::kRLo);
  c.assert_eq(source, pack16(c, c.local(Air::kRest), c.local(Air::kTop)), "shifter.sign.source");
  c.send(Bus::kRange16, "shifter.u0", is_real, u0);
  c.send(Bus::kRange16, "shifter.u1", is_real, u1);
  c.send(Bus::kRange16, "shifter.u2", is_real, u2);
  c.send(Bus::kRange16, "shifter.v0", is_real, v0);
  c.send(Bus::kRange16, "shifter.v1", is_real, v1);
  c.send(Bus::kRange16, "shifter.v2", is_real, v2);
  c.send(Bus::kRange16, "shifter.rest", is_real, c.local(Air::kRest));
  c.send(Bus::kSign16, "shifter.sign", is_real, c.local(Air::kTop), sign);
}

constexpr u32 kShifterConstraints = 17, kShifterInteractions = 8;

/// The whole shifter; `amount` stays the caller's to tie down.
template <class Air, class C, class V>
EPOCHD_HD constexpr V eval_shifter(C& c, const ShiftFlags<V>& f) {
  shifter_position<Air>(c, f);
  shifter_result<Air>(c, f);
  return shifter_amount<Air>(c, f);
}

}  // namespace epochd::chips
