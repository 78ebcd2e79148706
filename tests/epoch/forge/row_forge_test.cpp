// Forged rows: results, operands, branches, instructions. The machine errs, everything after the
// error is consistent with it, and the rows are patched to hide it as well as they can be.
#include "epoch/chips/all_airs.hpp"
#include "tests/epoch/forge/attack.hpp"

namespace epochd::testing {
namespace {

using namespace chips;  // the columns of every chip
using test::addi;

// The bench itself: without forgeries it makes the prover's bytes, and they are accepted.
TEST(Forge, WithoutForgeriesTheBundleIsTheProvers) {
  Guest g(all_regions(70));
  g.params.epoch_size_log2 = 8;
  const auto epochs = run_faulty(g, input_words({5}));
  const Attempt attempt = forge_run(g, epochs);
  EXPECT_TRUE(attempt.result.ok()) << text(attempt.result);
  EXPECT_TRUE(attempt.bundle == prove_run(g, epochs));
  for (const TablesReport& report : attempt.epochs) EXPECT_TRUE(report.clean()) << report;
  EXPECT_TRUE(attempt.global.clean()) << attempt.global;
}

// --- results -----------------------------------------------------------------------------------

TEST(ForgeResult, SumOffByOne) {
  Attack a(binary_program(op_word(0x33), 5, 6), result_of_cycle(kOpCycle, 12));
  a.limbs(ChipId::kAdd, kOpCycle, AddAir::kS0, 12);
  a.expect_refused_by({{"add.add.carry_lo", "add.add.carry_hi"}, {}});
}

TEST(ForgeResult, SumWrongInItsHighWord) {
  Attack a(binary_program(op_word(0x33), 5, 6), result_of_cycle(kOpCycle, 11 + (1ull << 32)));
  a.limbs(ChipId::kAdd, kOpCycle, AddAir::kS0, 11 + (1ull << 32));
  a.expect_refused_by({{"add.add.carry_hi"}, {}});
}

// p + 11 and 11 are one field element, not one number.
TEST(ForgeResult, SumPlusTheModulus) {
  const u64 alias = Fp::kModulus + 11;
  Attack a(binary_program(op_word(0x33), 5, 6), result_of_cycle(kOpCycle, alias));
  a.limbs(ChipId::kAdd, kOpCycle, AddAir::kS0, alias);
  // The carry -2^-32 = 2^32 - 1 even makes the high words agree.
  a.expect_refused_by({{"add.add.carry_lo"}, {}});
}

TEST(ForgeResult, LimbsOutOfRange) {
  // The same word from other limbs: nothing changes but the range checks.
  Attack a(binary_program(op_word(0x33), 5, 6));
  a.cell(ChipId::kAdd, kOpCycle, AddAir::kS0, fp(11 + 65536));
  a.cell(ChipId::kAdd, kOpCycle, AddAir::kS1, minus(1));
  a.expect_refused_by({{}, {"Range16"}});
}

TEST(ForgeResult, HalfIntegerLimbs) {
  Attack a(binary_program(op_word(0x33), 5, 6));
  a.cell(ChipId::kAdd, kOpCycle, AddAir::kS0, fp(11) - fp(65536) * half());
  a.cell(ChipId::kAdd, kOpCycle, AddAir::kS1, half());
  a.expect_refused_by({{}, {"Range16"}});
}

TEST(ForgeResult, SubtractionOfSwappedOperands) {
  Attack a(binary_program(op_word(0x40000033), 5, 6), result_of_cycle(kOpCycle, 1));
  a.limbs(ChipId::kAdd, kOpCycle, AddAir::kS0, 1);
  a.expect_refused_by({{"add.sub.carry_lo", "add.sub.carry_hi"}, {}});
}

TEST(ForgeResult, AdditionDoneAsSubtraction) {
  Attack a(binary_program(op_word(0x33), 6, 5), result_of_cycle(kOpCycle, 1));
  a.limbs(ChipId::kAdd, kOpCycle, AddAir::kS0, 1);
  a.cell(ChipId::kAdd, kOpCycle, AddAir::kIsAdd, fp(0));
  a.cell(ChipId::kAdd, kOpCycle, AddAir::kIsSub, fp(1));
  a.expect_refused_by({{}, {"Program"}});
}

TEST(ForgeResult, BitwiseByteOutsideItsTable) {
  Attack a(binary_program(op_word(0x7033), 0xf0, 0x3c), result_of_cycle(kOpCycle, 0x31));
  a.cell(ChipId::kBitwise, kOpCycle, BitwiseAir::kZ0, fp(0x31));
  a.expect_refused_by({{}, {"Bytes"}});
}

TEST(ForgeResult, ComparisonTurnedRound) {
  Attack a(binary_program(op_word(0x2033), -5, 6), result_of_cycle(kOpCycle, 0));
  a.cell(ChipId::kCompare, kOpCycle, CompareAir::kLt, fp(0));
  a.expect_refused_by({{"compare.difference.high"}, {}});
}

TEST(ForgeResult, SignOfAnOperandLost) {
  Attack a(binary_program(op_word(0x2033), -5, 6), result_of_cycle(kOpCycle, 0));
  a.cell(ChipId::kCompare, kOpCycle, CompareAir::kLt, fp(0));
  a.cell(ChipId::kCompare, kOpCycle, CompareAir::kASign, fp(0));
  a.expect_refused_by({{}, {"Sign16"}});
}

TEST(ForgeResult, ShiftedByAnotherAmount) {
  Attack a(binary_program(op_word(0x1033), 3, 5), result_of_cycle(kOpCycle, 3 << 6));
  a.word(ChipId::kShift, kOpCycle, ShiftAir::kRLo, 3 << 6);
  a.expect_refused_by({{"shifter.result.low"}, {}});
}

// The product 0 * 0 = p: the carry 2^32 - 1 makes it so in the field.
TEST(ForgeResult, ZeroTimesZeroIsTheModulus) {
  for (const bool in_limb : {false, true}) {
    Attack a(binary_program(op_word(0x02000033), 0, 0), result_of_cycle(kOpCycle, Fp::kModulus));
    a.word(ChipId::kMul, kOpCycle, MulAir::kRLo, Fp::kModulus);
    a.limbs(ChipId::kMul, kOpCycle, MulAir::kP0, Fp::kModulus);
    a.cell(ChipId::kMul, kOpCycle, MulAir::kC0, fp(in_limb ? 0xffffffff : 0xffff));
    a.cell(ChipId::kMul, kOpCycle, MulAir::kC0High, fp(in_limb ? 0 : 0xffff));
    a.expect_refused_by(in_limb ? Caught{{}, {"Range16"}}
                                : Caught{{"mul.carry.c0_high_is_bool"}, {}});
  }
}

TEST(ForgeResult, HighProductOfNegativesTakenAsUnsigned) {
  Attack a(binary_program(op_word(0x02001033), -1, 2), result_of_cycle(kOpCycle, 1));
  a.word(ChipId::kMul, kOpCycle, MulAir::kRLo, 1);
  a.limbs(ChipId::kMul, kOpCycle, MulAir::kP4, 1);
  // (2^64 - 1) * 2 as unsigned numbers, without a's sign: carries 1, 1, 0; the third is stored + 2.
  a.cell(ChipId::kMul, kOpCycle, MulAir::kASign, fp(0));
  a.cell(ChipId::kMul, kOpCycle, MulAir::kC2, fp(2));
  a.cell(ChipId::kMul, kOpCycle, MulAir::kBorrow, fp(0));
  a.expect_refused_by({{}, {"Sign16"}});
}

// -7 = 3 * (-3) + 2: a fine identity and a fine bound, but the remainder has the wrong sign.
TEST(ForgeResult, RemainderOfTheWrongSign) {
  Attack a(binary_program(op_word(0x02006033), -7, 3), result_of_cycle(kOpCycle, 2));
  const auto set = [&](u32 column, u64 v) { a.cell(ChipId::kDivrem, kOpCycle, column, fp(v)); };
  a.word(ChipId::kDivrem, kOpCycle, DivremAir::kRdLo, 2);
  a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kQ0, 0 - u64{3});
  a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kR0, 2);
  a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kT0, 0);
  set(DivremAir::kR1Sign, 0);
  set(DivremAir::kRNegative, 0);
  set(DivremAir::kTBorrow, 0);
  set(DivremAir::kC0, 2);
  set(DivremAir::kC0High, 0);
  set(DivremAir::kC1, 2);
  set(DivremAir::kC1High, 0);
  set(DivremAir::kC1Higher, 0);
  set(DivremAir::kC2, 2);
  set(DivremAir::kC2High, 0);
  a.expect_refused_by({{"divrem.remainder.sign_is_dividends"}, {}});
}

TEST(ForgeResult, RemainderNotBelowTheDivisor) {
  Attack a(binary_program(op_word(0x02005033), 7, 3), result_of_cycle(kOpCycle, 1));
  a.word(ChipId::kDivrem, kOpCycle, DivremAir::kRdLo, 1);
  a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kQ0, 1);
  a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kR0, 4);
  // 3 - 4 - 1 = -2.
  a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kT0, 0xfffffffe);
  a.cell(ChipId::kDivrem, kOpCycle, DivremAir::kTBorrow, fp(1));
  a.expect_refused_by({{"divrem.bound.high"}, {}});
}

TEST(ForgeResult, DivisionByZeroGivesZero) {
  for (const bool as_nonzero : {false, true}) {
    Attack a(binary_program(op_word(0x02005033), 7, 0), result_of_cycle(kOpCycle, 0));
    a.word(ChipId::kDivrem, kOpCycle, DivremAir::kRdLo, 0);
    a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kQ0, 0);
    a.cell(ChipId::kDivrem, kOpCycle, DivremAir::kQ1Sign, fp(0));
    if (as_nonzero) {
      a.cell(ChipId::kDivrem, kOpCycle, DivremAir::kDIsZero, fp(0));
      a.limbs(ChipId::kDivrem, kOpCycle, DivremAir::kT0, 0xfffffff8);
      a.cell(ChipId::kDivrem, kOpCycle, DivremAir::kTBorrow, fp(1));
      a.expect_refused_by({{"divrem.bound.high"}, {}});
    } else {
      a.expect_refused_by({{"divrem.zero.quotient_low", "divrem.zero.quotient_high"}, {}});
    }
  }
}

// --- what a row is -----------------------------------------------------------------------------

// Rows of multiplicity 1 and -1 cancel on every bus, and the -1 row turns the lookups of a row with
// limbs out of range into provisions. Flags -3 and 2 make -1 in all and the opcode of ADD.
TEST(ForgeRow, TwinOfMultiplicityMinusOne) {
  Attack a(binary_program(op_word(0x33), 5, 0));
  const size_t real = a.row(ChipId::kAdd, kOpCycle);
  const InstructionRecord honest = a.record(ChipId::kAdd, kOpCycle);
  a.records(ChipId::kAdd) = {honest, honest, honest};
  // Row `real` has limbs out of range; the next takes all of it back; the third is honest.
  for (const size_t odd : {real, real + 1}) {
    a.cell_at_row(ChipId::kAdd, odd, AddAir::kS0, fp(5 + 65536));
    a.cell_at_row(ChipId::kAdd, odd, AddAir::kS1, minus(1));
  }
  a.cell_at_row(ChipId::kAdd, real + 1, AddAir::kIsAdd, minus(3));
  a.cell_at_row(ChipId::kAdd, real + 1, AddAir::kIsSub, fp(2));
  a.expect_refused_by({{"add.flag.add_is_bool", "add.flag.sub_is_bool", "add.flag.one_hot"}, {}});
}

TEST(ForgeRow, FlagsOfPaddingRows) {
  struct Flags {
    Fp add, sub;
    std::set<std::string> caught;
  };
  const Flags tries[] = {
      {fp(2), minus(2), {"add.flag.add_is_bool", "add.flag.sub_is_bool"}},
      {fp(1), minus(1), {"add.flag.sub_is_bool"}},
      {half(), -half(), {"add.flag.add_is_bool", "add.flag.sub_is_bool"}},
  };
  for (const Flags& f : tries) {
    Attack a(binary_program(op_word(0x33), 5, 6));
    a.cell_at_row(ChipId::kAdd, 20, AddAir::kIsAdd, f.add);
    a.cell_at_row(ChipId::kAdd, 20, AddAir::kIsSub, f.sub);
    a.expect_refused_by({f.caught, {}});
  }
}

// A real row that no other row hands over to.
TEST(ForgeRow, AnInstructionOutOfNowhere) {
  Attack a(binary_program(op_word(0x33), 5, 6));
  a.cell_at_row(ChipId::kAdd, 31, AddAir::kIsAdd, fp(1));
  a.expect_refused_by({{}, {"State", "Program", "Memory", "Range16"}});
}

TEST(ForgeRow, AnInstructionLeftOut) {
  Attack a(binary_program(op_word(0x33), 5, 6));
  a.records(ChipId::kAdd).clear();
  a.expect_refused_by({{}, {"State", "Memory"}});
}

TEST(ForgeRow, AnInstructionNotInTheProgram) {
  const auto code = binary_program(op_word(0x33), 5, 6);
  for (const u32 other :
       {op_word(0x40000033), test::r_type(0x33, 10, test::kT0, test::kT0),
        test::r_type(0x33, 11, test::kT0, test::kT1), test::r_type(0x33, 0, test::kT0, test::kT1),
        addi(10, test::kT0, 6), test::kNop}) {
    Attack a(code);
    a.execute_instead(binary_program(other, 5, 6));
    a.expect_refused_by({{}, {"Program"}});
  }
}

TEST(ForgeRow, OperandsSwapped) {
  // t1 - t0 in place of t0 - t1, tokens and all.
  Attack a(binary_program(op_word(0x40000033), 5, 6));
  a.execute_instead(binary_program(test::r_type(0x40000033, 10, test::kT1, test::kT0), 5, 6));
  a.expect_refused_by({{}, {"Program"}});
}

TEST(ForgeRow, ImmediateOfAnotherInstruction) {
  const auto code = binary_program(op_word(0x33), 5, 6);
  // Cycle 1 (t1 = 6) done as cycle 0 is (t0 = 5), at its own pc.
  Attack a(code, result_of_cycle(1, 5));
  a.record(ChipId::kAddi, 1).program_row = a.record(ChipId::kAddi, 0).program_row;
  a.cell(ChipId::kAddi, 1, AddiAir::kPc, fp(kTextBase + 4));
  a.cell(ChipId::kAddi, 1, AddiAir::kRd, fp(test::kT1));
  a.limbs(ChipId::kAdd, kOpCycle, AddAir::kS0, 10);
  for (InstructionRecord& r : a.records(ChipId::kEcall)) r.rs2 = r.rs2 == 11 ? 10 : r.rs2;
  a.expect_refused_by({{}, {"Program"}});
}

TEST(ForgeRow, ProgramRowOfAnotherPlace) {
  Attack a(binary_program(op_word(0x33), 5, 6));
  // Both are addi a7, x0, n; the second one's row is used twice.
  a.record(ChipId::kAddi, 3).program_row = a.record(ChipId::kAddi, 6).program_row;
  a.expect_refused_by({{}, {"State", "Memory"}});
}

// --- writes of rd ------------------------------------------------------------------------------

TEST(ForgeWrite, RdKeepsItsOldValue) {
  Attack a(binary_program(op_word(0x33), 5, 6), result_of_cycle(kOpCycle, 0));
  a.limbs(ChipId::kAdd, kOpCycle, AddAir::kS0, 0);
  a.expect_refused_by({{"add.add.carry_lo", "add.add.carry_hi"}, {}});
}

TEST(ForgeWrite, RdSentToTheSink) {
  Attack a(binary_program(op_word(0x33), 5, 6));
  a.execute_instead(binary_program(test::r_type(0x33, 0, 5, 6), 5, 6));
  a.expect_refused_by({{}, {"Program"}});
}

// The write is there, and the reader takes the token from before it.
TEST(ForgeWrite, ReadPastAWrite) {
  std::vector<u32> code;
  code.push_back(addi(10, 0, 1));
  code.push_back(addi(10, 0, 2));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  Attack a(code);
  InstructionRecord& emit = a.record(ChipId::kEcall, 3);
  ASSERT_EQ(emit.rs2, 2u);
  emit.rs2 = 1;
  emit.t_rs2 = 4;  // cycle 0's write
  a.epochs[0].public_values.outputs[0] = 1;
  a.expect_refused_by({{}, {"Memory"}});
}

// The same, with the tokens in an order that balances: first write, read, second write. Only time
// objects.
TEST(ForgeWrite, ReadBeforeAnEarlierWrite) {
  std::vector<u32> code;
  code.push_back(addi(10, 0, 1));
  code.push_back(addi(10, 0, 2));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  Attack a(code);
  InstructionRecord& emit = a.record(ChipId::kEcall, 3);
  emit.rs2 = 1;
  emit.t_rs2 = 4;
  a.epochs[0].public_values.outputs[0] = 1;
  // The second write takes the emit's token, in its future; the next write of a0 takes that one.
  InstructionRecord& second = a.record(ChipId::kAddi, 1);
  second.t_rd = emit.ts + kSubRs2;
  InstructionRecord& next = a.record(ChipId::kAddi, 4);
  next.t_rd = second.ts + kSubRd;
  next.rd_old = 2;
  a.expect_refused_by({{}, {"Range16"}});
}

// x0 in place of the sink, and everything after reads 999. The other numbers make up for it.
TEST(ForgeWrite, X0Written) {
  std::vector<u32> code;
  code.push_back(addi(0, 0, 999));
  code.push_back(addi(10, 0, 0));
  code.push_back(addi(test::kA7, 0, 1 - 999));
  code.push_back(test::kEcall);
  code.push_back(addi(10, 0, -999));
  code.push_back(addi(test::kA7, 0, 93 - 999));
  code.push_back(test::kEcall);
  Attack a(code, [](Step& s) {
    if (s.stage == Step::Stage::kOperands && s.cycle == 0) s.instruction.rd = 0;
  });
  EXPECT_EQ(a.epochs[0].public_values.outputs, std::vector<u64>{999});
  a.forgery.epochs[1].rows = a.g.key.program;
  a.forgery.epochs[1].rows[0].rd = 0;
  a.expect_refused_by({{}, {"Program"}});
}

// --- control flow ------------------------------------------------------------------------------

/// t0 = 5, t1 = 6; if t0 `branch` t1, skip a0 = 1; emit a0; exit 0.
std::vector<u32> branch_program(u32 branch_base) {
  std::vector<u32> code;
  code.push_back(addi(test::kT0, 0, 5));
  code.push_back(addi(test::kT1, 0, 6));
  code.push_back(test::b_type(branch_base, test::kT0, test::kT1, 8));
  code.push_back(addi(10, 0, 1));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  return code;
}
void flip_branch(Step& s) {
  if (s.stage != Step::Stage::kEffects || s.cycle != 2) return;
  s.next_pc = s.next_pc == kTextBase + 12 ? kTextBase + 16 : kTextBase + 12;
}

TEST(ForgeBranch, TakenThoughNotEqual) {
  Attack plain(branch_program(0x63), flip_branch);
  plain.expect_refused_by({{}, {"State"}});
  Attack next(branch_program(0x63), flip_branch);
  next.cell(ChipId::kBeq, 2, BeqAir::kNextPc, fp(kTextBase + 16));
  next.expect_refused_by({{"beq.next_pc"}, {}});
  Attack equal(branch_program(0x63), flip_branch);
  equal.cell(ChipId::kBeq, 2, BeqAir::kNextPc, fp(kTextBase + 16));
  equal.cell(ChipId::kBeq, 2, BeqAir::kEq, fp(1));
  equal.cell(ChipId::kBeq, 2, BeqAir::kQInv, fp(0));
  equal.expect_refused_by({{"beq.eq.no_difference"}, {}});
}

TEST(ForgeBranch, NotTakenThoughLess) {
  Attack next(branch_program(0x6063), flip_branch);
  next.cell(ChipId::kBlt, 2, BltAir::kNextPc, fp(kTextBase + 12));
  next.expect_refused_by({{"blt.next_pc"}, {}});
  // 5 - 6 = -1 as a difference without borrow.
  Attack negative(branch_program(0x6063), flip_branch);
  negative.limbs(ChipId::kBlt, 2, BltAir::kD0, 0);
  negative.cell(ChipId::kBlt, 2, BltAir::kD0, minus(1));
  negative.cell(ChipId::kBlt, 2, BltAir::kNextPc, fp(kTextBase + 12));
  negative.expect_refused_by({{}, {"Range16"}});
}

TEST(ForgeBranch, TargetOfTheProversChoice) {
  Attack a(branch_program(0x6063), flip_branch);
  a.cell(ChipId::kBlt, 2, BltAir::kTarget, fp(kTextBase + 12));
  a.cell(ChipId::kBlt, 2, BltAir::kNextPc, fp(kTextBase + 12));
  a.expect_refused_by({{}, {"Program"}});
}

/// t0 = the text's start; ra = jalr t0, offset; emit a0 (0 or 1); exit 0. Lands on the third of
/// a0 = 1, nop, nop.
std::vector<u32> jalr_program(i32 offset) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kTextBase);
  code.push_back(test::jalr(1, test::kT0, offset));
  code.push_back(addi(10, 0, 1));
  code.push_back(test::kNop);
  code.push_back(test::kNop);
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  return code;
}

// The sum is target + 1; bit 0 = 5 moves the target back by 4.
TEST(ForgeJump, Bit0TakesMoreThanItsBit) {
  Attack a(jalr_program(13), [](Step& s) {
    if (s.is_at(Op::kJalr)) s.next_pc = kTextBase + 8;
  });
  a.cell(ChipId::kJalr, 1, JalrAir::kBit0, fp(5));
  a.cell(ChipId::kJalr, 1, JalrAir::kBit2, fp(0));
  a.expect_refused_by({{"jalr.target.bit0_is_bool"}, {}});
}

TEST(ForgeJump, Bit0Kept) {
  // The odd target is in no row, whatever the parts say.
  Attack a(jalr_program(13));
  a.cell(ChipId::kJalr, 1, JalrAir::kBit0, fp(0));
  a.cell(ChipId::kJalr, 1, JalrAir::kBit2, fp(1) + fp(4).inverse());
  a.expect_refused_by({{"jalr.target.bit2_is_bool"}, {"State"}});
}

TEST(ForgeJump, LinkOfTheProversChoice) {
  Attack a(jalr_program(12), result_of_cycle(1, 0x1234));
  a.expect_refused_by({{}, {"Memory"}});
}

// --- calls -------------------------------------------------------------------------------------

/// emit 7; exit 1; then, if that did nothing: emit 8; exit 2.
std::vector<u32> two_exits() {
  std::vector<u32> code;
  for (i32 i = 0; i < 2; ++i) {
    code.push_back(addi(test::kT0, 0, 7 + i));
    emit_register(code, test::kT0);
    exit_with(code, 1 + i);
  }
  return code;
}
constexpr u32 kFirstExitCycle = 6;

TEST(ForgeCall, RowsAfterAnExit) {
  const auto ignored = [](Step& s) {
    if (s.stage != Step::Stage::kEffects || s.cycle != kFirstExitCycle) return;
    s.exits = false;
    s.next_pc = s.instruction.pc + 4;
  };
  Attack plain(two_exits(), ignored);
  plain.expect_refused_by({{}, {"State", "Exit"}});
  Attack next(two_exits(), ignored);
  const u32 first_pc = kTextBase + 4 * kFirstExitCycle;
  next.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kNextPc, fp(first_pc + 4));
  next.expect_refused_by({{"ecall.next_pc"}, {"Exit"}});
  Attack debug(two_exits(), ignored);
  debug.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kNextPc, fp(first_pc + 4));
  debug.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kIsExit, fp(0));
  debug.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kIsDebug, fp(1));
  debug.expect_refused_by({{}, {"Memory"}});
  // 93 = 2 * 46.5: one flag of another size.
  Attack scaled(two_exits(), ignored);
  scaled.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kNextPc, fp(first_pc + 4));
  scaled.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kIsExit, fp(0));
  scaled.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kIsEmit, -fp(91));
  scaled.cell(ChipId::kEcall, kFirstExitCycle, EcallAir::kIsDebug, fp(92));
  const Attempt attempt = scaled.run();
  EXPECT_EQ(attempt.result.error, RunError::kEpochProof) << text(attempt.result);
  EXPECT_EQ(attempt.epochs[0].constraints().count("ecall.flag.emit_is_bool"), 1u);
  EXPECT_EQ(attempt.epochs[0].constraints().count("ecall.flag.debug_is_bool"), 1u);
}

TEST(ForgeCall, AnEmitThatDoesNotEmit) {
  Attack a(two_exits());
  a.epochs[0].public_values.outputs.clear();
  a.expect_refused_by({{}, {"Output"}});
  Attack debug(two_exits());
  debug.epochs[0].public_values.outputs.clear();
  debug.cell(ChipId::kEcall, 3, EcallAir::kIsEmit, fp(0));
  debug.cell(ChipId::kEcall, 3, EcallAir::kIsDebug, fp(1));
  debug.cell(ChipId::kEcall, 3, EcallAir::kTCounter, fp(0));
  debug.cell(ChipId::kEcall, 3, EcallAir::kIndex, fp(0));
  std::erase_if(debug.epochs[0].boundary,
                [](const BoundaryRecord& b) { return b.key == kOutputCounterKey; });
  debug.expect_refused_by({{}, {"Memory"}});
}

TEST(ForgeCall, AnotherExitCode) {
  Attack a(two_exits());
  a.epochs[0].public_values.exit_code = 0;
  a.expect_refused_by({{}, {"Exit"}});
}

// --- the chain ---------------------------------------------------------------------------------

TEST(ForgeChain, LastStepCut) {
  // Everything but the exit, called finished all the same.
  Attack a(two_exits());
  FaultyMachine machine(a.g, {});
  a.epochs = {machine.run_epoch(kFirstExitCycle)};
  a.epochs[0].public_values.is_final = true;
  a.epochs[0].public_values.pc_out = kHaltPc;
  a.epochs[0].public_values.exit_code = 1;
  a.expect_refused_by({{}, {"State", "Exit"}});
}

TEST(ForgeChain, CyclesOneMoreOrLess) {
  for (const i32 step : {1, -1}) {
    Attack a(two_exits());
    a.epochs[0].public_values.cycles += static_cast<u32>(step);
    a.expect_refused_by({{}, {"State"}});
  }
}

TEST(ForgeChain, StartAnywhere) {
  // Skips the first two instructions.
  Attack a(two_exits());
  a.epochs[0].public_values.pc_in += 4;
  a.expect_refused_by({{}, {"State"}});
}

// --- multiplicities ----------------------------------------------------------------------------

TEST(ForgeMultiplicity, OneMoreOfAFixedTablesRow) {
  struct Try {
    ChipId chip;
    u32 column;
    const char* bus;
  };
  const Try tries[] = {{ChipId::kRange16, Range16Air::kRangeCount, "Range16"},
                       {ChipId::kRange16, Range16Air::kSignCount, "Sign16"},
                       {ChipId::kRange16, Range16Air::kAlignCount, "Align"},
                       {ChipId::kBytes, BytesAir::kXorCount, "Bytes"},
                       {ChipId::kProgram, ProgramAir::kCount, "Program"}};
  for (const Try& t : tries) {
    for (const Fp change : {fp(1), minus(1)}) {
      Attack a(binary_program(op_word(0x33), 5, 6));
      a.forgery.epochs[1].before_commit = [&](prover::CpuSession& session,
                                              const std::vector<TableInstance>& tables) {
        const u32 table = table_of(tables, t.chip);
        session.mutable_main_trace(table)[(size_t{t.column} << tables[table].log_height) + 5] +=
            change;
      };
      a.expect_refused_by({{}, {t.bus}});
    }
  }
}

}  // namespace
}  // namespace epochd::testing
