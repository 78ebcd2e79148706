// store and store_narrow against a byte-by-byte reference, and forged addresses and cells.
#include "epoch/chips/store/fill.hpp"
#include "epoch/chips/store_narrow/fill.hpp"
#include "tests/epoch/chips/address_cases.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kWideOps[] = {Op::kSd, Op::kSw};
constexpr Op kNarrowOps[] = {Op::kSb, Op::kSh};

MemoryMachine every_store(std::span<const Op> ops) {
  MemoryMachine m;
  const auto store = [&](Op op, u32 rs2, u64 base, u64 imm, u64 cell, u64 value) {
    m.poke(7, value);
    m.poke(6, base);
    m.poke_cell(static_cast<u32>((base + imm) / 8), cell);
    m.store(op, 6, rs2, imm);
  };
  for (const Op op : ops) {
    for (const u64 value : edge_values()) {
      for (u64 offset = 0; offset < 8; offset += access_width(op)) {
        store(op, 7, 0x20000 + offset, 0, kPattern, value);
        store(op, 7, 0x20000 + offset, 0, value, ~kPattern);
      }
    }
    for (const auto& [base, imm] : address_cases(access_width(op))) {
      for (const u32 rs2 : {0u, 6u, 7u}) store(op, rs2, base, imm, ~0ull, kPattern);
    }
  }
  return m;
}

/// One row an entry: address, cell before, rs2.
struct Case {
  Op op;
  u64 at, cell, value;
};
template <class Air>
ChipTrace<Air> rows_of(std::span<const Case> cases) {
  MemoryMachine m;
  for (const Case& c : cases) {
    m.poke(6, c.at - 16);
    m.poke(7, c.value);
    m.poke_cell(static_cast<u32>(c.at / 8), c.cell);
    m.store(c.op, 6, 7, 16);
  }
  return build_trace<Air>(m.records(), m.program());
}

TEST(StoreChip, HonestRowsMatchTheReference) {
  const MemoryMachine m = every_store(kWideOps);
  m.expect_matches(build_trace<StoreAir>(m.records(), m.program()));
}
TEST(StoreNarrowChip, HonestRowsMatchTheReference) {
  const MemoryMachine m = every_store(kNarrowOps);
  m.expect_matches(build_trace<StoreNarrowAir>(m.records(), m.program()));
}

/// The accesses' gaps and the address of a store; the rest is the chip's own.
template <class Air>
LookupCoverage<Air> store_lookups(const ChipTrace<Air>& trace) {
  LookupCoverage<Air> coverage(trace);
  coverage.stale(Air::kTRs1, Air::kTs, kSubRs1);
  coverage.stale(Air::kTRs2, Air::kTs, kSubRs2);
  coverage.stale(Air::kTMem, Air::kTs, kSubMem);
  repack_address(coverage);
  return coverage;
}

constexpr u64 kValue = 0x0123456789abcdef;
constexpr Case kWideCases[] = {{Op::kSd, 0x20008, kPattern, kValue},
                               {Op::kSw, 0x20008, kPattern, kValue},
                               {Op::kSw, 0x2000c, kPattern, kValue},
                               {Op::kSw, 0xfffffffc, 1, ~0ull}};

TEST(StoreChip, EveryColumnIsCaught) {
  expect_every_column_caught(rows_of<StoreAir>(kWideCases), {0, 1, 2, 3});
}

TEST(StoreChip, EveryConstraintIsNeeded) {
  auto t = rows_of<StoreAir>(kWideCases);
  ConstraintCoverage<StoreAir> coverage;
  const size_t padding = t.real_rows;
  const auto at = [&](u32 column, size_t row) { return t.main(column, row); };
  coverage.forged(t, padding, {{StoreAir::kIsSd, -kOne}, {StoreAir::kIsSw, kOne}},
                  "store.flag.sd_is_bool");
  coverage.forged(t, padding, {{StoreAir::kIsSd, kOne}, {StoreAir::kIsSw, -kOne}},
                  "store.flag.sw_is_bool");
  coverage.forged(t, padding,
                  {{StoreAir::kTs, kOne}, {StoreAir::kIsSd, kOne}, {StoreAir::kIsSw, kOne}},
                  "store.flag.one_hot");
  // Row 1 moved to the middle of the cell: half a word goes into each word.
  const Fp low = at(StoreAir::kBLo, 1);
  coverage.forged(
      t, 1,
      {{StoreAir::kALo, at(StoreAir::kALo, 1) + fp(2)},
       {StoreAir::kIsHigh, kHalf},
       {StoreAir::kNewLo, low + (at(StoreAir::kMemLo, 1) - low) * kHalf},
       {StoreAir::kNewHi, at(StoreAir::kMemHi, 1) + (low - at(StoreAir::kMemHi, 1)) * kHalf}},
      "store.address.high_is_bool");
  // SD at an address divisible by 4 only.
  coverage.forged(
      t, 0,
      {{StoreAir::kALo, at(StoreAir::kALo, 0) + fp(4)},
       {StoreAir::kIsHigh, kOne},
       {StoreAir::kNewLo, at(StoreAir::kMemLo, 0)},
       {StoreAir::kNewHi, at(StoreAir::kBHi, 0) + at(StoreAir::kBLo, 0) - at(StoreAir::kMemHi, 0)}},
      "store.address.sd_is_aligned");
  forge_carries(coverage, t, 0, StoreAir::kALo, "store.address.carry", "store.address.carry_out");
  coverage.mutant(t, 2, {{StoreAir::kNewLo, at(StoreAir::kBLo, 2)}}, "store.cell.lo");
  coverage.mutant(t, 1, {{StoreAir::kNewHi, at(StoreAir::kBHi, 1)}}, "store.cell.hi");
  coverage.expect_complete();
}

TEST(StoreChip, EveryLookupIsNeeded) {
  store_lookups(rows_of<StoreAir>(kWideCases)).expect_complete();
}

TEST(StoreChip, ForgedAddressesAreCaught) {
  auto t = rows_of<StoreAir>(kWideCases);
  expect_addresses_rejected(t, 0, StoreAir::kALo, StoreAir::kCell, {1, 2, 3, 4, 5, 6, 7});
  expect_addresses_rejected(t, 1, StoreAir::kALo, StoreAir::kCell, {1, 2, 3, 5, 6, 7});
}

constexpr Case kNarrowCases[] = {
    {Op::kSb, 0x2000d, kPattern, kValue},  {Op::kSb, 0x20008, kPattern, kValue},
    {Op::kSh, 0x2000e, kPattern, kValue},  {Op::kSh, 0x20008, kPattern, kValue},
    {Op::kSb, 0x2000a, 511, kValue},       {Op::kSb, 0x2000c, 0x700000000 + 131071, kValue},
    {Op::kSb, 0x2000a, 2, kValue},         {Op::kSh, 0x20008, 0, kValue},
    {Op::kSh, 0xfffffffe, ~0ull, ~kValue}, {Op::kSb, 0xffffffff, 0, ~0ull}};

TEST(StoreNarrowChip, EveryColumnIsCaught) {
  expect_every_column_caught(rows_of<StoreNarrowAir>(kNarrowCases), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

/// Changes that put `delta` and the new words a forger's parts lead to into a row.
using N = StoreNarrowAir;
Changes with_result(ChipTrace<N>& t, size_t row, Changes changes) {
  std::vector<Fp> v = main_row(t, row);
  for (const auto& [column, value] : changes) v[column] = value;
  const Fp byte_change = (v[N::kB0] - v[N::kTop]) * (kOne + v[N::kByteBit] * fp(255));
  const Fp half_change = v[N::kB1] * fp(256) - v[N::kB0] * fp(255) - v[N::kRest];
  const Fp delta = byte_change + v[N::kIsSh] * half_change;
  const Fp change = delta * (kOne + v[N::kHalfBit] * fp(65535));
  changes.push_back({N::kDelta, delta});
  changes.push_back({N::kNewLo, v[N::kMemLo] + change * (kOne - v[N::kWordBit])});
  changes.push_back({N::kNewHi, v[N::kMemHi] + change * v[N::kWordBit]});
  return changes;
}

TEST(StoreNarrowChip, EveryConstraintIsNeeded) {
  auto t = rows_of<N>(kNarrowCases);
  ConstraintCoverage<N> coverage;
  const size_t padding = t.real_rows;
  const auto forge = [&](size_t row, const Changes& changes, const char* label) {
    coverage.forged(t, row, with_result(t, row, changes), label);
  };
  forge(padding, {{N::kIsSb, -kOne}, {N::kIsSh, kOne}, {N::kByteBit, kOne}},
        "store_narrow.flag.sb_is_bool");
  forge(padding, {{N::kIsSb, kOne}, {N::kIsSh, -kOne}, {N::kByteBit, kOne}, {N::kALo, fp(2)}},
        "store_narrow.flag.sh_is_bool");
  forge(padding, {{N::kTs, kOne}, {N::kIsSb, kOne}, {N::kIsSh, kOne}, {N::kByteBit, kOne}},
        "store_narrow.flag.one_hot");
  const Changes nothing_else = {{N::kRest, {}}, {N::kOther, {}}, {N::kTop, kOne}};
  const auto plus = [&](Changes c) {
    c.insert(c.end(), nothing_else.begin(), nothing_else.end());
    return c;
  };
  // The same tricks as in lbh, on the same three words: 511, 131071 and 2.
  forge(4, plus({{N::kByteBit, fp(2)}, {N::kHalfBit, {}}}), "store_narrow.address.byte_is_bool");
  forge(5, plus({{N::kHalfBit, fp(2)}, {N::kWordBit, {}}}), "store_narrow.address.half_is_bool");
  forge(6, plus({{N::kHalfBit, {}}, {N::kWordBit, kHalf}}), "store_narrow.address.word_is_bool");
  forge(7, {{N::kALo, t.main(N::kALo, 7) + kOne}, {N::kByteBit, {}}, {N::kHalfBit, kOne}},
        "store_narrow.address.half_is_even");
  forge_carries(coverage, t, 0, N::kALo, "store_narrow.address.carry",
                "store_narrow.address.carry_out");
  forge(0, {{N::kOther, t.main(N::kOther, 0) + kOne}}, "store_narrow.cell.parts");
  coverage.mutant(
      t, 1, {{N::kDelta, t.main(N::kDelta, 1) + kOne}, {N::kNewLo, t.main(N::kNewLo, 1) + kOne}},
      "store_narrow.cell.delta");
  coverage.mutant(t, 1, {{N::kNewLo, t.main(N::kMemLo, 1)}}, "store_narrow.cell.lo");
  coverage.mutant(t, 1, {{N::kNewHi, fp(9)}}, "store_narrow.cell.hi");
  coverage.expect_complete();
}

TEST(StoreNarrowChip, EveryLookupIsNeeded) {
  auto t = rows_of<N>(kNarrowCases);
  LookupCoverage<N> coverage = store_lookups(t);
  const auto forge = [&](size_t row, const Changes& changes) {
    coverage.mutant(row, with_result(t, row, changes));
  };
  const auto at = [&](u32 column, size_t row) { return t.main(column, row); };
  // Row 1 is SB to byte 0; row 4 to byte 2 of the word 511, which is other + 2^16 (top + 2^8 rest).
  forge(1, {{N::kTop, at(N::kTop, 1) + fp(256)}, {N::kRest, at(N::kRest, 1) - kOne}});
  forge(4, {{N::kTop, kOne}, {N::kOther, fp(511) - fp(kTwo16)}});
  forge(1, {{N::kB0, at(N::kB0, 1) + fp(256)}, {N::kB1, at(N::kB1, 1) - kOne}});
  forge(1, {{N::kB0, at(N::kB0, 1) + kOne}});
  coverage.expect_complete();
}

TEST(StoreNarrowChip, ForgedPartsAreCaught) {
  auto t = rows_of<N>(kNarrowCases);
  expect_addresses_rejected(t, 7, N::kALo, N::kCell, {1, 3, 5, 7});
  // Bytes of 256 and -1 of the old half, and of rs2.
  for (const Fp shift : {kOne, -kOne}) {
    const Fp top = t.main(N::kTop, 1) + shift * fp(256);
    expect_objects(
        judge_changed(t, 1,
                      with_result(t, 1, {{N::kTop, top}, {N::kRest, t.main(N::kRest, 1) - shift}})),
        "cell.bytes");
    const Fp b0 = t.main(N::kB0, 1) + shift * fp(256);
    expect_objects(
        judge_changed(t, 1, with_result(t, 1, {{N::kB0, b0}, {N::kB1, t.main(N::kB1, 1) - shift}})),
        "rs2.bytes");
  }
  // Another byte of rs2 altogether: the rest of the word is then no 16-bit number.
  expect_objects(judge_changed(t, 1, with_result(t, 1, {{N::kB0, t.main(N::kB0, 1) + kOne}})),
                 "rs2.rest");
}

TEST(StoreChips, ShapesArePinned) {
  expect_shape<StoreAir>(22, 9, 14);
  expect_shape<StoreNarrowAir>(30, 13, 18);
}

}  // namespace
}  // namespace epochd::chips::harness
