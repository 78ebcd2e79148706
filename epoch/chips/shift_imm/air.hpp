// shift_imm: SLLI, SRLI, SRAI and their W forms. rd = rs1 shifted by the immediate.
//
// The shift itself is shifter.hpp; here the position is tied to imm_lo, a constant of the Program
// table in [0, 64) ([0, 32) for W forms). 16 k + j lies in [0, 64) and so does the amount made from
// it, so the field equation is an integer one and the position is unique.
#pragma once

#include "epoch/chips/gadgets.hpp"
#include "epoch/chips/shifter.hpp"

namespace epochd::chips {

struct ShiftImmAir {
  static constexpr const char* kName = "shift_imm";
  enum Col : u32 {
    kIsSlli,
    kIsSrli,
    kIsSrai,
    kIsSlliw,
    kIsSrliw,
    kIsSraiw,
    kPc,
    kTs,
    kRd,
    kRs1,
    kAmount,
    kTRs1,
    kTRd,
    kALo,
    kAHi,
    kOldLo,
    kOldHi,
    kRLo,
    kRHi,
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
  static constexpr u32 kInteractions = 9 + kShifterInteractions;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const ShiftFlags<V> f{c.local(kIsSlli),  c.local(kIsSrli),  c.local(kIsSrai),
                          c.local(kIsSlliw), c.local(kIsSrliw), c.local(kIsSraiw)};
    const auto is_real = f.sll + f.srl + f.sra + f.sllw + f.srlw + f.sraw;
    c.assert_bool(f.sll, "shift_imm.flag.slli_is_bool");
    c.assert_bool(f.srl, "shift_imm.flag.srli_is_bool");
    c.assert_bool(f.sra, "shift_imm.flag.srai_is_bool");
    c.assert_bool(f.sllw, "shift_imm.flag.slliw_is_bool");
    c.assert_bool(f.srlw, "shift_imm.flag.srliw_is_bool");
    c.assert_bool(f.sraw, "shift_imm.flag.sraiw_is_bool");
    c.assert_bool(is_real, "shift_imm.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const Operands<V> operands{c.local(kRd), c.local(kRs1), c.constant(0), c.local(kAmount),
                               c.constant(0)};
    step(c, is_real, pc, ts, pc + c.constant(4),
         f.sll * c.constant(code(Op::kSlli)) + f.srl * c.constant(code(Op::kSrli)) +
             f.sra * c.constant(code(Op::kSrai)) + f.sllw * c.constant(code(Op::kSlliw)) +
             f.srlw * c.constant(code(Op::kSrliw)) + f.sraw * c.constant(code(Op::kSraiw)),
         operands);

    const Word64<V> a{c.local(kALo), c.local(kAHi)};
    const Word64<V> old{c.local(kOldLo), c.local(kOldHi)};
    const Word64<V> r{c.local(kRLo), c.local(kRHi)};
    read_register(c, "rs1", is_real, operands.rs1, ts, kSubRs1, c.local(kTRs1), a);
    access_register(c, "rd", is_real, operands.rd, ts, kSubRd, c.local(kTRd), old, r);

    const auto amount = eval_shifter<ShiftImmAir>(c, f);
    c.assert_eq(amount, operands.imm_lo, "shift_imm.amount.is_immediate");
  }
};

}  // namespace epochd::chips
