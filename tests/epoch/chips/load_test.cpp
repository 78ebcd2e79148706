// ld, lw and lbh against a byte-by-byte reference, and forged addresses, parts and signs.
#include "epoch/chips/lbh/fill.hpp"
#include "epoch/chips/ld/fill.hpp"
#include "epoch/chips/lw/fill.hpp"
#include "tests/epoch/chips/address_cases.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

constexpr Op kLdOps[] = {Op::kLd};
constexpr Op kLwOps[] = {Op::kLw, Op::kLwu};
constexpr Op kLbhOps[] = {Op::kLb, Op::kLbu, Op::kLh, Op::kLhu};

/// Every cell content at every aligned offset, and every address shape.
MemoryMachine every_load(std::span<const Op> ops) {
  MemoryMachine m;
  const auto load = [&](Op op, u32 rd, u64 base, u64 imm, u64 cell) {
    m.poke(6, base);
    m.poke_cell(static_cast<u32>((base + imm) / 8), cell);
    m.load(op, rd, 6, imm);
  };
  for (const Op op : ops) {
    for (const u64 value : edge_values()) {
      for (u64 offset = 0; offset < 8; offset += access_width(op)) {
        load(op, 5, 0x20000 + offset, 0, value);
      }
    }
    for (const auto& [base, imm] : address_cases(access_width(op))) {
      for (const u32 rd : {0u, 5u, 6u}) load(op, rd, base, imm, kPattern);
    }
  }
  return m;
}

/// One row an entry: address, cell.
struct Case {
  Op op;
  u64 at, cell;
};
template <class Air>
ChipTrace<Air> rows_of(std::span<const Case> cases) {
  MemoryMachine m;
  for (const Case& c : cases) {
    m.poke(6, c.at - 16);
    m.poke_cell(static_cast<u32>(c.at / 8), c.cell);
    m.load(c.op, 5, 6, 16);
  }
  return build_trace<Air>(m.records(), m.program());
}

TEST(LdChip, HonestRowsMatchTheReference) {
  const MemoryMachine m = every_load(kLdOps);
  m.expect_matches(build_trace<LdAir>(m.records(), m.program()));
}
TEST(LwChip, HonestRowsMatchTheReference) {
  const MemoryMachine m = every_load(kLwOps);
  m.expect_matches(build_trace<LwAir>(m.records(), m.program()));
}
TEST(LbhChip, HonestRowsMatchTheReference) {
  const MemoryMachine m = every_load(kLbhOps);
  m.expect_matches(build_trace<LbhAir>(m.records(), m.program()));
}

/// The accesses' gaps and the address of a load; the rest is the chip's own.
template <class Air>
LookupCoverage<Air> load_lookups(const ChipTrace<Air>& trace) {
  LookupCoverage<Air> coverage(trace);
  coverage.stale(Air::kTRs1, Air::kTs, kSubRs1);
  coverage.stale(Air::kTMem, Air::kTs, kSubMem);
  coverage.stale(Air::kTRd, Air::kTs, kSubRd);
  repack_address(coverage);
  return coverage;
}

constexpr Case kLdCases[] = {{Op::kLd, 0x20008, kPattern}, {Op::kLd, 0xfffffff8, 1}};

TEST(LdChip, EveryColumnIsCaught) {
  expect_every_column_caught(rows_of<LdAir>(kLdCases), {0, 1});
}

TEST(LdChip, EveryConstraintIsNeeded) {
  auto t = rows_of<LdAir>(kLdCases);
  ConstraintCoverage<LdAir> coverage;
  coverage.forged(t, t.real_rows, {{LdAir::kTs, kOne}, {LdAir::kIsReal, -kOne}},
                  "ld.flag.real_is_bool");
  forge_carries(coverage, t, 0, LdAir::kALo, "ld.address.carry", "ld.address.carry_out");
  coverage.expect_complete();
}

TEST(LdChip, EveryLookupIsNeeded) {
  load_lookups(rows_of<LdAir>(kLdCases)).expect_complete();
}

TEST(LdChip, ForgedAddressesAreCaught) {
  auto t = rows_of<LdAir>(kLdCases);
  expect_addresses_rejected(t, 0, LdAir::kALo, LdAir::kCell, {1, 2, 3, 4, 5, 6, 7});
}

constexpr Case kLwCases[] = {{Op::kLw, 0x20008, kPattern},
                             {Op::kLw, 0x2000c, kPattern},
                             {Op::kLwu, 0x20008, 0x0000000080000002},
                             {Op::kLwu, 0x2000c, kPattern},
                             {Op::kLw, 0xfffffffc, 0x7fffffff00000000}};

TEST(LwChip, EveryColumnIsCaught) {
  expect_every_column_caught(rows_of<LwAir>(kLwCases), {0, 1, 2, 3, 4});
}

TEST(LwChip, EveryConstraintIsNeeded) {
  auto t = rows_of<LwAir>(kLwCases);
  ConstraintCoverage<LwAir> coverage;
  const size_t padding = t.real_rows;
  coverage.forged(t, padding, {{LwAir::kIsLw, -kOne}, {LwAir::kIsLwu, kOne}}, "lw.flag.lw_is_bool");
  coverage.forged(t, padding, {{LwAir::kIsLw, kOne}, {LwAir::kIsLwu, -kOne}},
                  "lw.flag.lwu_is_bool");
  coverage.forged(t, padding, {{LwAir::kTs, kOne}, {LwAir::kIsLw, kOne}, {LwAir::kIsLwu, kOne}},
                  "lw.flag.one_hot");
  // Row 2 as a load from the middle of the cell: half of both words.
  coverage.forged(t, 2,
                  {{LwAir::kALo, t.main(LwAir::kALo, 2) + fp(2)},
                   {LwAir::kIsHigh, kHalf},
                   {LwAir::kWord, t.main(LwAir::kMemLo, 2) * kHalf}},
                  "lw.address.high_is_bool");
  forge_carries(coverage, t, 0, LwAir::kALo, "lw.address.carry", "lw.address.carry_out");
  coverage.mutant(t, 2, {{LwAir::kWord, fp(7)}}, "lw.word.chosen");
  coverage.mutant(t, 2, {{LwAir::kTop, kOne}}, "lw.sign.top_unused");
  // LWU with its high word set.
  coverage.mutant(t, 2, {{LwAir::kSign, kOne}}, "lw.sign.sign_unused");
  coverage.expect_complete();
}

TEST(LwChip, EveryLookupIsNeeded) {
  auto t = rows_of<LwAir>(kLwCases);
  LookupCoverage<LwAir> coverage = load_lookups(t);
  // Row 1 loads a negative word: as a positive one; with a top limb of the same sign.
  coverage.mutant(1, {{LwAir::kSign, {}}});
  coverage.mutant(1, {{LwAir::kTop, t.main(LwAir::kTop, 1) - kOne}});
  coverage.expect_complete();
}

TEST(LwChip, ForgedAddressesAndSignsAreCaught) {
  auto t = rows_of<LwAir>(kLwCases);
  expect_addresses_rejected(t, 0, LwAir::kALo, LwAir::kCell, {1, 2, 3, 5, 6, 7});
  // LW of a negative word made positive, with an honest top limb and with a shifted one.
  ASSERT_EQ(t.main(LwAir::kSign, 1), kOne);
  expect_objects(judge_changed(t, 1, {{LwAir::kSign, {}}}), "sign");
  const Fp top = t.main(LwAir::kTop, 1);
  expect_objects(judge_changed(t, 1, {{LwAir::kSign, {}}, {LwAir::kTop, top - fp(0x8000)}}),
                 "sign");
  expect_objects(judge_changed(t, 1, {{LwAir::kSign, {}}, {LwAir::kTop, top * kHalf}}), "sign");
}

constexpr Case kLbhCases[] = {
    {Op::kLb, 0x2000d, kPattern},  {Op::kLbu, 0x2000a, kPattern},
    {Op::kLh, 0x2000e, kPattern},  {Op::kLhu, 0x20008, kPattern},
    {Op::kLb, 0x2000a, 511},       {Op::kLb, 0x2000c, 0x700000000 + 131071},
    {Op::kLb, 0x2000a, 2},         {Op::kLh, 0x20008, 0},
    {Op::kLhu, 0xfffffffe, ~0ull}, {Op::kLb, 0xffffffff, ~0ull}};
constexpr std::pair<u32, const char*> kLbhFlags[] = {{LbhAir::kIsLb, "lbh.flag.lb_is_bool"},
                                                     {LbhAir::kIsLbu, "lbh.flag.lbu_is_bool"},
                                                     {LbhAir::kIsLh, "lbh.flag.lh_is_bool"},
                                                     {LbhAir::kIsLhu, "lbh.flag.lhu_is_bool"}};

TEST(LbhChip, EveryColumnIsCaught) {
  expect_every_column_caught(rows_of<LbhAir>(kLbhCases), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST(LbhChip, EveryConstraintIsNeeded) {
  auto t = rows_of<LbhAir>(kLbhCases);
  ConstraintCoverage<LbhAir> coverage;
  const size_t padding = t.real_rows;
  for (u32 i = 0; i < 4; ++i) {
    coverage.forged(t, padding, {{kLbhFlags[i].first, -kOne}, {kLbhFlags[i ^ 1].first, kOne}},
                    kLbhFlags[i].second);
  }
  coverage.forged(t, padding, {{LbhAir::kTs, kOne}, {LbhAir::kIsLb, kOne}, {LbhAir::kIsLbu, kOne}},
                  "lbh.flag.one_hot");
  // Row 4, LB of byte 2 of 511 = 511 * 1: the offset written as twice the byte bit.
  coverage.mutant(t, 4,
                  {{LbhAir::kByteBit, fp(2)},
                   {LbhAir::kHalfBit, {}},
                   {LbhAir::kTop, kOne},
                   {LbhAir::kRest, {}},
                   {LbhAir::kOther, {}},
                   {LbhAir::kResultLo, kOne}},
                  "lbh.address.byte_is_bool");
  // Row 5, LB of byte 4, which is 7, above a low word of 131071 = 1 + 2 * 65535: as twice the half
  // bit.
  coverage.forged(t, 5,
                  {{LbhAir::kHalfBit, fp(2)},
                   {LbhAir::kWordBit, {}},
                   {LbhAir::kTop, kOne},
                   {LbhAir::kRest, {}},
                   {LbhAir::kOther, {}},
                   {LbhAir::kResultLo, kOne}},
                  "lbh.address.half_is_bool");
  // Row 6, LB of byte 2 of 2: half of the word bit.
  coverage.mutant(t, 6,
                  {{LbhAir::kHalfBit, {}},
                   {LbhAir::kWordBit, kHalf},
                   {LbhAir::kTop, kOne},
                   {LbhAir::kRest, {}},
                   {LbhAir::kOther, {}},
                   {LbhAir::kResultLo, kOne}},
                  "lbh.address.word_is_bool");
  // Row 7, LH, at an odd address.
  coverage.forged(t, 7,
                  {{LbhAir::kALo, t.main(LbhAir::kALo, 7) + kOne},
                   {LbhAir::kByteBit, {}},
                   {LbhAir::kHalfBit, kOne}},
                  "lbh.address.half_is_even");
  forge_carries(coverage, t, 0, LbhAir::kALo, "lbh.address.carry", "lbh.address.carry_out");
  coverage.mutant(t, 1, {{LbhAir::kOther, t.main(LbhAir::kOther, 1) + kOne}}, "lbh.cell.parts");
  // LHU with its high bytes set.
  coverage.mutant(
      t, 3,
      {{LbhAir::kSign, kOne}, {LbhAir::kResultLo, t.main(LbhAir::kResultLo, 3) + fp(0xffff0000)}},
      "lbh.result.sign_unused");
  coverage.mutant(t, 1, {{LbhAir::kResultLo, fp(1)}}, "lbh.result.lo");
  coverage.expect_complete();
}

TEST(LbhChip, EveryLookupIsNeeded) {
  auto t = rows_of<LbhAir>(kLbhCases);
  LookupCoverage<LbhAir> coverage = load_lookups(t);
  // Row 1 is LBU of byte 2, so the word is other + 2^16 (top + 2^8 rest).
  const Fp top = t.main(LbhAir::kTop, 1);
  const Fp rest = t.main(LbhAir::kRest, 1);
  const Fp other = t.main(LbhAir::kOther, 1);
  coverage.mutant(1, {{LbhAir::kTop, top + fp(256)},
                      {LbhAir::kRest, rest - kOne},
                      {LbhAir::kResultLo, top + fp(256)}});
  coverage.mutant(1, {{LbhAir::kTop, top - kOne},
                      {LbhAir::kOther, other + fp(kTwo16)},
                      {LbhAir::kResultLo, top - kOne}});
  // Row 9 is LB of a byte of 255.
  coverage.mutant(9, {{LbhAir::kSign, {}}, {LbhAir::kResultLo, fp(255)}});
  coverage.expect_complete();
}

TEST(LbhChip, ForgedPartsAreCaught) {
  auto t = rows_of<LbhAir>(kLbhCases);
  expect_addresses_rejected(t, 7, LbhAir::kALo, LbhAir::kCell, {1, 3, 5, 7});
  // Bytes of 256 and -1: the same half from other parts.
  const Fp top = t.main(LbhAir::kTop, 1);
  const Fp rest = t.main(LbhAir::kRest, 1);
  for (const Fp shift : {kOne, -kOne, rest}) {
    const Verdict v = judge_changed(t, 1,
                                    {{LbhAir::kTop, top + shift * fp(256)},
                                     {LbhAir::kRest, rest - shift},
                                     {LbhAir::kResultLo, top + shift * fp(256)}});
    expect_objects(v, "cell.bytes");
    EXPECT_TRUE(v.violated.empty());
  }
  // The sign of a negative byte denied.
  expect_objects(judge_changed(t, 9, {{LbhAir::kSign, {}}, {LbhAir::kResultLo, fp(255)}}), "sign");
}

TEST(LoadChips, ShapesArePinned) {
  expect_shape<LdAir>(18, 3, 14);
  expect_shape<LwAir>(23, 9, 16);
  expect_shape<LbhAir>(29, 14, 17);
}

}  // namespace
}  // namespace epochd::chips::harness
