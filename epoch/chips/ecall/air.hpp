// ecall: exit, emit, debug; the number is in a7 (x17), the argument in a0 (x10).
//
// One opcode names all three, so the flags are not the program's to fix: a7 is *read* as the word
// (93 exit + emit + 2 debug, 0), which ties each flag to the value of x17. The three numbers differ
// and the flags are one-hot, so a7 names one flag.
//
// emit sends Output (index, a0) and moves the output counter's token from (index, 0) to (index + 1,
// 0) at sub-step rd. The counter needs no range check: it is 0 at genesis and only ever grows by 1,
// fewer than 2^58 times in a run. exit sends Exit (a0) and the State (HALT, ts + 4); HALT is odd,
// in no Program row, so nothing follows. debug does nothing but go on. Rows that do not emit make
// no counter access and hold 0 in its columns. Nothing is created here but the counter and the next
// pc, pc + 4 < 2^32 by the program.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct EcallAir {
  static constexpr const char* kName = "ecall";
  enum Col : u32 {
    kIsExit,
    kIsEmit,
    kIsDebug,
    kPc,
    kTs,
    kNextPc,
    kTA7,
    kTA0,
    kTCounter,
    kA0Lo,
    kA0Hi,
    kIndex,
    kWidth,
  };
  static constexpr u32 kFixedWidth = 0, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 7, kInteractions = 14;
  static constexpr u64 kRegA7 = 17, kRegA0 = 10;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    using V = typename C::Value;
    const auto is_exit = c.local(kIsExit);
    const auto is_emit = c.local(kIsEmit);
    const auto is_debug = c.local(kIsDebug);
    const auto is_real = is_exit + is_emit + is_debug;
    c.assert_bool(is_exit, "ecall.flag.exit_is_bool");
    c.assert_bool(is_emit, "ecall.flag.emit_is_bool");
    c.assert_bool(is_debug, "ecall.flag.debug_is_bool");
    c.assert_bool(is_real, "ecall.flag.one_hot");

    const auto pc = c.local(kPc);
    const auto ts = c.local(kTs);
    const auto next_pc = c.local(kNextPc);
    const auto zero = c.constant(0);
    step(c, is_real, pc, ts, next_pc, is_real * c.constant(code(Op::kEcall)),
         Operands<V>{zero, zero, zero, zero, zero});
    const auto fall_through = pc + is_real * c.constant(4);
    c.assert_zero(next_pc - fall_through - is_exit * (c.constant(kHaltPc) - fall_through),
                  "ecall.next_pc");

    const Word64<V> number{is_exit * c.constant(kSyscallExit) + is_emit * c.constant(kSyscallEmit) +
                               is_debug * c.constant(kSyscallDebug),
                           zero};
    const Word64<V> a0{c.local(kA0Lo), c.local(kA0Hi)};
    read_register(c, "a7", is_real, c.constant(kRegA7), ts, kSubRs1, c.local(kTA7), number);
    read_register(c, "a0", is_real, c.constant(kRegA0), ts, kSubRs2, c.local(kTA0), a0);

    const auto index = c.local(kIndex);
    const auto t_counter = c.local(kTCounter);
    c.assert_zero((c.constant(1) - is_emit) * index, "ecall.emit.index_zero");
    c.assert_zero((c.constant(1) - is_emit) * t_counter, "ecall.emit.time_zero");
    access(c, "counter", is_emit, c.constant(kOutputCounterKey), ts + c.constant(kSubRd), t_counter,
           Word64<V>{index, zero}, Word64<V>{index + c.constant(1), zero});
    c.send(Bus::kOutput, "output", is_emit, index, a0.lo, a0.hi);
    c.send(Bus::kExit, "exit", is_exit, a0.lo, a0.hi);
  }
};

}  // namespace epochd::chips
