// shift: SLL, SRL, SRA and their W forms. rd = rs1 shifted by the low six bits of rs2 (five for W
// forms).
//
// The shift itself is shifter.hpp; here the amount is tied to rs2's low word b_lo:
//   b_lo = amount + (64 or, for W forms, 32) * (m0 + 2^16 m1)
// with m0, m1 range-checked. amount lies in [0, 64), by the shifter in [0, 32) for W forms. Left
// side in [0, 2^32), right side in [0, 64 + 2^38): the difference is below p, so these are integers
// and amount is the remainder of b_lo. rs2's high word does not matter and is bound by its token.
#pragma once

#include "epoch/chips/gadgets.hpp"
#include "epoch/chips/shifter.hpp"

namespace epochd::chips {

struct ShiftAir {
  static constexpr const char* kName = "shift";
  enum Col : u32 {
    kIsSll,
    kIsSrl,
    kIsSra,
    kIsSllw,
    kIsSrlw,
    kIsSraw,
    kPc,
    kTs,
    kRd,
    kRs1,
    kRs2,
    kTRs1,
    kTRs2,
    kTRd,
    kALo,
    kAHi,
    kBLo,
    kBHi,
    kOldLo,
    kOldHi,
    kRLo,
    kRHi,
    kM0,
    kM1,
    kJ0,
    kJ1,
    kJ2,
    kJ3,
    kK1,
    kK2,
    kK3,
    kPowerLow,
    kPower,
    kFill,
    kU0,
    kU1,
    kU2,
    kV0,
    kV1,
    kV2,
    kRest,
    kTop,
    kSign,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 8 + kShifterConstraints;
  static constexpr u32 kInteractions = 14 + kShifterInteractions;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const ShiftFlags<V> f{c.local(kIsSll),  c.local(kIsSrl),  c.local(kIsSra),
                          c.local(kIsSllw), c.local(kIsSrlw), c.local(kIsSraw)};
    const auto word = f.sllw + f.srlw + f.sraw;
    const auto is_real = f.sll + f.srl + f.sra + word;
    c.assert_bool(f.sll, "shift.flag.sll_is_bool");
    c.assert_bool(f.srl, "shift.flag.srl_is_bool");
    c.assert_bool(f.sra, "shift.flag.sra_is_bool");
    c.assert_bool(f.sllw, "shift.flag.sllw_is_bool");
    c.assert_bool(f.srlw, "shift.flag.srlw_is_bool");
    c.assert_bool(f.sraw, "shift.flag.sraw_is_bool");
    c.assert_bool(is_real, "shift.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.local(kRs2), c.constant(0),
                               c.constant(0)};
    step(c, is_real, pc, ts, pc + c.constant(4),
         f.sll * c.constant(code(Op::kSll)) + f.srl * c.constant(code(Op::kSrl)) +
             f.sra * c.constant(code(Op::kSra)) + f.sllw * c.constant(code(Op::kSllw)) +
             f.srlw * c.constant(code(Op::kSrlw)) + f.sraw * c.constant(code(Op::kSraw)),
         operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> b{c.local(kBLo), c.local(kBHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Word64<V> r{c.local(kRLo), c.local(kRHi)};
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    read_register(c, "rs2", is_real, operands.rs2, ts, kSubRs2, c.local(kTRs2), b);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, r);

    const auto amount = eval_shifter<ShiftAir>(c, f);
    const auto m0 = c.local(kM0);
    const auto m1 = c.local(kM1);
    c.assert_eq(amount + (c.constant(64) - word * c.constant(32)) * pack16(c, m0, m1), b.lo,
                "shift.amount.is_low_bits");
    c.send(Bus::kRange16, "amount.m0", is_real, m0);
    c.send(Bus::kRange16, "amount.m1", is_real, m1);
  }
};

}  // namespace epochd::chips
