// Sweeps: every column of every table of real epochs changed cell by cell, and executions that err
// at random. What no constraint and no bus objects to is listed here with the reason why it is
// harmless, or the test fails.
#include <random>

#include "epoch/chips/airs.hpp"
#include "epoch/chips/all_airs.hpp"
#include "tests/epoch/chips/harness.hpp"
#include "tests/epoch/continuation/small_programs.hpp"
#include "tests/epoch/forge/faulty_machine.hpp"
#include "tests/epoch/forge/forge.hpp"

namespace epochd::testing {
namespace {

using chips::harness::replacements_for;
using chips::harness::Touch;
using chips::harness::touches_of_row;
using prover::Fp;
using prover::TraceView;

constexpr u64 kSeed = 0x5eed0415;

using Balance = prover::BusBalance;
void add_row(Balance& balance, const TraceView& view, size_t row, Fp factor) {
  for (const Touch& t : touches_of_row(view, row)) {
    const Fp m = t.is_send ? t.multiplicity : -t.multiplicity;
    prover::add_tuple(balance, static_cast<u8>(t.bus), t.tuple, factor * m);
  }
}

/// A table as every proof sees it that reads its columns: the boundary is read by two.
using Views = std::vector<TraceView>;
Views views_of(const prover::CpuSession& session, u32 table, ChipId chip) {
  Views views{view_of(session, table)};
  if (chip == ChipId::kBoundary) {
    views.push_back(views[0]);
    views[1].air = chips::find_air(ChipId::kBoundaryGlobal);
  }
  return views;
}
void add_row(Balance& balance, const Views& views, size_t row, Fp factor) {
  for (const TraceView& view : views) add_row(balance, view, row, factor);
}

/// A change that neither the row's constraints nor any bus sees, multiplicities being free.
/// `difference`: what the row does now, less what it did.
bool survives(const Guest& g, const Views& views, size_t row, const Balance& difference) {
  for (const auto& [tuple, net] : difference) {
    if (!lookup_exists(g.key, tuple)) return false;
  }
  return std::all_of(views.begin(), views.end(),
                     [&](const TraceView& view) { return row_violations(view, row).empty(); });
}

/// Columns a prover may fill in more than one way, and why that is no hole.
struct Harmless {
  ChipId chip;
  u32 column;
  const char* reason;
  bool (*applies)(const TraceView& view, size_t row);
};
constexpr Harmless kHarmless[] = {
    {ChipId::kBeq, chips::BeqAir::kQInv, "the inverse of a difference that is 0: nothing reads it",
     [](const TraceView& view, size_t row) {
       return view.columns[chips::BeqAir::kEq][row] == Fp::one();
     }},
};
bool is_harmless(const TraceView& view, size_t row, u32 column) {
  return std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](const Harmless& h) {
    return view.air == chips::find_air(h.chip) && column == h.column && h.applies(view, row);
  });
}

struct Survivor {
  std::string table;
  u32 column;
  bool operator<(const Survivor& o) const {
    return std::tie(table, column) < std::tie(o.table, o.column);
  }
};
std::ostream& operator<<(std::ostream& os, const Survivor& s) {
  return os << s.table << " column " << s.column;
}

/// Rows to change: the first and the last, some between, and one of padding.
std::set<size_t> rows_to_change(size_t used, size_t rows, std::mt19937_64& rng) {
  std::set<size_t> chosen;
  if (used > 0) chosen = {0, used - 1};
  for (u32 i = 0; i < 24 && used > 0; ++i) chosen.insert(rng() % used);
  if (used < rows) chosen.insert(used + rng() % (rows - used));
  return chosen;
}

using Survivors = std::map<Survivor, size_t>;

/// Changes every cell of one row in turn; counts the changes that survive. A row that touches no
/// bus before and after is silent, and no matter.
void sweep_row(const Guest& g, const Views& views, Fp* trace, size_t row, std::mt19937_64& rng,
               Survivors& survivors, size_t& tried) {
  Balance before;
  add_row(before, views, row, -Fp::one());
  for (u32 column = 0; column < views[0].air->main_width; ++column) {
    Fp& cell = trace[column * views[0].rows + row];
    const Fp honest = cell;
    for (const Fp value : replacements_for(honest, rng)) {
      if (value == honest) continue;
      cell = value;
      ++tried;
      Balance now, difference = before;
      add_row(now, views, row, Fp::one());
      add_row(difference, views, row, Fp::one());
      const bool silent = before.empty() && now.empty();
      if (!silent && survives(g, views, row, difference) && !is_harmless(views[0], row, column)) {
        ++survivors[{views[0].air->name, column}];
      }
    }
    cell = honest;
  }
}

void expect_none(const Survivors& survivors) {
  for (const auto& [survivor, count] : survivors) {
    ADD_FAILURE() << survivor << " can be changed unseen, " << count << " times";
  }
}

/// All tables but the fixed ones, whose cells are multiplicities.
void sweep_tables(const Guest& g, prover::CpuSession& session,
                  const std::vector<TableInstance>& tables) {
  std::mt19937_64 rng(kSeed);
  Survivors survivors;
  size_t tried = 0;
  for (u32 t = 0; t < tables.size(); ++t) {
    if (fixed_height(tables[t].chip, g.key.vk) != 0) continue;
    const Views views = views_of(session, t, tables[t].chip);
    for (const size_t row : rows_to_change(tables[t].rows, views[0].rows, rng)) {
      sweep_row(g, views, session.mutable_main_trace(t), row, rng, survivors, tried);
    }
  }
  EXPECT_GT(tried, 10000u);
  expect_none(survivors);
}

void expect_no_survivors(Guest& g, const std::vector<u8>& input, u32 epoch_size_log2) {
  g.params.epoch_size_log2 = epoch_size_log2;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const auto epochs = run_epochs(g, input);
  for (const EpochRecords& records : {epochs.front(), epochs.back()}) {
    inspect_epoch(g, records, [&](prover::CpuSession& session, const auto& tables) {
      sweep_tables(g, session, tables);
    });
  }
}

TEST(Sweep, EveryColumnOfEveryInstructionsTable) {
  expect_no_survivors(shared_guest("alledge.elf"), {}, 17);
}
TEST(Sweep, EveryColumnOfMisalignedAccesses) {
  expect_no_survivors(shared_guest("misaligned.elf"), {}, 16);
}

/// Another witness of a row: its constraints hold, its lookups exist, and it takes the same tokens
/// and names the same instruction, whatever it passes on.
bool is_another_witness(const Guest& g, const TraceView& view, size_t row,
                        const std::vector<Touch>& honest) {
  if (!row_violations(view, row).empty()) return false;
  const std::vector<Touch> now = touches_of_row(view, row);
  if (!chips::harness::same_touches(chips::harness::inputs_of(honest),
                                    chips::harness::inputs_of(now))) {
    return false;
  }
  return std::all_of(now.begin(), now.end(), [&](const Touch& t) {
    const bool is_token = t.bus == Bus::kState || t.bus == Bus::kMemory || t.bus == Bus::kOutput ||
                          t.bus == Bus::kExit;
    std::vector<u64> tuple{static_cast<u64>(t.bus)};
    tuple.insert(tuple.end(), t.tuple.begin(), t.tuple.end());
    return is_token || t.multiplicity.is_zero() || lookup_exists(g.key, tuple);
  });
}

/// What two cells may be changed by together: units of limbs, words and carries, and halves.
std::vector<Fp> pair_changes() {
  std::vector<Fp> changes;
  for (const u32 shift : {0u, 1u, 8u, 16u, 32u}) {
    const Fp unit = Fp::from_u64(1ull << shift);
    for (const Fp c : {unit, -unit, unit.inverse(), -unit.inverse()}) changes.push_back(c);
  }
  return changes;
}

// What a refresh row may do, and the judge must see: it chooses its time.
TEST(Sweep, ARefreshHasOtherWitnesses) {
  Guest& g = shared_guest("alledge.elf");
  g.params.epoch_size_log2 = 17;
  const EpochRecords records = run_epochs(g, {}).back();
  ASSERT_FALSE(records.refresh.empty());
  inspect_epoch(g, records, [&](prover::CpuSession& session, const auto& tables) {
    const u32 t = table_of(tables, ChipId::kRefresh);
    const TraceView view = view_of(session, t);
    const std::vector<Touch> honest = touches_of_row(view, 0);
    Fp* trace = session.mutable_main_trace(t);
    trace[chips::RefreshAir::kTTo * view.rows] += Fp::from_u64(1u << 16);
    EXPECT_FALSE(is_another_witness(g, view, 0, honest));
    trace[chips::RefreshAir::kGapHi * view.rows] += Fp::one();
    EXPECT_TRUE(is_another_witness(g, view, 0, honest));
  });
}

// Two cells at a time, chosen at random: no instruction's row has a second witness, even if what it
// passes on may be another result.
TEST(Sweep, PairsOfColumns) {
  Guest& g = shared_guest("alledge.elf");
  g.params.epoch_size_log2 = 17;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 rng(kSeed);
  const std::vector<Fp> changes = pair_changes();
  const EpochRecords records = run_epochs(g, {}).back();
  inspect_epoch(g, records, [&](prover::CpuSession& session, const auto& tables) {
    for (u32 t = 0; t < tables.size(); ++t) {
      const ChipId chip = tables[t].chip;
      if (chip >= ChipId::kRefresh || fixed_height(chip, g.key.vk) != 0) continue;
      const TraceView view = view_of(session, t);
      for (u32 i = 0; i < 40000; ++i) {
        const size_t row = rng() % tables[t].rows;
        const u32 first = rng() % view.air->main_width, second = rng() % view.air->main_width;
        if (first == second || is_harmless(view, row, first) || is_harmless(view, row, second)) {
          continue;
        }
        Fp* cells[2] = {session.mutable_main_trace(t) + first * view.rows + row,
                        session.mutable_main_trace(t) + second * view.rows + row};
        const std::vector<Touch> honest = touches_of_row(view, row);
        const Fp before[2] = {*cells[0], *cells[1]};
        *cells[0] += changes[rng() % changes.size()];
        *cells[1] += changes[rng() % changes.size()];
        EXPECT_FALSE(is_another_witness(g, view, row, honest))
            << view.air->name << " row " << row << " columns " << first << ", " << second;
        *cells[0] = before[0];
        *cells[1] = before[1];
      }
    }
  });
}

TEST(Sweep, EveryColumnOfTheAnchors) {
  Guest g(all_regions(20));
  RunMemory memory;
  memory.absorb(1, run_epochs(g, input_words({5})).at(0).boundary);
  const RunMemory::Ends ends = memory.finish(g.key.image);
  const prover::AirInfo& air = *chips::find_air(ChipId::kAnchor);
  TraceView view{&air, {}, {}, size_t{1} << height_for(ends.anchors.size() + 1)};
  std::vector<Fp> cells(air.main_width * view.rows);
  chips::anchor_source(ends.anchors.data(), ends.anchor_previous.data(), ends.anchors.size())
      .fill_rows(0, ends.anchors.size(), cells.data(), view.rows);
  for (u32 c = 0; c < air.main_width; ++c) view.columns.push_back(cells.data() + c * view.rows);
  std::mt19937_64 rng(kSeed);
  Survivors survivors;
  size_t tried = 0;
  for (size_t row = 0; row <= ends.anchors.size(); ++row) {
    sweep_row(g, {view}, cells.data(), row, rng, survivors, tried);
  }
  EXPECT_GT(tried, 5000u);
  expect_none(survivors);
}

/// One thing an execution gets wrong, in one cycle.
struct RandomFault {
  u32 cycle;
  u32 kind;
  u64 value;
  bool* hit;

  void operator()(Step& s) const {
    if (s.stage != Step::Stage::kEffects || s.cycle != cycle) return;
    const bool is_store = s.instruction.op >= Op::kSd && s.instruction.op <= Op::kSh;
    const bool is_branch = s.instruction.op >= Op::kBeq && s.instruction.op <= Op::kBgeu;
    *hit = true;
    if (kind == 0 && is_store) {
      s.stored ^= value;
    } else if (kind == 0 && s.instruction.rd != 0 && s.instruction.rd != kSinkRegister) {
      s.rd_value ^= value;
    } else if (kind == 1 && s.instruction.rd != 0 && s.rd_value != s.record.rd_old) {
      s.rd_value = s.record.rd_old;
    } else if (kind == 2 && is_branch) {
      s.next_pc = s.next_pc == s.instruction.pc + 4 ? static_cast<u32>(s.instruction.imm)
                                                    : s.instruction.pc + 4;
    } else if (kind == 3 && s.record.rs1 != 0) {
      s.record.rs1 ^= value;
    } else {
      *hit = false;
    }
  }
};

// An execution that errs once and carries on, filled in honestly, is never a proof.
TEST(Sweep, ExecutionsThatErrOnce) {
  Guest& g = shared_guest("sha256.elf");
  g.params.epoch_size_log2 = 10;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 rng(kSeed);
  const std::vector<u8> input{'a', 'b', 'c'};
  size_t hits = 0;
  for (u32 i = 0; i < 120; ++i) {
    bool hit = false;
    // Within the last rounds of an epoch, so that a wild address is not reached afterwards.
    const RandomFault fault{1000 + static_cast<u32>(rng() % 24), static_cast<u32>(rng() % 4),
                            1ull << rng() % 64, &hit};
    FaultyMachine machine(g, input);
    for (u32 e = 0; e < i % 4; ++e) machine.run_epoch(1024);
    const EpochRecords records = machine.run_epoch(fault.cycle + 1, fault);
    if (!hit) continue;
    ++hits;
    const TablesReport report = check_epoch(g, records);
    EXPECT_FALSE(report.clean()) << "kind " << fault.kind << " cycle " << fault.cycle;
  }
  EXPECT_GT(hits, 40u);
}

}  // namespace
}  // namespace epochd::testing
