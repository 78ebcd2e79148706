// Addresses every aligned memory chip is tried with, and the forgeries all of them must reject.
#pragma once

#include "epoch/chips/gadgets.hpp"
#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/memory_machine.hpp"

namespace epochd::chips::harness {

inline const Fp kOne = Fp::one();
inline const Fp kHalf = (Fp::one() + Fp::one()).inverse();
constexpr u64 kPattern = 0xfedcba9876543210;

inline Fp fp(u64 v) {
  return Fp::from_u64(v);
}

/// (base, immediate) pairs whose sum mod 2^64 is aligned and below 2^32: both ends of the address
/// space, limb borders, sums that carry out of 32 and out of 64 bits.
inline std::vector<std::pair<u64, u64>> address_cases(u32 width) {
  const u64 ends[] = {0x1000,     0x1ff8,     0xfff8,     0x10000,    0x12340,   0x7ffffff8,
                      0x80000000, 0xbffffff8, 0xc0000000, 0xfffffff8, 0xffff0000};
  const u64 immediates[] = {0, 1, 7, 8, 2047, ~0ull, ~0ull - 7, ~0ull - 2047};
  std::vector<std::pair<u64, u64>> cases;
  for (const u64 end : ends) {
    for (u64 at = end; at < end + 8; at += width) {
      for (const u64 imm : immediates) cases.push_back({at - imm, imm});
    }
  }
  return cases;
}

/// The two carries of an address, each forged alone: rs1 = 2^32 + a - 1 passed off as a (a carry of
/// 2^32 - 1, which is -2^-32), and a high word dropped.
template <class Air>
void forge_carries(ConstraintCoverage<Air>& coverage, ChipTrace<Air>& trace, size_t row, u32 a_lo,
                   const char* carry, const char* carry_out) {
  coverage.forged(trace, row, {{a_lo, trace.main(a_lo, row) - kOne}, {a_lo + 1, kOne}}, carry);
  coverage.forged(trace, row, {{a_lo + 1, fp(2)}}, carry_out);
}

/// The row's base moved by each of `offsets`: no cell, no neighbouring cell and no boolean makes it
/// an address of this chip. Pre: the columns between the address parts are the chip's own bits.
template <class Air>
void expect_addresses_rejected(ChipTrace<Air>& trace, size_t row, u32 a_lo, u32 cell,
                               const std::vector<u64>& offsets) {
  for (const u64 offset : offsets) {
    for (const Fp move : {Fp::zero(), kOne, -kOne, fp(offset) * fp(8).inverse()}) {
      const Verdict v = judge_changed(
          trace, row,
          {{a_lo, trace.main(a_lo, row) + fp(offset)}, {cell, trace.main(cell, row) + move}});
      EXPECT_FALSE(v.violated.empty() && v.bad_lookups.empty()) << Air::kName << " + " << offset;
    }
  }
  // Past 2^32 and below 0: the page one too far, the sum wrapped in 32 bits only.
  const Fp page = trace.main(cell + 1, row);
  for (const Fp wrong : {page + fp(65536), page - fp(65536)}) {
    expect_objects(judge_changed(trace, row, {{cell + 1, wrong}}), "address.page");
  }
  for (const u64 high : {1ull, 0xffffffffull, 0x80000000ull}) {
    EXPECT_FALSE(judge_changed(trace, row, {{a_lo + 1, fp(high)}}).violated.empty());
  }
}

}  // namespace epochd::chips::harness
