// What instruction chips share: the State / Program step, memory accesses, boolean checks under a
// flag, range checks. Each gadget states what it proves and what it needs proved elsewhere. All
// interactions are linear.
#pragma once

#include "epoch/isa/opcode.hpp"
#include "epoch/machine.hpp"
#include "prover/air/context.hpp"
#include "prover/field/fp.hpp"

namespace epochd::chips {

using prover::Fp;

constexpr u64 kTwo16 = 1ull << 16;
constexpr u64 kTwo32 = 1ull << 32;
/// 2^-32 mod p: turns `sum - result` into its carry.
constexpr u64 kInvTwo32 = Fp::from_canonical(kTwo32).inverse().value();
constexpr u64 kInvTwo16 = Fp::from_canonical(kTwo16).inverse().value();

EPOCHD_HD constexpr u64 code(Op op) {
  return static_cast<u64>(op);
}

/// A 64-bit value as it travels: two 32-bit words.
template <class V>
struct Word64 {
  V lo, hi;
};

/// lo + 2^16 * hi.
template <class C, class V>
EPOCHD_HD constexpr V pack16(const C& c, const V& lo, const V& hi) {
  return lo + hi * c.constant(kTwo16);
}

/// The columns named by the Program bus besides pc and opcode.
template <class V>
struct Operands {
  V rd, rs1, rs2, imm_lo, imm_hi;
};

/// One executed instruction: takes State (pc, ts), passes (next_pc, ts + 4), and looks itself up in
/// Program. Proves: the row is an instruction of the program at pc, if opcode is a sub-sum of
/// one-hot flags.
template <class C, class V>
EPOCHD_HD constexpr void step(C& c, const V& is_real, const V& pc, const V& ts, const V& next_pc,
                              const V& opcode, const Operands<V>& o) {
  c.receive(Bus::kState, "state.take", is_real, pc, ts);
  c.send(Bus::kState, "state.pass", is_real, next_pc, ts + c.constant(kTicksPerCycle));
  c.send(Bus::kProgram, "program", is_real, pc, opcode, o.rd, o.rs1, o.rs2, o.imm_lo, o.imm_hi);
}

/// One access to `key` at time t: the token (key, t_prev, old) becomes (key, t, now), and t_prev <
/// t by one Range16 of the gap. Needs: t, t_prev < 2^30, so that the gap cannot wrap; both are, as
/// times of tokens: t = ts + sub-step with ts < 2^28, and t_prev is the time of a token some row or
/// the boundary sent.
template <class C, class V>
EPOCHD_HD constexpr void access(C& c, const char* label, const V& is_real, const V& key, const V& t,
                                const V& t_prev, const Word64<V>& old, const Word64<V>& now) {
  c.receive(Bus::kMemory, label, is_real, key, t_prev, old.lo, old.hi);
  c.send(Bus::kMemory, label, is_real, key, t, now.lo, now.hi);
  c.send(Bus::kRange16, label, is_real, t - t_prev - c.constant(1));
}

/// An access to register number `reg` (0..33) at ts + sub_step.
template <class C, class V>
EPOCHD_HD constexpr void access_register(C& c, const char* label, const V& is_real, const V& reg,
                                         const V& ts, u32 sub_step, const V& t_prev,
                                         const Word64<V>& old, const Word64<V>& now) {
  access(c, label, is_real, reg + c.constant(kRegBase), ts + c.constant(sub_step), t_prev, old,
         now);
}
template <class C, class V>
EPOCHD_HD constexpr void read_register(C& c, const char* label, const V& is_real, const V& reg,
                                       const V& ts, u32 sub_step, const V& t_prev,
                                       const Word64<V>& value) {
  access_register(c, label, is_real, reg, ts, sub_step, t_prev, value, value);
}

/// flag * v * (v - 1) = 0: v is boolean where the (boolean or sub-sum) flag is 1. Degree 3 for
/// linear v.
template <class C, class V>
EPOCHD_HD constexpr void assert_bool_when(C& c, const V& flag, const V& v, const char* label) {
  c.assert_zero(flag * v * (v - c.constant(1)), label);
}

/// Four 16-bit limbs of a 64-bit value this row creates.
template <class V>
struct Limbs64 {
  V l0, l1, l2, l3;
};
template <class C, class V>
EPOCHD_HD constexpr Word64<V> words_of(const C& c, const Limbs64<V>& l) {
  return {pack16(c, l.l0, l.l1), pack16(c, l.l2, l.l3)};
}
template <class C, class V>
EPOCHD_HD constexpr void range_check(C& c, const char* label, const V& is_real,
                                     const Limbs64<V>& l) {
  c.send(Bus::kRange16, label, is_real, l.l0);
  c.send(Bus::kRange16, label, is_real, l.l1);
  c.send(Bus::kRange16, label, is_real, l.l2);
  c.send(Bus::kRange16, label, is_real, l.l3);
}

/// gap is in [0, 2^32): gap = g0 + 2^16 * gap_hi with both limbs range-checked, g0 virtual. The
/// caller states why the field element gap then stands for an integer.
template <class C, class V>
EPOCHD_HD constexpr void range_check_gap(C& c, const char* label, const V& is_real, const V& gap,
                                         const V& gap_hi) {
  c.send(Bus::kRange16, label, is_real, gap - gap_hi * c.constant(kTwo16));
  c.send(Bus::kRange16, label, is_real, gap_hi);
}

/// A key's place in its region's strictly increasing chain: takes Order (region, previous), passes
/// (region, key), where key - previous - 1 = gap_lo + 2^16 gap_hi is in [0, 2^32); the previous key
/// is virtual.
template <class C, class V>
EPOCHD_HD constexpr void order(C& c, const V& is_real, const V& region, const V& key,
                               const V& gap_lo, const V& gap_hi) {
  c.receive(Bus::kOrder, "order.take", is_real, region,
            key - c.constant(1) - pack16(c, gap_lo, gap_hi));
  c.send(Bus::kOrder, "order.pass", is_real, region, key);
  c.send(Bus::kRange16, "order.gap", is_real, gap_lo);
  c.send(Bus::kRange16, "order.gap", is_real, gap_hi);
}

/// What tells an address apart: address = offset + 8 * cell + 2^16 * page, with offset < 8, cell <
/// 2^13, page < 2^16, all three range-checked by `address`. offset is a linear form of the chip's.
template <class V>
struct AddressParts {
  V offset, cell, page;
};

/// base + imm mod 2^64 is an address below 2^32 with these parts. Proves: offset + 8 cell + 2^16
/// page = base + imm mod 2^64, high word 0. Integer bounds: base.lo + imm.lo - address is in
/// (-2^32, 2^33) and equals 2^32 * carry for a boolean carry; base.hi + imm.hi + carry is in [0,
/// 2^33) and equals 2^32 * carry_out for a boolean carry_out, so the high word of the sum is 0 and
/// the carry out of 64 bits is dropped. Both sides differ by less than p. Needs: base and imm are
/// words. Returns the cell's key, cell + 2^13 * page < 2^29: no register key is in reach.
template <class C, class V>
EPOCHD_HD constexpr V address(C& c, const char* carry_label, const char* carry_out_label,
                              const V& is_real, const Word64<V>& base, const Word64<V>& imm,
                              const AddressParts<V>& parts) {
  const V low16 = parts.offset + parts.cell * c.constant(8);
  const V inv = c.constant(kInvTwo32);
  const V carry = (base.lo + imm.lo - pack16(c, low16, parts.page)) * inv;
  const V carry_out = (base.hi + imm.hi + carry) * inv;
  c.assert_bool(carry, carry_label);
  c.assert_bool(carry_out, carry_out_label);
  c.send(Bus::kAlign, "address.align", is_real, parts.cell, parts.offset);
  c.send(Bus::kRange16, "address.page", is_real, parts.page);
  return parts.cell + parts.page * c.constant(1ull << 13);
}

/// A memory access of an instruction row, at sub-step kSubMem.
template <class C, class V>
EPOCHD_HD constexpr void access_memory(C& c, const V& is_real, const V& key, const V& ts,
                                       const V& t_prev, const Word64<V>& old,
                                       const Word64<V>& now) {
  access(c, "memory", is_real, key, ts + c.constant(kSubMem), t_prev, old, now);
}

/// The sign of a 32-bit word where `flag` is 1: word = low + 2^16 top, low (virtual) and top
/// range-checked, sign = top's top bit. Both sides are integers below 2^32, so the split is the
/// word's own. Where flag is 0 nothing is looked up and top = sign = 0. Needs: word < 2^32, flag
/// boolean.
template <class C, class V>
EPOCHD_HD constexpr void sign_if(C& c, const V& flag, const V& word, const V& top, const V& sign,
                                 const char* label, const char* top_unused_label,
                                 const char* sign_unused_label) {
  c.send(Bus::kSign16, label, flag, top, sign);
  c.send(Bus::kRange16, label, flag, word - top * c.constant(kTwo16));
  const V unused = c.constant(1) - flag;
  c.assert_zero(unused * top, top_unused_label);
  c.assert_zero(unused * sign, sign_unused_label);
}

/// Where in a cell a byte lies: byte within its half, half within its word, word within the cell.
/// Booleans by the chip's constraint.
template <class V>
struct OffsetBits {
  V byte, half, word;
};
template <class C, class V>
EPOCHD_HD constexpr V offset_of(const C& c, const OffsetBits<V>& bits) {
  return bits.byte + bits.half * c.constant(2) + bits.word * c.constant(4);
}

/// A cell's word around the byte that OffsetBits name: that byte, the other byte of its half, and
/// the other half.
template <class V>
struct CellParts {
  V top, rest, other;
};
/// The parts are those of the word of `cell` that `bits` name. Both sides are integers below 2^32:
/// the parts are range-checked here, the word is one by its writer. Degree 3.
template <class C, class V>
EPOCHD_HD constexpr void take_apart(C& c, const V& is_real, const Word64<V>& cell,
                                    const OffsetBits<V>& bits, const CellParts<V>& parts,
                                    const char* label) {
  c.send(Bus::kBytes, "cell.bytes", is_real, c.constant(static_cast<u64>(ByteOp::kRange)),
         parts.top, parts.rest, c.constant(0));
  c.send(Bus::kRange16, "cell.other", is_real, parts.other);
  const V low_byte_first = parts.top + parts.rest * c.constant(256);
  const V half = low_byte_first + bits.byte * (parts.top - parts.rest) * c.constant(255);
  const V swap = bits.half * (half - parts.other) * c.constant(kTwo16 - 1);
  c.assert_zero(cell.lo + bits.word * (cell.hi - cell.lo) - pack16(c, half, parts.other) - swap,
                label);
}

}  // namespace epochd::chips
