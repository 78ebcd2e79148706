// anchor: the genesis and the end of a key touched in the run and not in the image. It sends Global
// (key, init, 0), takes back (key, fini, fini_epoch), and stands in its region's chain of keys.
//
// Regions: plain memory 0 (one chain with image), the input 1, registers 2; region = is_input +
// 2 is_reg, the two booleans excluding each other. The row takes Order (region, prev) and passes
// (region, key), where prev is virtual: prev = key - 1 - gap_lo - 2^16 gap_hi, both limbs
// range-checked. So key - prev is in [1, 2^32] as an integer: along the path from the verifier's
// chain start, below 2^32, at most 2^30 rows add at most 2^62 < p. No chain closes on itself, each
// key of a region occurs once, and all lie between the chain's ends, which the verifier bounds.
//
// init is 0 except in the input region, whose content is the prover's to choose: four limbs, range-
// checked because they enter from outside here, and forced to 0 unless is_input. fini and
// fini_epoch are whatever the last boundary row of the key passed on.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct AnchorAir {
  static constexpr const char* kName = "anchor";
  enum Col : u32 {
    kIsReal,
    kIsInput,
    kIsReg,
    kKey,
    kGapLo,
    kGapHi,
    kInit0,
    kInit1,
    kInit2,
    kInit3,
    kFiniLo,
    kFiniHi,
    kFiniEpoch,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 10, kInteractions = 10;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_real = c.local(kIsReal);
    const auto is_input = c.local(kIsInput);
    const auto is_reg = c.local(kIsReg);
    c.assert_bool(is_real, "anchor.flag.real_is_bool");
    c.assert_bool(is_input, "anchor.flag.input_is_bool");
    c.assert_bool(is_reg, "anchor.flag.reg_is_bool");
    c.assert_zero(is_input * (c.constant(1) - is_real), "anchor.flag.input_is_real");
    c.assert_zero(is_reg * (c.constant(1) - is_real), "anchor.flag.reg_is_real");
    c.assert_zero(is_input * is_reg, "anchor.flag.one_region");

    const Limbs64<V> limbs{c.local(kInit0), c.local(kInit1), c.local(kInit2), c.local(kInit3)};
    const auto not_input = c.constant(1) - is_input;
    c.assert_zero(not_input * limbs.l0, "anchor.init.limb0_zero");
    c.assert_zero(not_input * limbs.l1, "anchor.init.limb1_zero");
    c.assert_zero(not_input * limbs.l2, "anchor.init.limb2_zero");
    c.assert_zero(not_input * limbs.l3, "anchor.init.limb3_zero");
    range_check(c, "init", is_real, limbs);

    const auto key = c.local(kKey);
    const Word64<V> init = words_of(c, limbs);
    c.send(Bus::kGlobal, "genesis", is_real, key, init.lo, init.hi, c.constant(0));
    c.receive(Bus::kGlobal, "end", is_real, key, c.local(kFiniLo), c.local(kFiniHi),
              c.local(kFiniEpoch));
    order(c, is_real, is_input + is_reg + is_reg, key, c.local(kGapLo), c.local(kGapHi));
  }
};

}  // namespace epochd::chips
