// jal, jalr and ecall against the reference, and forged targets, links and system calls.
#include "epoch/chips/ecall/fill.hpp"
#include "epoch/chips/jal/fill.hpp"
#include "epoch/chips/jalr/fill.hpp"
#include "tests/epoch/chips/edge_values.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"
#include "tests/epoch/chips/memory_machine.hpp"

namespace epochd::chips::harness {
namespace {

const Fp kOne = Fp::one();

Fp fp(u64 v) {
  return Fp::from_u64(v);
}

TEST(JalChip, HonestRowsMatchTheReference) {
  MemoryMachine m;
  for (const u32 rd : {0u, 1u, 5u, 31u}) {
    for (const u32 target : {0x1000u, 0x10000u, 0xbffffffcu, 0xfffffffcu, 0u}) {
      m.poke(5, ~0ull);
      m.poke_pc(0x10000);
      m.jal(rd, target);
      m.poke_pc(0xbffffffc);
      m.jal(rd, target);
    }
  }
  m.expect_matches(build_trace<JalAir>(m.records(), m.program()));
}

TEST(JalChip, MutantsAreCaught) {
  MemoryMachine m;
  m.jal(1, 0x20000);
  m.jal(0, 0x1000);
  auto t = build_trace<JalAir>(m.records(), m.program());
  expect_every_column_caught(t, {0, 1});
  ConstraintCoverage<JalAir> coverage;
  coverage.forged(t, t.real_rows, {{JalAir::kIsReal, -kOne}}, "jal.flag.real_is_bool");
  coverage.expect_complete();
  LookupCoverage<JalAir> lookups(t);
  lookups.stale(JalAir::kTRd, JalAir::kTs, kSubRd);
  lookups.expect_complete();
  expect_shape<JalAir>(8, 1, 6);
}

MemoryMachine every_jalr() {
  MemoryMachine m;
  const u64 bases[] = {0,          4,          0x1000,     0x10004,    0x7ffffffc,
                       0x80000000, 0xbffffffc, 0xfffffffc, 0xfffff800, (1ull << 63)};
  const u64 immediates[] = {0, 1, 4, 5, 0x7fc, 0x7fd, ~0ull - 3, ~0ull - 2, ~0ull - 0x7ff, 8};
  for (const u64 target : bases) {
    for (const u64 imm : immediates) {
      // Every base as rs1, where the sum is a legal target; and the rs1 that hits every base.
      for (const u64 rs1 : {target, target - imm, target + 1 - imm}) {
        const u64 sum = rs1 + imm;
        if (sum >> 32 != 0 || (sum & 2) != 0) continue;
        for (const u32 rd : {0u, 6u, 5u}) {
          m.poke(6, rs1);
          m.jalr(rd, 6, imm);
          m.poke_pc(0x10000);
        }
      }
    }
  }
  return m;
}

TEST(JalrChip, HonestRowsMatchTheReference) {
  const MemoryMachine m = every_jalr();
  EXPECT_GT(m.records().size(), 300u);
  m.expect_matches(build_trace<JalrAir>(m.records(), m.program()));
}

ChipTrace<JalrAir> few_jalr() {
  MemoryMachine m;
  const u64 sums[] = {0x1000c, 0x1000d, 0x20008};
  for (const u64 sum : sums) {
    m.poke(6, sum - 4);
    m.jalr(5, 6, 4);
  }
  m.poke(6, 0x20004);
  m.jalr(1, 6, ~0ull - 3);
  return build_trace<JalrAir>(m.records(), m.program());
}

TEST(JalrChip, EveryColumnIsCaught) {
  expect_every_column_caught(few_jalr(), {0, 1, 2, 3});
}

TEST(JalrChip, EveryConstraintIsNeeded) {
  auto t = few_jalr();
  ConstraintCoverage<JalrAir> coverage;
  coverage.forged(t, t.real_rows, {{JalrAir::kTs, kOne}, {JalrAir::kIsReal, -kOne}},
                  "jalr.flag.real_is_bool");
  // Target 0x10008 instead of 0x1000c: 4 of the sum hidden in bit 0.
  coverage.mutant(t, 0, {{JalrAir::kBit0, fp(4)}, {JalrAir::kBit2, {}}},
                  "jalr.target.bit0_is_bool");
  // A target between instructions.
  coverage.forged(t, 2, {{JalrAir::kALo, fp(0x20006)}, {JalrAir::kBit2, kOne * fp(2).inverse()}},
                  "jalr.target.bit2_is_bool");
  // rs1 = 2^32 + s - 1 passed off as s: a carry of 2^32 - 1, which is -2^-32.
  coverage.forged(t, 0, {{JalrAir::kALo, fp(0x10007)}, {JalrAir::kAHi, kOne}}, "jalr.target.carry");
  coverage.forged(t, 0, {{JalrAir::kAHi, fp(5)}}, "jalr.target.carry_out");
  coverage.expect_complete();
}

TEST(JalrChip, EveryLookupIsNeeded) {
  LookupCoverage<JalrAir> coverage(few_jalr());
  coverage.stale(JalrAir::kTRs1, JalrAir::kTs, kSubRs1);
  coverage.stale(JalrAir::kTRd, JalrAir::kTs, kSubRd);
  repack_address(coverage);
  coverage.expect_complete();
}

TEST(JalrChip, BitZeroIsDroppedAndNothingElse) {
  auto t = few_jalr();
  // Row 1's sum is odd; keeping the bit, or dropping it from the wrong place, is caught.
  for (const Fp bit0 : {Fp::zero(), fp(2), -kOne, kOne * fp(2).inverse()}) {
    EXPECT_FALSE(judge_changed(t, 1, {{JalrAir::kBit0, bit0}}).violated.empty());
  }
  // The next row's address with a misaligned sum has no honest parts at all.
  for (u64 offset = 0; offset < 8; ++offset) {
    const Verdict v =
        judge_changed(t, 2,
                      {{JalrAir::kALo, fp(0x20006)},
                       {JalrAir::kBit0, fp(offset & 1)},
                       {JalrAir::kBit2, fp(offset >> 2)},
                       {JalrAir::kCell, t.main(JalrAir::kCell, 2) + fp((offset >> 1) & 1)}});
    EXPECT_FALSE(v.violated.empty() && v.bad_lookups.empty()) << offset;
  }
}

TEST(JalrChip, ShapeIsPinned) {
  expect_shape<JalrAir>(17, 5, 11);
}

MemoryMachine some_ecalls() {
  MemoryMachine m;
  const auto call = [&](u64 number, u64 argument) {
    m.poke(17, number);
    m.poke(10, argument);
    m.ecall();
  };
  for (const u64 v : edge_values()) call(1, v);
  for (const u64 v : edge_values()) call(2, v);
  call(1, 7);
  call(93, 0x123456789abcdef0);
  return m;
}

TEST(EcallChip, HonestRowsMatchTheReference) {
  MemoryMachine m = some_ecalls();
  EXPECT_EQ(m.pc(), kHaltPc);
  EXPECT_EQ(m.value(32), edge_values().size() + 1);
  m.expect_matches(build_trace<EcallAir>(m.records(), m.program()));
}

/// Rows 0: emit, 1: debug, 2: emit, 3: exit.
ChipTrace<EcallAir> few_ecalls() {
  MemoryMachine m;
  m.poke(10, 0x1111111122222222);
  for (const u64 number : {1, 2, 1, 93}) {
    m.poke(17, number);
    m.ecall();
  }
  return build_trace<EcallAir>(m.records(), m.program());
}

TEST(EcallChip, EveryColumnIsCaught) {
  expect_every_column_caught(few_ecalls(), {0, 1, 2, 3});
}

TEST(EcallChip, EveryConstraintIsNeeded) {
  auto t = few_ecalls();
  ConstraintCoverage<EcallAir> coverage;
  const size_t padding = t.real_rows;
  coverage.forged(
      t, padding,
      {{EcallAir::kIsExit, -kOne}, {EcallAir::kIsEmit, kOne}, {EcallAir::kNextPc, -kOne}},
      "ecall.flag.exit_is_bool");
  coverage.forged(t, padding, {{EcallAir::kIsEmit, -kOne}, {EcallAir::kIsDebug, kOne}},
                  "ecall.flag.emit_is_bool");
  coverage.forged(t, padding, {{EcallAir::kIsEmit, kOne}, {EcallAir::kIsDebug, -kOne}},
                  "ecall.flag.debug_is_bool");
  coverage.forged(t, padding,
                  {{EcallAir::kTs, kOne},
                   {EcallAir::kIsEmit, kOne},
                   {EcallAir::kIsDebug, kOne},
                   {EcallAir::kNextPc, fp(8)}},
                  "ecall.flag.one_hot");
  // An exit the run survives.
  coverage.mutant(t, 3, {{EcallAir::kNextPc, t.main(EcallAir::kPc, 3) + fp(4)}}, "ecall.next_pc");
  coverage.mutant(t, 1, {{EcallAir::kIndex, kOne}}, "ecall.emit.index_zero");
  coverage.mutant(t, 1, {{EcallAir::kTCounter, kOne}}, "ecall.emit.time_zero");
  coverage.expect_complete();
  expect_shape<EcallAir>(12, 7, 14);
}

TEST(EcallChip, EveryLookupIsNeeded) {
  LookupCoverage<EcallAir> coverage(few_ecalls());
  coverage.stale(EcallAir::kTA7, EcallAir::kTs, kSubRs1);
  coverage.stale(EcallAir::kTA0, EcallAir::kTs, kSubRs2);
  coverage.stale(EcallAir::kTCounter, EcallAir::kTs, kSubRd);
  coverage.expect_complete();
}

TEST(EcallChip, TheNumberNamesTheFlag) {
  // A debug call passed off as an emit, or the other way round, reads another a7.
  auto t = few_ecalls();
  EXPECT_TRUE(
      judge_changed(t, 1, {{EcallAir::kIsDebug, {}}, {EcallAir::kIsEmit, kOne}}).inputs_changed);
  EXPECT_TRUE(judge_changed(t, 0,
                            {{EcallAir::kIsEmit, {}},
                             {EcallAir::kIsDebug, kOne},
                             {EcallAir::kIndex, {}},
                             {EcallAir::kTCounter, {}}})
                  .inputs_changed);
}

}  // namespace
}  // namespace epochd::chips::harness
