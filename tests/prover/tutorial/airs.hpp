// How to write an AIR. Read this file, then machine.cpp (how tables are filled and proved), then
// tutorial_test.cpp (what must hold).
//
// The statement proved: "I know T terms, each a byte `a`, a byte `b`, an operation (product or
// exclusive or) and a sign, whose signed results add up to S." T and S are public, the terms are
// not sent.
//
// An AIR describes one table: its columns, the polynomials that vanish on each of its rows, and its
// bus accesses. Nothing in a constraint looks at another row: all that ties rows and tables
// together are the buses. On a bus, tuples are sent and received with multiplicities, and the proof
// shows that every tuple was sent as often as it was received (LogUp, docs/protocol.md section 4).
//
//     alu 1 ──┐ Table(op, x, y, z)   ┌── nibbles (fixed columns, one row for each x, y)
//     alu 2 ──┴─────────────────────>┘
//       │ Term(instance, index, value)
//       v
//      sum    Total(step, total): each row takes one total and hands on the next; the verifier
//             itself sends Total(0, 0) and receives Total(T, S).
//
// Rules to keep in mind:
//  - Columns are named by an enumerator, never by number.
//  - A constraint has degree at most 3, an interaction's multiplicity and entries degree at most 1.
//  - Tables are padded with all-zero rows, so these must satisfy every constraint and touch no bus.
//  - Whoever creates a value proves its range; whoever moves it need not.
//  - kConstraints and kInteractions are declared and compared with what `eval` does: an AIR whose
//    constraint was forgotten does not compile.
#pragma once

#include "prover/air/context.hpp"

namespace epochd::prover::tutorial {

enum class Bus : u8 { kTable = 1, kTerm = 2, kTotal = 3 };

/// First entry of a Table tuple. Consecutive from 0: it also selects the count column (LookupSpec).
constexpr u64 kOpProduct = 0;
constexpr u64 kOpXor = 1;

/// A fixed lookup table: its four fixed columns are known to the verifier (as a Merkle root), its
/// two main columns say how often each row was looked up. Those counts are the prover's claim and
/// need no constraint: a wrong one unbalances the bus.
struct NibblesAir {
  static constexpr const char* kName = "nibbles";
  enum Fixed : u32 { kX, kY, kProduct, kXor, kFixedCount };
  enum Col : u32 { kProductCount, kXorCount, kWidth };
  static constexpr u32 kFixedWidth = kFixedCount;
  static constexpr u32 kMainWidth = kWidth;
  static constexpr u32 kParams = 0;
  static constexpr u32 kConstraints = 0;
  static constexpr u32 kInteractions = 2;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    c.receive(Bus::kTable, "nibbles.product", c.local(kProductCount), c.constant(kOpProduct),
              c.fixed(kX), c.fixed(kY), c.fixed(kProduct));
    c.receive(Bus::kTable, "nibbles.xor", c.local(kXorCount), c.constant(kOpXor), c.fixed(kX),
              c.fixed(kY), c.fixed(kXor));
  }
};

/// One row computes one term from the nibbles of a and b. Looking a nibble up also proves that it
/// is one: the table has rows for 0 <= x, y < 16 only.
struct AluAir {
  static constexpr const char* kName = "alu";
  enum Col : u32 {
    kIsMul,  ///< one of the two flags is 1 in a real row; both are 0 in padding
    kIsXor,
    kIndex,  ///< tells the terms of this instance apart
    kA0,     ///< a = a0 + 16 a1
    kA1,
    kB0,
    kB1,
    kLow,  ///< a0 op b0
    kCross01,
    kCross10,
    kHigh,  ///< a1 op b1
    kValue,
    kWidth
  };
  static constexpr u32 kFixedWidth = 0;
  static constexpr u32 kMainWidth = kWidth;
  static constexpr u32 kParams = 1;  ///< the instance's number: a constant both sides know
  static constexpr u32 kConstraints = 6;
  static constexpr u32 kInteractions = 5;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto is_mul = c.local(kIsMul);
    const auto is_xor = c.local(kIsXor);
    const auto is_real = is_mul + is_xor;
    c.assert_bool(is_mul, "alu.flags.mul");
    c.assert_bool(is_xor, "alu.flags.xor");
    c.assert_zero(is_mul * is_xor, "alu.flags.one");

    // Low and high nibbles are looked up by both operations; op = is_xor, as kOpProduct is 0. An
    // access whose multiplicity is 0 does not take place, so padding rows do nothing.
    c.send(Bus::kTable, "alu.low", is_real, is_xor, c.local(kA0), c.local(kB0), c.local(kLow));
    c.send(Bus::kTable, "alu.high", is_real, is_xor, c.local(kA1), c.local(kB1), c.local(kHigh));
    // The cross products exist in a product only. In an xor row nothing looks them up, so a
    // constraint must say what they are: a column that is read but not tied to anything is a bug.
    c.send(Bus::kTable, "alu.cross01", is_mul, c.constant(kOpProduct), c.local(kA0), c.local(kB1),
           c.local(kCross01));
    c.send(Bus::kTable, "alu.cross10", is_mul, c.constant(kOpProduct), c.local(kA1), c.local(kB0),
           c.local(kCross10));
    c.assert_zero(is_xor * c.local(kCross01), "alu.cross01.xor");
    c.assert_zero(is_xor * c.local(kCross10), "alu.cross10.xor");

    const auto high_weight = is_mul * c.constant(256) + is_xor * c.constant(16);
    const auto cross = (c.local(kCross01) + c.local(kCross10)) * c.constant(16);
    c.assert_eq(c.local(kValue), c.local(kLow) + cross + high_weight * c.local(kHigh), "alu.value");
    c.send(Bus::kTerm, "alu.term", is_real, c.param(0), c.local(kIndex), c.local(kValue));
  }
};

/// One row adds one term. `step` grows by one from row to row, so the rows form one chain from the
/// verifier's Total(0, 0) to its Total(T, S): a loop beside the chain would need p rows.
struct SumAir {
  static constexpr const char* kName = "sum";
  enum Col : u32 {
    kIsReal,
    kSign,  ///< 1, -1, or 0 in padding
    kInstance,
    kIndex,
    kValue,
    kStep,
    kTotal,
    kNextTotal,
    kWidth
  };
  static constexpr u32 kFixedWidth = 0;
  static constexpr u32 kMainWidth = kWidth;
  static constexpr u32 kParams = 0;
  static constexpr u32 kConstraints = 3;
  static constexpr u32 kInteractions = 3;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto sign = c.local(kSign);
    const auto is_real = c.local(kIsReal);
    const auto one = c.constant(1);
    c.assert_zero(sign * (sign - one) * (sign + one), "sum.sign.ternary");
    c.assert_eq(is_real, sign * sign, "sum.sign.real");
    // An interaction is linear, so the product sign * value goes through a column of its own.
    c.assert_eq(c.local(kNextTotal), c.local(kTotal) + sign * c.local(kValue), "sum.total");
    c.receive(Bus::kTerm, "sum.term", is_real, c.local(kInstance), c.local(kIndex),
              c.local(kValue));
    c.receive(Bus::kTotal, "sum.before", is_real, c.local(kStep), c.local(kTotal));
    c.send(Bus::kTotal, "sum.after", is_real, c.local(kStep) + one, c.local(kNextTotal));
  }
};

}  // namespace epochd::prover::tutorial
