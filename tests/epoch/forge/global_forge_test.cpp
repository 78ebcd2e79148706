// Forged memory across epochs: what each epoch proof cannot see and the global proof must. Epochs
// are run by a machine whose memory is changed between them, so every epoch stands by itself.
#include "epoch/chips/all_airs.hpp"
#include "tests/epoch/forge/attack.hpp"

namespace epochd::testing {
namespace {

using namespace chips;  // the columns of every chip
using prover::VerifyError;
using test::addi;

constexpr u32 kCell = kHighBase / 8;
constexpr u32 kDataKey = kDataBase / 8;

/// Epochs of 32 cycles: cell = 77; (cell = 78, or nothing); emit cell and exit 0.
std::vector<u32> three_epochs(bool writes_in_second = false) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, kHighBase);
  code.push_back(addi(test::kT1, 0, 77));
  code.push_back(test::sd(test::kT1, test::kT0, 0));
  while (code.size() < 40) code.push_back(test::kNop);
  if (writes_in_second) {
    code.push_back(addi(test::kT1, 0, 78));
    code.push_back(test::sd(test::kT1, test::kT0, 0));
  }
  while (code.size() < 64) code.push_back(test::kNop);
  code.push_back(test::ld(10, test::kT0, 0));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  return code;
}

/// Emits the data cell (or kCell) at once; exits 0.
std::vector<u32> emit_cell(u32 address) {
  std::vector<u32> code;
  load_immediate(code, test::kT0, address);
  code.push_back(test::ld(10, test::kT0, 0));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  return code;
}

/// Runs the program again, `before(machine, label)` changing the memory before each epoch.
void run_again(Attack& a, const std::function<void(FaultyMachine&, u32 label)>& before) {
  FaultyMachine machine(a.g, {});
  a.epochs.clear();
  while (!machine.halted()) {
    before(machine, static_cast<u32>(a.epochs.size()) + 1);
    a.epochs.push_back(machine.run_epoch(1u << a.g.params.epoch_size_log2));
  }
}

u64 emitted(const Attack& a) {
  return a.epochs.back().public_values.outputs.at(0);
}

size_t anchor_index(const GlobalInput& in, u32 key) {
  for (size_t i = 0; i < in.ends.anchors.size(); ++i) {
    if (in.ends.anchors[i].key == key) return i;
  }
  ADD_FAILURE() << "key " << key << " has no anchor";
  return 0;
}
AnchorRecord& anchor(GlobalInput& in, u32 key) {
  return in.ends.anchors[anchor_index(in, key)];
}
ImageEnd& image_end(GlobalInput& in, u32 key) {
  for (ImageEnd& e : in.ends.image) {
    if (e.key == key) return e;
  }
  ADD_FAILURE() << "key " << key << " is not in the image";
  return in.ends.image[0];
}
/// A second anchor right after the first, standing behind it in the chain.
void add_anchor_after(GlobalInput& in, size_t index, const AnchorRecord& second) {
  const auto at = static_cast<std::ptrdiff_t>(index) + 1;
  in.ends.anchors.insert(in.ends.anchors.begin() + at, second);
  in.ends.anchor_previous.insert(in.ends.anchor_previous.begin() + at, in.ends.anchors[index].key);
  ++in.anchor_count;
}
/// Gap limbs of an anchor row as one field element, whatever it is.
void set_anchor_gap(GlobalInput& in, size_t index, Fp gap) {
  const u32 chunk = static_cast<u32>(index / 64);
  in.anchor_cells[chunk].push_back({ChipId::kAnchor, index % 64, AnchorAir::kGapLo, gap});
  in.anchor_cells[chunk].push_back({ChipId::kAnchor, index % 64, AnchorAir::kGapHi, fp(0)});
}
void set_anchor(GlobalInput& in, size_t index, u32 column, Fp value) {
  in.anchor_cells[static_cast<u32>(index / 64)].push_back(
      {ChipId::kAnchor, index % 64, column, value});
}

// --- genesis -----------------------------------------------------------------------------------

TEST(ForgeGenesis, UntouchedCellThatIsNotZero) {
  Attack a(emit_cell(kHighBase));
  run_again(a, [](FaultyMachine& m, u32) { m.set(kCell, 5); });
  ASSERT_EQ(emitted(a), 5u);
  a.expect_global_refused_by({{"anchor.init.limb0_zero"}, {}});
  // Its anchor says 0 after all.
  a.forgery.global = [](GlobalInput& in) { anchor(in, kCell).init = 0; };
  a.expect_global_refused_by({{}, {"Global"}});
  // It is called a cell of the input, whose content is free.
  a.forgery.global = [](GlobalInput& in) {
    set_anchor(in, anchor_index(in, kCell), AnchorAir::kIsInput, fp(1));
  };
  a.expect_global_refused_by({{}, {"Order"}});
  // Half an input cell: in no chain, and its limbs need not be 0 if 1 - is_input were.
  a.forgery.global = [](GlobalInput& in) {
    set_anchor(in, anchor_index(in, kCell), AnchorAir::kIsInput, fp(1));
    set_anchor(in, anchor_index(in, kCell), AnchorAir::kIsReg, -half());
  };
  a.expect_global_refused_by({{"anchor.flag.reg_is_bool", "anchor.flag.one_region"}, {}});
}

TEST(ForgeGenesis, X0Is999) {
  // Every instruction that reads x0 reads 999, and the immediates make up for it.
  std::vector<u32> code;
  code.push_back(addi(10, 0, 0));
  code.push_back(addi(test::kA7, 0, 1 - 999));
  code.push_back(test::kEcall);
  code.push_back(addi(10, 0, -999));
  code.push_back(addi(test::kA7, 0, 93 - 999));
  code.push_back(test::kEcall);
  Attack a(emit_cell(kHighBase));
  Guest g(data_elf(code));
  g.params = a.g.params;
  FaultyMachine machine(g, {});
  machine.set(kRegBase, 999);
  const std::vector<EpochRecords> epochs{machine.run_epoch(1024)};
  ASSERT_EQ(epochs[0].public_values.outputs, std::vector<u64>{999});
  RunForgery forgery;
  expect_global_refused(forge_run(g, epochs), {{"anchor.init.limb0_zero"}, {}});
  forgery.global = [](GlobalInput& in) { anchor(in, kRegBase).init = 0; };
  expect_global_refused(forge_run(g, epochs, forgery), {{}, {"Global"}});
  // As an input cell: region 1 does not reach so far.
  forgery.global = [](GlobalInput& in) {
    const size_t x0 = anchor_index(in, kRegBase);
    set_anchor(in, x0, AnchorAir::kIsInput, fp(1));
    set_anchor(in, x0, AnchorAir::kIsReg, fp(0));
  };
  expect_global_refused(forge_run(g, epochs, forgery), {{}, {"Order"}});
  // Its own chain, ended by the header.
  forgery.global = [](GlobalInput& in) {
    const size_t x0 = anchor_index(in, kRegBase);
    set_anchor(in, x0, AnchorAir::kIsInput, fp(1));
    set_anchor(in, x0, AnchorAir::kIsReg, fp(0));
    set_anchor_gap(in, x0, fp(kRegBase - kRegionStart[1] - 1));
    in.ends.last_keys[1] = kRegBase;
  };
  const Attempt reaching = forge_run(g, epochs, forgery);
  EXPECT_EQ(reaching.result.error, RunError::kLastKey) << text(reaching.result);
  EXPECT_EQ(reaching.result.index, 1u);
  // Region 2 as 1 + 2 * (1/2).
  forgery.global = [](GlobalInput& in) {
    const size_t x0 = anchor_index(in, kRegBase);
    set_anchor(in, x0, AnchorAir::kIsInput, fp(1));
    set_anchor(in, x0, AnchorAir::kIsReg, half());
  };
  expect_global_refused(forge_run(g, epochs, forgery),
                        {{"anchor.flag.reg_is_bool", "anchor.flag.one_region"}, {}});
}

TEST(ForgeGenesis, ImageCellCalledZero) {
  Attack a(emit_cell(kDataBase));
  run_again(a, [](FaultyMachine& m, u32) { m.set(kDataKey, 0); });
  ASSERT_EQ(emitted(a), 0u);
  a.expect_global_refused_by({{}, {"Global"}});
  // A second genesis of the same key, as a plain anchor of 0; the image cell stands untouched.
  const auto second_genesis = [](GlobalInput& in) {
    ImageEnd& image = image_end(in, kDataKey);
    in.ends.anchors.insert(in.ends.anchors.begin(), {kDataKey, 1, 0, image.fini});
    in.ends.anchor_previous.insert(in.ends.anchor_previous.begin(), kDataKey);
    ++in.anchor_count;
    image.fini = kDataValue;
    image.fini_epoch = 0;
  };
  a.forgery.global = second_genesis;
  a.expect_global_refused_by({{}, {"Order"}});
  a.forgery.global = [&](GlobalInput& in) {
    second_genesis(in);
    set_anchor_gap(in, 0, minus(1));
  };
  a.expect_global_refused_by({{}, {"Range16"}});
}

TEST(ForgeGenesis, KeysOutsideEveryRegion) {
  // Below 0x1000: the chain starts at cell 511.
  std::vector<u32> code;
  code.push_back(addi(test::kT0, 0, 0x100));
  code.push_back(test::sd(test::kT0, test::kT0, 0));
  exit_with(code, 0);
  Attack low(code);
  low.expect_global_refused_by({{}, {"Order"}});
  low.forgery.global = [](GlobalInput& in) {
    set_anchor_gap(in, anchor_index(in, 0x20), fp(0x20) - fp(512));
  };
  low.expect_global_refused_by({{}, {"Range16"}});
}

TEST(ForgeGenesis, StorePastTheLastByte) {
  // sd at 0xffff'fffd: the second cell would be number 2^29.
  std::vector<u32> code;
  code.push_back(addi(test::kT0, 0, -3));
  code.push_back(test::i_type(0x1013, test::kT0, test::kT0, 32));
  code.push_back(test::i_type(0x5013, test::kT0, test::kT0, 32));
  code.push_back(test::sd(test::kT0, test::kT0, 0));
  exit_with(code, 0);
  Attack a(code);
  ASSERT_EQ(a.epochs[0].unaligned.size(), 1u);
  ASSERT_EQ(a.boundary(kCellCount).fini, 0xffu);
  a.expect_global_refused_by({{}, {"Global"}});
  const u64 fini = a.boundary(kCellCount).fini;
  const auto with_anchor = [&](GlobalInput& in) {
    const size_t last = anchor_index(in, kCellCount - 1);
    add_anchor_after(in, last, {kCellCount, 1, 0, fini});
    set_anchor(in, last + 1, AnchorAir::kIsInput, fp(1));
  };
  a.forgery.global = with_anchor;
  a.expect_global_refused_by({{}, {"Order"}});
  a.forgery.global = [&](GlobalInput& in) {
    with_anchor(in);
    in.ends.last_keys[1] = kCellCount;
  };
  const Attempt reaching = a.run();
  EXPECT_EQ(reaching.result.error, RunError::kLastKey) << text(reaching.result);
}

TEST(ForgeGenesis, OutputCounterDoesNotStartAtZero) {
  Attack a(emit_cell(kHighBase));
  run_again(a, [](FaultyMachine& m, u32) { m.set(kOutputCounterKey, 5); });
  const Attempt attempt = a.run();
  EXPECT_EQ(attempt.result.error, RunError::kChain) << text(attempt.result);
  a.epochs[0].public_values.out_in = 0;
  a.expect_refused_by({{}, {"Output"}});
}

TEST(ForgeGenesis, AnotherEntry) {
  Attack a(emit_cell(kHighBase));
  FaultyMachine machine(a.g, {});
  machine.set_pc(kTextBase + 4);
  a.epochs = {machine.run_epoch(1024)};
  const Attempt attempt = a.run();
  EXPECT_TRUE(attempt.epochs[0].clean()) << attempt.epochs[0];
  EXPECT_EQ(attempt.result.error, RunError::kChain) << text(attempt.result);
  EXPECT_EQ(attempt.result.index, 0u);
}

// --- two geneses of one key --------------------------------------------------------------------

/// The third epoch finds the cell as if nobody had written it: 0 instead of 77.
void forget_first_epoch(Attack& a) {
  run_again(a, [](FaultyMachine& m, u32 label) {
    if (label == 3) m.forget(kCell, 0);
  });
  ASSERT_EQ(emitted(a), 0u);
}

TEST(ForgeAnchor, DoubledSideBySide) {
  Attack a(three_epochs(), {}, {}, 5);
  forget_first_epoch(a);
  // One anchor alone cannot take both ends.
  a.expect_global_refused_by({{}, {"Global"}});
  const auto doubled = [](GlobalInput& in) {
    const size_t first = anchor_index(in, kCell);
    in.ends.anchors[first] = {kCell, 1, 0, 77};
    add_anchor_after(in, first, {kCell, 3, 0, 0});
  };
  a.forgery.global = doubled;
  a.expect_global_refused_by({{}, {"Order"}});
  a.forgery.global = [&](GlobalInput& in) {
    doubled(in);
    set_anchor_gap(in, anchor_index(in, kCell) + 1, minus(1));
  };
  a.expect_global_refused_by({{}, {"Range16"}});
}

TEST(ForgeAnchor, DoubledInPadding) {
  Attack a(three_epochs(), {}, {}, 5);
  forget_first_epoch(a);
  a.forgery.global = [](GlobalInput& in) {
    anchor(in, kCell) = {kCell, 1, 0, 77};
    const size_t row = in.ends.anchors.size() + 3;
    ASSERT_LT(row, 32u);
    set_anchor(in, row, AnchorAir::kIsReal, fp(1));
    set_anchor(in, row, AnchorAir::kKey, fp(kCell));
    set_anchor(in, row, AnchorAir::kFiniEpoch, fp(3));
    set_anchor_gap(in, row, minus(1));  // a chain of its own: it takes what it passes
  };
  a.expect_global_refused_by({{}, {"Range16"}});
}

TEST(ForgeAnchor, DoubledAcrossTheWrap) {
  // The second anchor takes the chain's last key and passes the cell's, 2^32 steps at a time past
  // p.
  Attack a(three_epochs(), {}, {}, 5);
  forget_first_epoch(a);
  a.forgery.global = [](GlobalInput& in) {
    anchor(in, kCell) = {kCell, 1, 0, 77};
    const u64 last = in.ends.last_keys[0];
    in.ends.anchors.insert(in.ends.anchors.begin(), {kCell, 3, 0, 0});
    in.ends.anchor_previous.insert(in.ends.anchor_previous.begin(), last);
    ++in.anchor_count;
    set_anchor_gap(in, 0, fp(kCell) - fp(last) - fp(1));
    in.ends.last_keys[0] = kCell;
  };
  // Here the cell is the last key itself, so the gap is -1, that is p - 1.
  a.expect_global_refused_by({{}, {"Range16"}});
}

TEST(ForgeAnchor, DoubledWhereTwoChunksMeet) {
  // 80 cells, all written in the first epoch; the second one reads number 63.
  std::vector<u32> code;
  load_immediate(code, test::kT0, kHighBase);
  code.push_back(addi(test::kT1, 0, 80));
  code.push_back(test::sd(test::kT1, test::kT0, 0));
  code.push_back(addi(test::kT0, test::kT0, 8));
  code.push_back(addi(test::kT1, test::kT1, -1));
  code.push_back(test::bne(test::kT1, 0, -12));
  while (code.size() < 2 + 4 + 512 - 2 - 4 * 80) code.push_back(test::kNop);
  load_immediate(code, test::kT0, kHighBase + 8 * 63);
  code.push_back(test::ld(10, test::kT0, 0));
  test::append(code, test::system_call(static_cast<i32>(kSyscallEmit)));
  exit_with(code, 0);
  Attack a(code, {}, {}, 9);
  ASSERT_EQ(a.epochs.size(), 2u);
  ASSERT_EQ(emitted(a), 80u - 63);
  const u32 key = kCell + 63;
  run_again(a, [&](FaultyMachine& m, u32 label) {
    if (label == 2) m.forget(key, 0);
  });
  ASSERT_EQ(emitted(a), 0u);
  a.forgery.global = [&](GlobalInput& in) {
    const size_t first = anchor_index(in, key);
    ASSERT_EQ(first, 63u);
    in.ends.anchors[first] = {key, 1, 0, 80 - 63};
    add_anchor_after(in, first, {key, 2, 0, 0});
    set_anchor_gap(in, first + 1, minus(1));
  };
  a.expect_global_refused_by({{}, {"Range16"}});
}

TEST(ForgeAnchor, TwinsOfMultiplicityOneAndMinusOne) {
  Attack a(three_epochs(), {}, {}, 5);
  a.forgery.global = [](GlobalInput& in) {
    const AnchorRecord twin = anchor(in, kCell);
    for (size_t i = 0; i < 2; ++i) {
      in.ends.anchors.push_back(twin);
      in.ends.anchor_previous.push_back(kCell - 1);
      ++in.anchor_count;
    }
    set_anchor(in, in.ends.anchors.size() - 1, AnchorAir::kIsReal, minus(1));
  };
  a.expect_global_refused_by({{"anchor.flag.real_is_bool"}, {}});
}

TEST(ForgeAnchor, FlagsOfPaddingRows) {
  for (const u32 flag : {AnchorAir::kIsInput, AnchorAir::kIsReg}) {
    Attack a(three_epochs(), {}, {}, 5);
    a.forgery.global = [&](GlobalInput& in) { set_anchor(in, 31, flag, fp(1)); };
    a.expect_global_refused_by(
        {{flag == AnchorAir::kIsInput ? "anchor.flag.input_is_real" : "anchor.flag.reg_is_real"},
         {}});
  }
}

TEST(ForgeAnchor, LeftOut) {
  // Without an anchor the cell has no genesis.
  Attack a(three_epochs(), {}, {}, 5);
  a.forgery.global = [](GlobalInput& in) {
    const auto at = static_cast<std::ptrdiff_t>(anchor_index(in, kCell));
    in.ends.anchors.erase(in.ends.anchors.begin() + at);
    in.ends.anchor_previous.erase(in.ends.anchor_previous.begin() + at);
    in.ends.last_keys[0] = in.ends.image.back().key;
    --in.anchor_count;
  };
  a.expect_global_refused_by({{}, {"Global"}});
}

TEST(ForgeAnchor, ChainsCutShortOrPassingOthers) {
  for (u32 region = 0; region < kRegionCount; ++region) {
    Attack a(three_epochs(), {}, {}, 5);
    a.forgery.global = [&](GlobalInput& in) {
      in.ends.last_keys[region] += region == 1 ? 1 : u64(-1);
    };
    a.expect_global_refused_by({{}, {"Order"}});
  }
}

// --- labels ------------------------------------------------------------------------------------

TEST(ForgeLabel, EpochThatContinuesItself) {
  // The third epoch reads 5 and leaves 5, and calls itself the last one to have touched the cell:
  // its two Global tokens meet each other.
  Attack a(three_epochs(), {}, {}, 5);
  run_again(a, [](FaultyMachine& m, u32 label) {
    if (label == 3) m.set(kCell, 5);
  });
  ASSERT_EQ(emitted(a), 5u);
  a.boundary(kCell, 3).init_epoch = 3;
  a.forgery.global = [](GlobalInput& in) { anchor(in, kCell) = {kCell, 1, 0, 77}; };
  a.expect_refused_by({{}, {"Range16"}}, 2);
}

TEST(ForgeLabel, EpochsThatContinueEachOther) {
  // Second and third epoch pass 5 round between them.
  std::vector<u32> code = three_epochs();
  code[45] = test::ld(test::kT2, test::kT0, 0);  // the second epoch reads the cell too
  Attack loop(code, {}, {}, 5);
  run_again(loop, [](FaultyMachine& m, u32 label) {
    if (label == 2) m.set(kCell, 5);
  });
  ASSERT_EQ(emitted(loop), 5u);
  loop.boundary(kCell, 2).init_epoch = 3;
  loop.forgery.global = [](GlobalInput& in) { anchor(in, kCell) = {kCell, 1, 0, 77}; };
  loop.expect_refused_by({{}, {"Range16"}}, 1);
}

TEST(ForgeLabel, StaleTokenOfAnEarlierEpoch) {
  // The third epoch takes the first one's 77; the second one wrote 78 in between.
  Attack a(three_epochs(true), {}, {}, 5);
  ASSERT_EQ(emitted(a), 78u);
  run_again(a, [](FaultyMachine& m, u32 label) {
    if (label == 3) m.set(kCell, 77);
  });
  ASSERT_EQ(emitted(a), 77u);
  a.expect_global_refused_by({{}, {"Global"}});
  a.boundary(kCell, 3).init_epoch = 1;
  a.expect_global_refused_by({{}, {"Global"}});
}

TEST(ForgeLabel, WriteOfAnEpochDroppedFromTheEnd) {
  // The anchor takes the first epoch's token, as if the second had not written.
  Attack a(three_epochs(true), {}, {}, 5);
  a.forgery.global = [](GlobalInput& in) { anchor(in, kCell) = {kCell, 1, 0, 77}; };
  a.expect_global_refused_by({{}, {"Global"}});
}

TEST(ForgeLabel, TouchedImageCellCalledUntouched) {
  Attack a(emit_cell(kDataBase));
  a.forgery.global = [](GlobalInput& in) { image_end(in, kDataKey).fini_epoch = 0; };
  a.expect_global_refused_by({{}, {"Global"}});
}

// --- one boundary, two proofs ------------------------------------------------------------------

// Epoch proof and global proof with different boundary rows: the second epoch's write is silenced
// on the global side only. The root is the epoch's own.
TEST(ForgeBoundary, RowDroppedOnTheGlobalSideOnly) {
  Attack a(three_epochs(true), {}, {}, 5);
  run_again(a, [](FaultyMachine& m, u32 label) {
    if (label == 3) m.set(kCell, 77);
  });
  a.boundary(kCell, 3).init_epoch = 1;
  ASSERT_EQ(emitted(a), 77u);
  a.forgery.global = [](GlobalInput& in) {
    std::erase_if(in.boundaries[1], [](const BoundaryRecord& b) { return b.key == kCell; });
  };
  const Attempt attempt = a.run();
  for (const TablesReport& epoch : attempt.epochs) EXPECT_TRUE(epoch.clean()) << epoch;
  // With those rows everything balances; they are just not the ones that were committed.
  EXPECT_TRUE(attempt.global.clean()) << attempt.global;
  EXPECT_EQ(attempt.result.error, RunError::kGlobalProof) << text(attempt.result);
  EXPECT_EQ(attempt.result.argument.error, VerifyError::kMerkleBase) << text(attempt.result);
  EXPECT_EQ(attempt.result.argument.detail, 1u);
}

// And the other way: the row's flag is 0 where the epoch proof looks, 1 where the global one does.
TEST(ForgeBoundary, RowDroppedOnTheEpochSideOnly) {
  Attack a(three_epochs(true), {}, {}, 5);
  a.cell_at_row(ChipId::kBoundary, a.boundary_row(kCell, 2), BoundaryAir::kIsReal, fp(0), 2);
  a.expect_refused_by({{}, {"Memory"}}, 1);
}

// A second row of one key brings a value in by the side: the epoch itself does not mind.
TEST(ForgeBoundary, TwoRowsOfOneKey) {
  Attack a(three_epochs(), {}, {}, 5);
  run_again(a, [](FaultyMachine& m, u32 label) {
    if (label == 3) m.set(kCell, 5);
  });
  ASSERT_EQ(emitted(a), 5u);
  // The real history of the cell, untouched in this epoch.
  a.epochs[2].boundary.push_back({kCell, 1, 77, 77, 0, 0});
  a.boundary(kCell, 3).init_epoch = 0;
  a.forgery.global = [](GlobalInput& in) { anchor(in, kCell) = {kCell, 3, 0, 77}; };
  a.expect_global_refused_by({{}, {"Global"}});
}

// An untouched key in the boundary: takes its token and passes it on. Harmless, and accepted.
TEST(ForgeBoundary, RowOfAKeyNotTouched) {
  Attack a(three_epochs(), {}, {}, 5);
  a.epochs[1].boundary.push_back({kCell, 1, 77, 77, 0, 0});
  a.boundary(kCell, 3).init_epoch = 2;
  const Attempt attempt = a.run();
  EXPECT_TRUE(attempt.result.ok()) << text(attempt.result);
  EXPECT_EQ(outputs_of(attempt.bundle), std::vector<u64>{77});
}

// --- epochs of two runs ------------------------------------------------------------------------

// Every pc and every count fits; the global proof is made for the mixture.
TEST(ForgeMixture, EpochsOfTwoInputs) {
  std::vector<u32> code;
  load_input_base(code, test::kT0);
  code.push_back(test::ld(test::kA1, test::kT0, 8));
  while (code.size() < 40) code.push_back(test::kNop);
  emit_register(code, test::kA1);
  while (code.size() < 70) code.push_back(test::kNop);
  exit_with(code, 0);
  Attack ours(code, {}, {11}, 5);
  Attack theirs(code, {}, {12}, 5);
  for (u32 swapped = 0; swapped < 2; ++swapped) {
    Attack mixed(code, {}, {11}, 5);
    mixed.epochs[swapped] = theirs.epochs[swapped];
    mixed.expect_global_refused_by({{}, {"Global"}});
  }
}

}  // namespace
}  // namespace epochd::testing
