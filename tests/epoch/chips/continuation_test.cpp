// refresh, boundary, boundary_global, anchor, image: a small run of three epochs balances, and
// every way of giving a key another past does not.
#include "epoch/chips/anchor/fill.hpp"
#include "epoch/chips/boundary/fill.hpp"
#include "epoch/chips/boundary_global/air.hpp"
#include "epoch/chips/image/fill.hpp"
#include "epoch/chips/image/fixed.hpp"
#include "epoch/chips/refresh/fill.hpp"
#include "tests/epoch/chips/address_cases.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

/// The whole of a key's genesis and end: an anchor row, or an image row.
struct Genesis {
  u32 key;
  u64 init, fini;
  u32 fini_epoch;
  bool in_image;
};

/// A run as its global proof and its epochs' boundary tables see it.
struct MemoryStory {
  std::vector<std::vector<BoundaryRecord>> epochs;  ///< [label - 1]
  std::vector<Genesis> geneses;                     ///< keys ascending
};

constexpr u32 kIn = kInputFirstCell;

/// Keys of all regions, over three epochs; 601 is an untouched image cell.
MemoryStory honest_run() {
  const auto b = [](u32 key, u32 epoch, u64 init, u64 fini, u32 ts) {
    return BoundaryRecord{key, epoch, init, fini, ts, 0};
  };
  MemoryStory run;
  run.epochs = {{b(512, 0, 0, 7, 3), b(600, 0, kPattern, 1, 7), b(kIn, 0, 99, 99, 11),
                 b(kRegBase, 0, 0, 0, 13), b(kSinkKey, 0, 0, 5, 16)},
                {b(600, 1, 1, 2, 40), b(kRegBase, 1, 0, 0, 41), b(kRegBase + 10, 0, 0, 8, 44)},
                {b(512, 1, 7, ~0ull, 90), b(600, 2, 2, 3, 95), b(kIn + 5, 0, ~0ull, 1, 99),
                 b(kSinkKey, 1, 5, 6, 100)}};
  run.geneses = {{512, 0, ~0ull, 3, false},       {600, kPattern, 3, 3, true},
                 {601, 17, 17, 0, true},          {kIn, 99, 99, 1, false},
                 {kIn + 5, ~0ull, 1, 3, false},   {kRegBase, 0, 0, 2, false},
                 {kRegBase + 10, 0, 8, 2, false}, {kSinkKey, 0, 6, 3, false}};
  return run;
}

u32 region_of(u32 key) {
  return key >= kRegBase ? 2 : key >= kIn ? 1 : 0;
}
constexpr u64 kChainStart[] = {511, kIn - 1, kRegBase - 1ull};

/// All that a verifier would hold against the run's tables.
struct Objections {
  std::set<std::string> labels;  ///< violated constraints, lookups outside their table
  std::set<Bus> unbalanced;
  bool none() const { return labels.empty() && unbalanced.empty(); }
};

class Global {
 public:
  explicit Global(const MemoryStory& run) {
    u32 label = 0;
    for (const auto& epoch : run.epochs) add_epoch(epoch, ++label);
    u64 last[] = {kChainStart[0], kChainStart[1], kChainStart[2]};
    std::vector<const Genesis*> anchors;
    std::vector<const Genesis*> image;
    std::vector<u64> previous_anchor;
    std::vector<u64> previous_image;
    for (const Genesis& g : run.geneses) {
      u64& at = last[region_of(g.key)];
      (g.in_image ? image : anchors).push_back(&g);
      (g.in_image ? previous_image : previous_anchor).push_back(at);
      at = g.key;
    }
    add_anchors(anchors, previous_anchor);
    add_image(image, previous_image);
    for (u32 region = 0; region < 3; ++region) {
      const u8 order = static_cast<u8>(Bus::kOrder);
      prover::add_tuple(balance_, order, {region, kChainStart[region]}, kOne);
      prover::add_tuple(balance_, order, {region, last[region]}, -kOne);
    }
  }

  Objections objections() const {
    Objections all = found_;
    for (const auto& [tuple, multiplicity] : balance_) {
      const Bus bus = static_cast<Bus>(tuple[0]);
      if (bus == Bus::kGlobal || bus == Bus::kOrder) all.unbalanced.insert(bus);
    }
    return all;
  }

 private:
  template <class Air>
  void judge(const ChipTrace<Air>& trace) {
    const TraceView view = trace.view();
    for (size_t row = 0; row < trace.rows; ++row) {
      const Verdict v = judge_row<Air>(view, row, touches_of_row(view, row));
      found_.labels.insert(v.violated.begin(), v.violated.end());
      found_.labels.insert(v.bad_lookups.begin(), v.bad_lookups.end());
    }
    prover::add_interactions(view, balance_);
  }
  template <class Air>
  void add_boundary(const std::vector<BoundaryRecord>& records, u32 label) {
    ChipTrace<Air> t(records.size());
    t.params[0] = fp(label);
    for (size_t row = 0; row < records.size(); ++row) {
      RowWriter writer = t.writer(row);
      Fill<BoundaryAir>::fill(records[row], label, writer);
    }
    judge(t);
  }
  void add_epoch(const std::vector<BoundaryRecord>& records, u32 label) {
    add_boundary<BoundaryAir>(records, label);
    add_boundary<BoundaryGlobalAir>(records, label);
  }
  void add_anchors(const std::vector<const Genesis*>& rows, const std::vector<u64>& previous) {
    ChipTrace<AnchorAir> t(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      const Genesis& g = *rows[row];
      RowWriter writer = t.writer(row);
      Fill<AnchorAir>::fill(AnchorRecord{g.key, g.fini_epoch, g.init, g.fini}, previous[row],
                            writer);
    }
    judge(t);
  }
  void add_image(const std::vector<const Genesis*>& rows, const std::vector<u64>& previous) {
    std::vector<ImageCell> cells;
    for (const Genesis* g : rows) cells.push_back({g->key, g->init});
    ChipTrace<ImageAir> t(rows.size());
    for (size_t row = 0; row < t.rows; ++row) {
      RowWriter fixed{&t.fixed(0, row), t.rows};
      FixedFill<ImageAir>::fill(cells, static_cast<u32>(row), fixed);
      if (row >= rows.size()) continue;
      RowWriter writer = t.writer(row);
      const Genesis& g = *rows[row];
      Fill<ImageAir>::fill(g.fini, g.fini_epoch, g.key, previous[row], writer);
    }
    judge(t);
  }

  BusBalance balance_;
  Objections found_;
};

Objections objections_to(const MemoryStory& run) {
  return Global(run).objections();
}

TEST(Continuation, AnHonestRunBalances) {
  const Objections o = objections_to(honest_run());
  EXPECT_TRUE(o.labels.empty()) << *o.labels.begin();
  EXPECT_TRUE(o.unbalanced.empty());
}

TEST(Continuation, ADroppedBoundaryRowIsMissed) {
  for (u32 epoch = 0; epoch < 3; ++epoch) {
    for (size_t row = 0; row < honest_run().epochs[epoch].size(); ++row) {
      MemoryStory run = honest_run();
      run.epochs[epoch].erase(run.epochs[epoch].begin() + static_cast<i64>(row));
      EXPECT_EQ(objections_to(run).unbalanced.count(Bus::kGlobal), 1u) << epoch << " " << row;
    }
  }
}

TEST(Continuation, AWriteCannotBeSkipped) {
  // Epoch 3 goes on from epoch 1; epoch 2's row is left over.
  MemoryStory run = honest_run();
  run.epochs[2][1].init_epoch = 1;
  run.epochs[2][1].init = 1;
  EXPECT_EQ(objections_to(run).unbalanced.count(Bus::kGlobal), 1u);
  // Or epoch 2's row feeds itself, which balances: the label order objects, and it alone.
  run.epochs[1][0].init_epoch = 2;
  run.epochs[1][0].init = run.epochs[1][0].fini;
  const Objections o = objections_to(run);
  EXPECT_TRUE(o.unbalanced.empty());
  EXPECT_EQ(o.labels, std::set<std::string>{"epoch_gap"});
}

TEST(Continuation, TwoEpochsCannotFeedEachOther) {
  MemoryStory run = honest_run();
  // Epochs 1 and 3 of the sink in a ring; its genesis goes straight to its end.
  run.epochs[0][4].init_epoch = 3;
  run.epochs[0][4].init = 6;
  run.geneses.back().fini = 0;
  run.geneses.back().fini_epoch = 0;
  const Objections o = objections_to(run);
  EXPECT_TRUE(o.unbalanced.empty());
  EXPECT_EQ(o.labels, std::set<std::string>{"epoch_gap"});
}

TEST(Continuation, NoInitEpochAtOrAfterTheLabel) {
  // No second limb makes label - 1 - init_epoch a number below 2^32.
  ChipTrace<BoundaryAir> t(1);
  t.params[0] = fp(5);
  RowWriter writer = t.writer(0);
  Fill<BoundaryAir>::fill(BoundaryRecord{600, 4, 1, 2, 3, 0}, 5, writer);
  expect_honest(t);
  for (const Fp epoch : {fp(5), fp(6), fp(1u << 30)}) {
    for (u64 hi = 0; hi < 65536; hi += 255) {
      expect_objects(
          judge_changed(t, 0, {{BoundaryAir::kInitEpoch, epoch}, {BoundaryAir::kGapHi, fp(hi)}}),
          "epoch_gap");
    }
  }
}

TEST(Continuation, EpochsCannotSwapPlacesOrRepeat) {
  MemoryStory swapped = honest_run();
  std::swap(swapped.epochs[0], swapped.epochs[1]);
  EXPECT_FALSE(objections_to(swapped).none());
  MemoryStory repeated = honest_run();
  repeated.epochs.push_back(repeated.epochs[2]);
  EXPECT_EQ(objections_to(repeated).unbalanced.count(Bus::kGlobal), 1u);
}

TEST(Continuation, AKeyHasOneGenesis) {
  // A second genesis of a plain key, in every place of the chain a forger could try.
  const MemoryStory honest = honest_run();
  for (size_t copy = 0; copy < honest.geneses.size(); ++copy) {
    MemoryStory run = honest;
    Genesis second = run.geneses[copy];
    second.in_image = false;
    second.fini = second.init;
    second.fini_epoch = 0;
    run.geneses.insert(run.geneses.begin() + static_cast<i64>(copy), second);
    EXPECT_FALSE(objections_to(run).none()) << copy;
  }
}

TEST(Continuation, AnImageCellIsNotZero) {
  // Called a plain cell with init 0: the image row of the key stays in the table regardless.
  MemoryStory run = honest_run();
  run.epochs[0][1].init = 0;
  run.geneses[1].fini = kPattern;
  run.geneses[1].fini_epoch = 0;
  run.geneses.insert(run.geneses.begin() + 1, Genesis{600, 0, 3, 3, false});
  EXPECT_FALSE(objections_to(run).none());
}

TEST(Continuation, OnlyTheInputRegionChoosesItsContent) {
  for (const size_t plain : {size_t{0}, size_t{5}}) {
    MemoryStory run = honest_run();
    run.geneses[plain].init = 999;
    for (BoundaryRecord& r : run.epochs[0]) {
      if (r.key == run.geneses[plain].key) r.init = 999;
    }
    EXPECT_EQ(objections_to(run).labels, std::set<std::string>{"anchor.init.limb0_zero"});
  }
}

TEST(Continuation, TheSameFlagGatesEveryBus) {
  const auto expect_gated = [](const AirInfo& air) {
    for (u32 i = 0; i < air.interaction_count; ++i) {
      const prover::LinearForm& m = air.forms[air.interactions[i].first_form];
      ASSERT_EQ(m.term_count, 1) << air.name << i;
      EXPECT_EQ(air.terms[m.first_term].slot, BoundaryColumns::kIsReal) << air.name << i;
      EXPECT_EQ(air.terms[m.first_term].coefficient, kOne);
      EXPECT_TRUE(m.constant.is_zero());
    }
  };
  expect_gated(prover::Description<BoundaryAir>::kInfo);
  expect_gated(prover::Description<BoundaryGlobalAir>::kInfo);
}

TEST(Boundary, EveryColumnIsCaughtByOneOfItsTwoProofs) {
  const BoundaryRecord record{600, 70000, kPattern, ~kPattern, 77, 0};
  const u32 label = 200000;
  ChipTrace<BoundaryAir> epoch(1);
  ChipTrace<BoundaryGlobalAir> global(1);
  epoch.params[0] = global.params[0] = fp(label);
  RowWriter writer = epoch.writer(0);
  Fill<BoundaryAir>::fill(record, label, writer);
  global.cells = epoch.cells;
  std::mt19937_64 rng(3);
  for (u32 column = 0; column < BoundaryAir::kMainWidth; ++column) {
    const Fp old = epoch.main(column, 0);
    for (const Fp value : replacements_for(old, rng)) {
      if (value == old) continue;
      const Changes change = {{column, value}};
      EXPECT_TRUE(judge_changed(epoch, 0, change).caught() ||
                  judge_changed(global, 0, change).caught())
          << column << " -> " << value.value();
    }
  }
}

// What opens and closes a key's tokens in the epoch: its value before at time 0, and the last
// token.
TEST(Boundary, SendsTheFirstTokenAndTakesTheLast) {
  const BoundaryRecord record{70000, 3, kPattern, ~kPattern, 41, 0};
  ChipTrace<BoundaryAir> epoch(1);
  epoch.params[0] = fp(5);
  RowWriter writer = epoch.writer(0);
  Fill<BoundaryAir>::fill(record, 5, writer);
  BusBalance balance;
  prover::add_interactions(epoch.view(), balance);
  const auto token = [&](u64 time, u64 value, Fp multiplicity) {
    prover::add_tuple(balance, static_cast<u8>(Bus::kMemory),
                      {70000, time, value & 0xffffffff, value >> 32}, multiplicity);
  };
  token(0, kPattern, -kOne);
  token(41, ~kPattern, kOne);
  for (const auto& [tuple, multiplicity] : balance) {
    EXPECT_EQ(static_cast<Bus>(tuple[0]), Bus::kRange16);
  }
}

TEST(Boundary, EveryLookupIsNeeded) {
  ChipTrace<BoundaryAir> epoch(1);
  epoch.params[0] = fp(70000);
  RowWriter writer = epoch.writer(0);
  Fill<BoundaryAir>::fill(BoundaryRecord{600, 5, 1, 2, 3, 0}, 70000, writer);
  expect_honest(epoch);
  LookupCoverage<BoundaryAir> coverage(epoch);
  // The gap, 69994, is 1 and 4458: with 0 the low limb is too large, with a fraction the high one
  // is none.
  coverage.mutant(0, {{BoundaryAir::kGapHi, {}}});
  coverage.mutant(0, {{BoundaryAir::kGapHi, kOne + fp(kTwo16).inverse()}});
  coverage.expect_complete();
}

TEST(Boundary, FlagsAreNeeded) {
  ChipTrace<BoundaryAir> epoch(0);
  epoch.params[0] = fp(1);
  ConstraintCoverage<BoundaryAir> coverage;
  coverage.forged(epoch, 0, {{BoundaryAir::kIsReal, -kOne}}, "boundary.flag.real_is_bool");
  coverage.expect_complete();
  ChipTrace<BoundaryGlobalAir> global(0);
  ConstraintCoverage<BoundaryGlobalAir> global_coverage;
  global_coverage.forged(global, 0, {{BoundaryGlobalAir::kIsReal, -kOne}},
                         "boundary_global.flag.real_is_bool");
  global_coverage.expect_complete();
  expect_shape<BoundaryAir>(9, 1, 4);
  expect_shape<BoundaryGlobalAir>(9, 1, 2);
}

using A = AnchorAir;

/// Rows 0: plain, 1: input, 2: register, 3: padding.
ChipTrace<A> few_anchors() {
  ChipTrace<A> t(3);
  const AnchorRecord records[] = {{70000, 2, 0, 5}, {kIn + 3, 1, kPattern, 6}, {kSinkKey, 9, 0, 7}};
  const u64 previous[] = {511, kIn - 1, kRegBase - 1ull};
  for (size_t row = 0; row < 3; ++row) {
    RowWriter writer = t.writer(row);
    Fill<A>::fill(records[row], previous[row], writer);
  }
  return t;
}

TEST(Anchor, EveryColumnIsCaught) {
  const ChipTrace<A> t = few_anchors();
  expect_honest(t);
  std::vector<Exemption> input_content;
  for (const u32 limb : {A::kInit0, A::kInit1, A::kInit2, A::kInit3}) {
    input_content.push_back({limb, "the input region's content is the prover's to choose",
                             [](const std::vector<Fp>& row) { return row[A::kIsInput] == kOne; }});
  }
  expect_every_column_caught(t, {0, 1, 2}, input_content);
}

TEST(Anchor, InputContentIsRangeChecked) {
  ChipTrace<A> t = few_anchors();
  for (u32 limb = A::kInit0; limb <= A::kInit3; ++limb) {
    for (const Fp value : {fp(65536), -kOne, kHalf}) {
      expect_objects(judge_changed(t, 1, {{limb, value}}), "init");
    }
  }
}

TEST(Anchor, EveryConstraintIsNeeded) {
  ChipTrace<A> t = few_anchors();
  ConstraintCoverage<A> coverage;
  coverage.forged(t, 3, {{A::kIsReal, -kOne}}, "anchor.flag.real_is_bool");
  // A plain key in the registers' chain; a register in the input's.
  coverage.forged(t, 0, {{A::kIsInput, fp(2)}}, "anchor.flag.input_is_bool");
  coverage.forged(t, 2, {{A::kIsReg, kHalf}}, "anchor.flag.reg_is_bool");
  coverage.mutant(t, 3, {{A::kIsInput, kOne}}, "anchor.flag.input_is_real");
  coverage.mutant(t, 3, {{A::kIsReg, kOne}}, "anchor.flag.reg_is_real");
  coverage.forged(t, 2, {{A::kIsInput, kOne}, {A::kInit0, fp(999)}}, "anchor.flag.one_region");
  coverage.mutant(t, 0, {{A::kInit0, kOne}}, "anchor.init.limb0_zero");
  coverage.mutant(t, 0, {{A::kInit1, kOne}}, "anchor.init.limb1_zero");
  coverage.mutant(t, 2, {{A::kInit2, kOne}}, "anchor.init.limb2_zero");
  coverage.mutant(t, 2, {{A::kInit3, kOne}}, "anchor.init.limb3_zero");
  coverage.expect_complete();
  expect_shape<A>(13, 10, 10);
}

TEST(Anchor, EveryLookupIsNeeded) {
  LookupCoverage<A> coverage(few_anchors());
  for (u32 limb = A::kInit0; limb <= A::kInit3; ++limb) coverage.mutant(1, {{limb, fp(kTwo16)}});
  coverage.repacked({A::kGapLo, A::kGapHi});
  coverage.expect_complete();
}

TEST(Anchor, NoKeyIsItsOwnPredecessor) {
  // key - prev - 1 = -1 or less has no limbs.
  ChipTrace<A> t = few_anchors();
  for (const u64 back : {1ull, 2ull, 65536ull, 1ull << 32}) {
    for (u64 hi = 0; hi < 65536; hi += 255) {
      const Fp lo = -fp(back) - fp(hi) * fp(65536);
      expect_objects(judge_changed(t, 0, {{A::kGapLo, lo}, {A::kGapHi, fp(hi)}}), "order.gap");
    }
  }
}

TEST(Image, EveryColumnIsCaught) {
  ChipTrace<ImageAir> t(2);
  const std::vector<ImageCell> cells = {{600, kPattern}, {70000, 1}};
  for (u32 row = 0; row < t.rows; ++row) {
    RowWriter fixed{&t.fixed(0, row), t.rows};
    FixedFill<ImageAir>::fill(cells, row, fixed);
  }
  RowWriter row0 = t.writer(0);
  RowWriter row1 = t.writer(1);
  Fill<ImageAir>::fill(~0ull, 3, 600, 511, row0);
  Fill<ImageAir>::fill(1, 0, 70000, 600, row1);
  expect_honest(t);
  expect_every_column_caught(t, {0, 1});
  LookupCoverage<ImageAir> lookups(t);
  lookups.repacked({ImageAir::kGapLo, ImageAir::kGapHi});
  lookups.expect_complete();
  expect_shape<ImageAir>(5, 0, 6);
}

TEST(Refresh, MovesATokenForwardOnly) {
  const std::vector<RefreshRecord> records = {{600, 3, 70000, 0, kPattern},
                                              {kSinkKey, 0, 1, 0, ~0ull},
                                              {5, 1, 0xffffffff, 0, 1},
                                              {6, 10, 10 + 65536, 0, 2}};
  auto t = build_trace<RefreshAir>(records);
  expect_honest(t);
  BusBalance balance;
  prover::add_interactions(t.view(), balance);
  for (const RefreshRecord& r : records) {
    const u64 lo = r.value & 0xffffffff;
    const u64 hi = r.value >> 32;
    prover::add_tuple(balance, static_cast<u8>(Bus::kMemory), {r.key, r.t_from, lo, hi}, kOne);
    prover::add_tuple(balance, static_cast<u8>(Bus::kMemory), {r.key, r.t_to, lo, hi}, -kOne);
  }
  for (const auto& [tuple, multiplicity] : balance) {
    EXPECT_NE(static_cast<Bus>(tuple[0]), Bus::kMemory);
  }
  // t_to may be any later time: what it is served to is the business of whoever takes the token.
  expect_every_column_caught(
      t, {0, 1, 2, 3}, {{RefreshAir::kTTo, "any later time within the gap's limbs is sound", {}}});
  for (const u64 t_to : {3ull, 2ull, 0ull}) {
    for (u64 hi = 0; hi < 65536; hi += 255) {
      expect_objects(
          judge_changed(t, 0, {{RefreshAir::kTTo, fp(t_to)}, {RefreshAir::kGapHi, fp(hi)}}), "gap");
    }
  }
  ConstraintCoverage<RefreshAir> coverage;
  coverage.forged(t, t.real_rows, {{RefreshAir::kIsReal, -kOne}, {RefreshAir::kTTo, kOne}},
                  "refresh.flag.real_is_bool");
  coverage.expect_complete();
  expect_shape<RefreshAir>(7, 1, 4);
}

}  // namespace
}  // namespace epochd::chips::harness
