// Forgeries that lean on one another: wraps modulo p that a second lie absorbs, accesses off a
// key's path, rows that exchange their ends. Each passes every check but those it names.
#include <algorithm>

#include "epoch/chips/all_airs.hpp"
#include "tests/epoch/forge/attack.hpp"

namespace epochd::testing {
namespace {

using namespace chips;  // the columns of every chip
using test::addi;

constexpr u32 kCell = kHighBase / 8;

void emit_and_exit(std::vector<u32>& code) {
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
}
u64 emitted(const Attack& a) {
  return a.epochs.back().public_values.outputs.at(0);
}
/// v / 2^16 in the field: a high limb that makes up for all of v.
Fp over_two16(Fp v) {
  return v * fp(kTwo16).inverse();
}

// --- results -----------------------------------------------------------------------------------

// 8 / 3 = (2^64 + 8) / 3: 2^64 too much, taken back by a remainder of 0 with its sign set, which
// stands for -2^64. Identity and rule of signs hold; only its size is wrong.
struct LargeQuotient : Attack {
  static constexpr u64 kQuotient = 0x5555555555555558;
  LargeQuotient()
      : Attack(binary_program(op_word(0x02005033), 8, 3), result_of_cycle(kOpCycle, kQuotient)) {
    const auto set = [&](u32 column, u64 v) { cell(ChipId::kDivrem, kOpCycle, column, fp(v)); };
    word(ChipId::kDivrem, kOpCycle, DivremAir::kRdLo, kQuotient);
    limbs(ChipId::kDivrem, kOpCycle, DivremAir::kQ0, kQuotient);
    limbs(ChipId::kDivrem, kOpCycle, DivremAir::kR0, 0);
    set(DivremAir::kRNegative, 1);
    set(DivremAir::kC0, 1);
    set(DivremAir::kC1, 1);
    set(DivremAir::kC2, 2);
    // 3 - 2^64 - 1: 2 in the low word, and -2^32 in the high one.
    limbs(ChipId::kDivrem, kOpCycle, DivremAir::kT0, 2);
    set(DivremAir::kTBorrow, 1);
  }
};
TEST(ForgeWrap, QuotientPaidForByANegativeZero) {
  LargeQuotient().expect_refused_by({{"divrem.bound.high"}, {}});
  LargeQuotient limb;
  limb.cell(ChipId::kDivrem, kOpCycle, DivremAir::kT2, minus(kTwo32));
  limb.expect_refused_by({{}, {"Range16"}});
  // Division by zero adds the 2^64 that are missing.
  LargeQuotient zero;
  zero.cell(ChipId::kDivrem, kOpCycle, DivremAir::kDIsZero, fp(1));
  zero.expect_refused_by(
      {{"divrem.zero.divisor", "divrem.zero.quotient_low", "divrem.zero.quotient_high"}, {}});
}

// 5 = 37 + 64 * (-1/2).
TEST(ForgeWrap, ShiftAmountLessHalfAMultiple) {
  Attack a(binary_program(op_word(0x1033), 3, 5), result_of_cycle(kOpCycle, u64{3} << 37));
  a.word(ChipId::kShift, kOpCycle, ShiftAir::kRLo, u64{3} << 37);
  a.cell(ChipId::kShift, kOpCycle, ShiftAir::kK2, fp(1));
  a.cell(ChipId::kShift, kOpCycle, ShiftAir::kM0, -half());
  a.expect_refused_by({{}, {"Range16"}});
}

struct SignlessShift : Attack {
  static constexpr u64 kLogical = ~u64{7} >> 1;
  SignlessShift()
      : Attack(binary_program(op_word(0x40005033), -8, 1), result_of_cycle(kOpCycle, kLogical)) {
    word(ChipId::kShift, kOpCycle, ShiftAir::kRLo, kLogical);
    cell(ChipId::kShift, kOpCycle, ShiftAir::kSign, fp(0));
    cell(ChipId::kShift, kOpCycle, ShiftAir::kFill, fp(0));
  }
};
TEST(ForgeWrap, ArithmeticShiftOfANegativeAsAPositive) {
  SignlessShift().expect_refused_by({{}, {"Sign16"}});
  // A top limb without the bit, the rest of the word in the other limb.
  SignlessShift rest;
  rest.cell(ChipId::kShift, kOpCycle, ShiftAir::kTop, fp(0x7fff));
  rest.cell(ChipId::kShift, kOpCycle, ShiftAir::kRest, fp(0x8000ffff));
  rest.expect_refused_by({{}, {"Range16"}});
}

// 6 < 5, the difference being 2^64 + 1; signed, 6 being -2^64 + 6.
struct FalseBranch : Attack {
  static std::vector<u32> code(u32 base) {
    std::vector<u32> code{addi(test::kT0, 0, 6), addi(test::kT1, 0, 5)};
    code.push_back(test::b_type(base, test::kT0, test::kT1, 8));
    code.push_back(addi(10, 0, 1));
    emit_and_exit(code);
    return code;
  }
  static void take(Step& s) {
    if (s.stage == Step::Stage::kEffects && s.cycle == 2) s.next_pc = kTextBase + 16;
  }
  explicit FalseBranch(u32 base) : Attack(code(base), take) {
    EXPECT_EQ(emitted(*this), 0u);
    cell(ChipId::kBlt, 2, BltAir::kNextPc, fp(kTextBase + 16));
  }
};
TEST(ForgeWrap, BranchOnADifferenceOfSixtyFiveBits) {
  for (const u32 base : {0x6063u, 0x4063u}) {
    FalseBranch wide(base);
    wide.cell(ChipId::kBlt, 2, BltAir::kD3, fp(kTwo16));
    wide.expect_refused_by({{}, {"Range16"}});
  }
  FalseBranch sign(0x4063);
  sign.cell(ChipId::kBlt, 2, BltAir::kASign, fp(1));
  sign.expect_refused_by({{}, {"Sign16"}});
}

// --- tokens ------------------------------------------------------------------------------------

TEST(ForgePath, OutputsExchanged) {
  std::vector<u32> code{addi(10, 0, 7)};
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  code.push_back(addi(10, 0, 8));
  emit_and_exit(code);
  constexpr u32 kFirst = 2, kSecond = 5;
  Attack a(code);
  ASSERT_EQ(a.epochs[0].public_values.outputs, (std::vector<u64>{7, 8}));
  a.epochs[0].public_values.outputs = {8, 7};
  a.expect_refused_by({{}, {"Output"}});
  // The counter's tokens too: the second call takes the genesis, the first one what it leaves.
  InstructionRecord& first = a.record(ChipId::kEcall, kFirst);
  InstructionRecord& second = a.record(ChipId::kEcall, kSecond);
  second.rd_old = 0;
  second.t_rd = 0;
  first.rd_old = 1;
  first.t_rd = second.ts + kSubRd;
  a.boundary(kOutputCounterKey).fini_ts = first.ts + kSubRd;
  a.expect_refused_by({{}, {"Range16"}});
}

// A load of what is only stored later: load and store pass one token round between them, and the
// cell's path goes from its beginning straight to its end.
TEST(ForgePath, AccessesInACircleBesideThePath) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kHighBase);
  code.push_back(addi(test::kT1, 0, 9));
  code.push_back(test::ld(10, test::kT0, 0));
  code.push_back(test::sd(test::kT1, test::kT0, 0));
  emit_and_exit(code);
  constexpr u32 kStore = 3;
  const u32 store_time = 1 + 4 * kStore + kSubMem;
  for (const bool by_refresh : {false, true}) {
    const u32 taken = by_refresh ? store_time - 5 : store_time;
    Attack a(code, [&](Step& s) {
      if (!s.is_at(Op::kLd)) return;
      s.record.mem = s.rd_value = 9;
      s.record.t_mem = taken;
    });
    ASSERT_EQ(emitted(a), 9u);
    a.record(ChipId::kStore, kStore).mem = 9;
    a.boundary(kCell).fini = 0;
    a.boundary(kCell).fini_ts = 0;
    if (by_refresh) {
      // Back by 5 ticks: the gap -6 as 2^16 * (-6 / 2^16), its low limb 0.
      a.epochs[0].refresh.push_back({kCell, store_time, taken, 0, 9});
      a.cell_at_row(ChipId::kRefresh, 0, RefreshAir::kGapHi, over_two16(minus(6)));
    }
    a.expect_refused_by({{}, {"Range16"}});
  }
}

// sd over two cells that leaves the second one out, access and all.
TEST(ForgePath, SecondCellOfAStoreLeftOut) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kDataBase);
  code.push_back(addi(test::kT1, 0, -1));
  code.push_back(test::sd(test::kT1, test::kT0, 4));
  code.push_back(test::ld(10, test::kT0, 8));
  emit_and_exit(code);
  Attack a(code, [](Step& s) {
    if (s.is_at(Op::kSd)) s.stored2 = s.mem2;
    if (s.is_at(Op::kLd)) s.record.t_mem = 0;
  });
  ASSERT_EQ(emitted(a), 0u);
  a.cell(ChipId::kUnaligned, 2, UnalignedAir::kTwo, fp(0));
  a.expect_refused_by({{"unaligned.second.reached"}, {}});
}

// --- across epochs -----------------------------------------------------------------------------

/// Emits the cell, which is 5 though nobody wrote it; its anchor says 0.
struct FiveFromNowhere : Attack {
  static std::vector<u32> code() {
    std::vector<u32> code;
    load_immediate(code, test::kT0, kHighBase);
    code.push_back(test::ld(10, test::kT0, 0));
    emit_and_exit(code);
    return code;
  }
  FiveFromNowhere() : Attack(code()) {
    FaultyMachine machine(g, {});
    machine.set(kCell, 5);
    epochs = {machine.run_epoch(1024)};
    EXPECT_EQ(emitted(*this), 5u);
  }
};
size_t anchor_index(const GlobalInput& in) {
  const auto at = std::find_if(in.ends.anchors.begin(), in.ends.anchors.end(),
                               [](const AnchorRecord& r) { return r.key == kCell; });
  EXPECT_NE(at, in.ends.anchors.end());
  return static_cast<size_t>(at - in.ends.anchors.begin());
}

// An epoch before the first: -1 < label passes the epoch's check, and no token is that old.
TEST(ForgeOrigin, EpochBeforeTheGenesis) {
  FiveFromNowhere a;
  const size_t row = a.boundary_row(kCell);
  a.cell_at_row(ChipId::kBoundary, row, BoundaryAir::kInitEpoch, minus(1));
  for (const AnchorRecord& end : {AnchorRecord{kCell, 1, 0, 5}, AnchorRecord{kCell, 0, 0, 0}}) {
    a.forgery.global = [&](GlobalInput& in) { in.ends.anchors[anchor_index(in)] = end; };
    a.expect_global_refused_by({{}, {"Global"}});
  }
}

// Two rows of one key that exchange their ends: one takes the genesis 0 and passes on the 5 that
// was read; the other brings that 5 in, and leaves the 0. The epoch's tokens balance, and so would
// the run's, if a row could take what its own epoch passed on.
struct ExchangedEnds : FiveFromNowhere {
  ExchangedEnds() {
    boundary(kCell).init = 0;
    epochs[0].boundary.push_back({kCell, 0, 5, 0, 0, 0});
    forgery.global = [](GlobalInput& in) { in.ends.anchors[anchor_index(in)] = {kCell, 1, 0, 0}; };
  }
};
TEST(ForgeOrigin, RowsThatExchangeTheirEnds) {
  ExchangedEnds().expect_global_refused_by({{}, {"Global"}});
  for (const Fp gap_hi : {fp(0), over_two16(minus(1))}) {
    ExchangedEnds own;
    const size_t second = own.epochs[0].boundary.size() - 1;
    own.cell_at_row(ChipId::kBoundary, second, BoundaryAir::kInitEpoch, fp(1));
    own.cell_at_row(ChipId::kBoundary, second, BoundaryAir::kGapHi, gap_hi);
    own.expect_refused_by({{}, {"Range16"}});
  }
}

// The cell is called one of the input, and the input's chain goes back to it and returns to its
// start over the plain cell there: both its ends are right.
TEST(ForgeOrigin, InputChainThroughPlainCells) {
  FiveFromNowhere a;
  for (const bool in_high_limb : {false, true}) {
    a.forgery.global = [&](GlobalInput& in) {
      const size_t at = anchor_index(in);
      ASSERT_EQ(in.ends.last_keys[0], kCell);
      in.ends.last_keys[0] = in.ends.image.back().key;
      const u32 start = static_cast<u32>(kRegionStart[1]);
      const auto next = static_cast<std::ptrdiff_t>(at) + 1;
      in.ends.anchors.insert(in.ends.anchors.begin() + next, {start, 0, 0, 0});
      in.ends.anchor_previous.insert(in.ends.anchor_previous.begin() + next, kCell);
      ++in.anchor_count;
      const Fp gap = fp(kCell) - fp(start) - fp(1);
      const Fp limbs[2] = {in_high_limb ? fp(0) : gap, in_high_limb ? over_two16(gap) : fp(0)};
      in.anchor_cells[0] = {{ChipId::kAnchor, at, AnchorAir::kIsInput, fp(1)},
                            {ChipId::kAnchor, at + 1, AnchorAir::kIsInput, fp(1)},
                            {ChipId::kAnchor, at, AnchorAir::kGapLo, limbs[0]},
                            {ChipId::kAnchor, at, AnchorAir::kGapHi, limbs[1]}};
    };
    a.expect_global_refused_by({{}, {"Range16"}});
  }
}

}  // namespace
}  // namespace epochd::testing
