#include "tests/epoch/forge/forge.hpp"

#include <algorithm>

#include "epoch/chips/airs.hpp"
#include "epoch/chips/bytes/air.hpp"
#include "epoch/chips/program/air.hpp"
#include "epoch/chips/range16/air.hpp"

namespace epochd::testing {
namespace {

using prover::BusBalance;
using prover::CpuSession;
using prover::Fp;

/// A multiplicity cell of a fixed table.
struct CounterCell {
  ChipId chip;
  u32 column;
  size_t row;
};

std::optional<CounterCell> program_counter(const ProvingKey& key, const std::vector<u64>& t) {
  using Air = chips::ProgramAir;
  const auto all_zero = std::all_of(t.begin() + 1, t.end(), [](u64 v) { return v == 0; });
  if (all_zero && key.program.size() < size_t{1} << key.vk.log_program) {
    return CounterCell{ChipId::kProgram, Air::kCount, key.program.size()};
  }
  const auto row = std::find_if(key.program.begin(), key.program.end(),
                                [&](const ProgramRow& p) { return p.pc == t[1]; });
  if (row == key.program.end() || t[2] != static_cast<u64>(row->op) || t[3] != row->rd ||
      t[4] != row->rs1 || t[5] != row->rs2 || t[6] != (row->imm & 0xffffffff) ||
      t[7] != row->imm >> 32) {
    return std::nullopt;
  }
  return CounterCell{ChipId::kProgram, Air::kCount, static_cast<size_t>(row - key.program.begin())};
}

std::optional<CounterCell> bytes_counter(const std::vector<u64>& t) {
  if (t[1] > 3 || t[2] > 255 || t[3] > 255) return std::nullopt;
  const u64 results[4] = {0, t[2] & t[3], t[2] | t[3], t[2] ^ t[3]};
  if (t[4] != results[t[1]]) return std::nullopt;
  return CounterCell{ChipId::kBytes, static_cast<u32>(t[1]), t[2] + 256 * t[3]};
}

/// Where a lookup (bus, tuple...) is counted; nothing if no fixed table holds the tuple.
std::optional<CounterCell> counter_of(const ProvingKey& key, const std::vector<u64>& t) {
  using Air = chips::Range16Air;
  switch (static_cast<Bus>(t[0])) {
    case Bus::kRange16:
      if (t[1] > 0xffff) return std::nullopt;
      return CounterCell{ChipId::kRange16, Air::kRangeCount, t[1]};
    case Bus::kSign16:
      if (t[1] > 0xffff || t[2] != t[1] >> 15) return std::nullopt;
      return CounterCell{ChipId::kRange16, Air::kSignCount, t[1]};
    case Bus::kAlign:
      if (t[1] > 0x1fff || t[2] > 7) return std::nullopt;
      return CounterCell{ChipId::kRange16, Air::kAlignCount, 8 * t[1] + t[2]};
    case Bus::kBytes:
      return bytes_counter(t);
    case Bus::kProgram:
      return program_counter(key, t);
    default:
      return std::nullopt;
  }
}

bool is_fixed(ChipId chip) {
  return chip == ChipId::kProgram || chip == ChipId::kRange16 || chip == ChipId::kBytes;
}

Fp& cell(CpuSession& session, u32 table, u32 column, size_t row) {
  const u32 log_height = session.layout().shape.tables[table].log_height;
  return session.mutable_main_trace(table)[(size_t{column} << log_height) + row];
}

void apply(CpuSession& session, u32 table, const CellPatch& patch) {
  cell(session, table, patch.column, patch.row) = patch.value;
}

/// The multiplicities that balance the lookup buses as far as any can.
void choose_multiplicities(CpuSession& session, const std::vector<TableInstance>& tables,
                           const ProvingKey& key) {
  BusBalance sends;
  for (u32 t = 0; t < tables.size(); ++t) {
    if (!is_fixed(tables[t].chip)) prover::add_interactions(view_of(session, t), sends);
  }
  for (const auto& [tuple, net] : sends) {
    if (const auto counter = counter_of(key, tuple)) {
      cell(session, table_of(tables, counter->chip), counter->column, counter->row) = net;
    }
  }
}

/// A session that says what the forger wants it to say.
class LyingSession {
 public:
  using Sums = decltype(EpochForgery::sums);
  using Openings = decltype(EpochForgery::openings);

  LyingSession(CpuSession& inner, Sums sums, Openings openings)
      : inner_(inner), sums_(std::move(sums)), openings_(std::move(openings)) {}

  const prover::Layout& layout() const { return inner_.layout(); }
  prover::Digest commit(u32 tree) { return inner_.commit(tree); }
  void logup(prover::Fp3 gamma, prover::Fp3 beta, std::span<prover::Fp3> sums) {
    inner_.logup(gamma, beta, sums);
    if (sums_) sums_(sums);
  }
  void quotient(prover::Fp3 alpha) { inner_.quotient(alpha); }
  void open(prover::Fp3 zeta, std::span<prover::Fp3> openings) {
    inner_.open(zeta, openings);
    if (openings_) openings_(layout(), zeta, openings);
  }
  void deep(prover::Fp3 delta) { inner_.deep(delta); }
  prover::Digest fri_commit() { return inner_.fri_commit(); }
  void fri_fold(prover::Fp3 beta) { inner_.fri_fold(beta); }
  void fri_final(std::span<prover::Fp3> coefficients) { inner_.fri_final(coefficients); }
  u64 grind(const prover::Digest& state, u32 bits) { return inner_.grind(state, bits); }
  void gather(std::span<const u32> queries, std::vector<u64>& words) {
    inner_.gather(queries, words);
  }

 private:
  CpuSession& inner_;
  Sums sums_;
  Openings openings_;
};

/// A session over an epoch's tables, and what it refers to.
struct EpochTables {
  std::vector<TableInstance> tables;
  EpochStatement statement;
  prover::Layout layout;
  std::unique_ptr<CpuSession> session;
};

std::unique_ptr<EpochTables> begin_epoch(const Guest& g, const EpochRecords& records,
                                         const EpochForgery& forgery) {
  auto e = std::make_unique<EpochTables>();
  e->tables = plan_tables(records, g.key.vk, *g.params.preset);
  e->statement = make_statement(records, e->tables);
  if (forgery.statement) forgery.statement(e->statement);
  EPOCHD_ASSERT(epoch_layout(e->statement, g.params, e->layout));
  e->session = std::make_unique<CpuSession>(g.backend, e->layout);
  e->session->load_fixed(kEpochFixedTree, g.key.epoch_fixed);
  return e;
}

TablesReport report_of(const EpochTables& e) {
  TablesReport report;
  check_tables(*e.session, report);
  add_epoch_terms(e.statement, report.balance);
  return report;
}

/// The global proof's sub-proofs, all at once in memory, every trace open to changes.
class GlobalForger {
 public:
  GlobalForger(const Guest& g, const GlobalInput& input, const std::vector<EpochProof>& proofs)
      : g_(g),
        in_(input),
        proofs_(proofs),
        plan_(global_plan(static_cast<u32>(input.boundaries.size()), input.anchor_count,
                          *g.params.preset)) {}

  /// Fills every sub-proof. `forge`: patches, and multiplicities chosen afterwards; else counters
  /// carried as GlobalProver does.
  void fill(bool forge) {
    for (u32 i = 0; i < plan_.sub_proofs(); ++i) {
      subs_.push_back(std::make_unique<Sub>());
      if (i < plan_.group_count) {
        begin_group(i);
      } else {
        begin_anchors(i - plan_.group_count);
      }
      Sub& sub = *subs_.back();
      sub.session = std::make_unique<CpuSession>(g_.backend, sub.layout);
      const bool is_last = i + 1 == plan_.sub_proofs();
      if (is_last) sub.session->load_fixed(kLastFixedTree, g_.key.global_fixed);
      const prover::LookupSpec lookup = range16_lookup(is_last ? 0 : prover::kNone, &counts_);
      sub.session->fill(sub.sources, std::span(&lookup, forge ? 0 : 1));
      if (forge) patch(i, sub);
    }
    if (forge) choose_range16();
  }

  TablesReport report() const {
    TablesReport report;
    for (const auto& sub : subs_) check_tables(*sub->session, report);
    add_global_terms(in_.ends.last_keys.data(), report.balance);
    return report;
  }

  void prove(const GlobalLies& lies, std::vector<u64>& bundle) {
    if (lies.before_commit) lies.before_commit(sessions());
    prover::Transcript base =
        global_transcript(g_.params, g_.key.vk.digest(), plan_.epochs, plan_.anchors,
                          in_.ends.last_keys.data(), g_.key.vk.global_root);
    for (const EpochProof& p : proofs_)
      absorb_boundary(base, p.boundary_log_height, p.boundary_root);
    std::vector<prover::Digest> roots(subs_.size());
    for (u32 i = 0; i < subs_.size(); ++i) {
      for (u32 t = 0; t < subs_[i]->layout.shape.base_tree_count; ++t) {
        const prover::Digest root = subs_[i]->session->commit(t);
        if (i >= plan_.group_count) roots[i] = root;
      }
      base.absorb_digest("main root", roots[i]);
    }
    const prover::Challenges drawn = prover::draw_lookup_challenges(base);
    if (lies.late) lies.late(sessions(), drawn);
    for (u32 i = 0; i < subs_.size(); ++i) {
      std::vector<u64> words{0};
      prover::push_digest(words, roots[i]);
      prover::Transcript transcript = base.fork("sub-proof", i);
      LyingSession lying = liar(i, lies);
      prover::prove_argument(lying, transcript, lies.frozen.value_or(drawn), words);
      close_record(words);
      bundle.insert(bundle.end(), words.begin(), words.end());
    }
  }

 private:
  struct Sub {
    prover::Layout layout;
    std::vector<prover::TableSource> sources;
    std::unique_ptr<CpuSession> session;
  };

  GlobalLies::Sessions sessions() const {
    GlobalLies::Sessions all;
    for (const auto& sub : subs_) all.push_back(sub->session.get());
    return all;
  }

  LyingSession liar(u32 index, const GlobalLies& lies) {
    LyingSession::Sums sums;
    LyingSession::Openings openings;
    if (lies.sums) sums = [&lies, index](std::span<prover::Fp3> s) { lies.sums(index, s); };
    if (lies.openings) {
      openings = [&lies, index](const prover::Layout& layout, prover::Fp3 zeta,
                                std::span<prover::Fp3> o) {
        lies.openings(index, layout, zeta, o);
      };
    }
    return {*subs_[index]->session, std::move(sums), std::move(openings)};
  }

  void begin_group(u32 group) {
    const u32 first = group * g_.params.preset->group_size;
    const u32 count = std::min(g_.params.preset->group_size, plan_.epochs - first);
    u32 heights[prover::kBaseTreesMax];
    for (u32 i = 0; i < count; ++i) {
      const auto& rows = in_.boundaries[first + i];
      heights[i] = proofs_[first + i].boundary_log_height;
      subs_.back()->sources.push_back(
          chips::boundary_source(ChipId::kBoundaryGlobal, rows.data(), rows.size(), first + i + 1));
    }
    EPOCHD_ASSERT(group_layout(first + 1, heights, count, *g_.params.preset, subs_.back()->layout));
  }

  void begin_anchors(u32 chunk) {
    const prover::Preset& preset = *g_.params.preset;
    const size_t first = size_t{chunk} << preset.log_anchor_chunk;
    const u32 height = anchor_chunk_height(plan_, chunk, preset);
    Sub& sub = *subs_.back();
    const bool is_last = chunk + 1 == plan_.chunk_count;
    EPOCHD_ASSERT(is_last ? last_layout(height, g_.key.vk, preset, sub.layout)
                          : chunk_layout(height, preset, sub.layout));
    const prover::TableSource anchors = chips::anchor_source(
        in_.ends.anchors.data() + first, in_.ends.anchor_previous.data() + first,
        anchor_chunk_rows(plan_, chunk, preset));
    if (is_last) sub.sources.push_back(chips::counter_source(ChipId::kRange16));
    sub.sources.push_back(anchors);
    if (is_last) {
      sub.sources.push_back(chips::image_source(in_.ends.image.data(), in_.ends.image.size()));
    }
  }

  void patch(u32 index, Sub& sub) {
    if (index < plan_.group_count) {
      for (u32 t = 0; t < sub.layout.shape.table_count; ++t) {
        const u32 epoch = index * g_.params.preset->group_size + t;
        for (const CellPatch& p : in_.boundary_cells[epoch]) apply(*sub.session, t, p);
      }
      return;
    }
    const bool is_last = index + 1 == plan_.sub_proofs();
    const auto cells = in_.anchor_cells.find(index - plan_.group_count);
    if (cells != in_.anchor_cells.end()) {
      for (const CellPatch& p : cells->second) apply(*sub.session, is_last ? 1 : 0, p);
    }
    if (!is_last) return;
    for (const CellPatch& p : in_.image_cells) apply(*sub.session, 2, p);
  }

  void choose_range16() {
    BusBalance sends;
    for (const auto& sub : subs_) {
      for (u32 t = 0; t < sub->layout.shape.table_count; ++t) {
        const prover::TraceView view = view_of(*sub->session, t);
        if (view.air != chips::find_air(ChipId::kRange16)) prover::add_interactions(view, sends);
      }
    }
    for (const auto& [tuple, net] : sends) {
      const auto counter = counter_of(g_.key, tuple);
      if (counter) cell(*subs_.back()->session, 0, counter->column, counter->row) = net;
    }
  }

  const Guest& g_;
  const GlobalInput& in_;
  const std::vector<EpochProof>& proofs_;
  GlobalPlan plan_;
  std::vector<u64> counts_ = std::vector<u64>(size_t{1} << 16, 0);
  std::vector<std::unique_ptr<Sub>> subs_;
};

std::vector<CellPatch> boundary_cells(const EpochForgery& forgery) {
  std::vector<CellPatch> cells;
  std::copy_if(forgery.cells.begin(), forgery.cells.end(), std::back_inserter(cells),
               [](const CellPatch& p) { return p.chip == ChipId::kBoundary; });
  return cells;
}

GlobalInput honest_input(const Guest& g, const std::vector<EpochRecords>& epochs) {
  GlobalInput input;
  RunMemory memory;
  for (u32 e = 0; e < epochs.size(); ++e) {
    input.boundaries.push_back(epochs[e].boundary);
    // A key that no region has cannot have an anchor either.
    std::vector<BoundaryRecord> known = epochs[e].boundary;
    std::erase_if(known, [](const BoundaryRecord& b) {
      return b.key >= kCellCount && (b.key < kRegBase || b.key > kSinkKey);
    });
    memory.absorb(e + 1, known);
  }
  input.boundary_cells.resize(epochs.size());
  input.ends = memory.finish(g.key.image);
  input.anchor_count = input.ends.anchors.size();
  return input;
}

}  // namespace

bool lookup_exists(const ProvingKey& key, const std::vector<u64>& tuple) {
  return counter_of(key, tuple).has_value();
}

u32 table_of(const std::vector<TableInstance>& tables, ChipId chip) {
  const auto it = std::find_if(tables.begin(), tables.end(),
                               [&](const TableInstance& t) { return t.chip == chip; });
  return it == tables.end() ? prover::kNone : static_cast<u32>(it - tables.begin());
}

ForgedEpoch forge_epoch(const Guest& g, const EpochRecords& records, const EpochForgery& forgery) {
  const auto e = begin_epoch(g, records, forgery);
  CpuSession& session = *e->session;
  ProvingKey filled_from = g.key;
  if (!forgery.rows.empty()) filled_from.program = forgery.rows;
  session.fill(epoch_sources(records, filled_from, e->tables), {});
  for (const CellPatch& p : forgery.cells) {
    const u32 table = table_of(e->tables, p.chip);
    EPOCHD_ASSERT(table != prover::kNone);
    apply(session, table, p);
  }
  choose_multiplicities(session, e->tables, g.key);
  if (forgery.before_commit) forgery.before_commit(session, e->tables);
  ForgedEpoch out;
  out.report = report_of(*e);

  prover::Digest roots[kEpochTreeCount];
  for (u32 t = 0; t < kEpochTreeCount; ++t) roots[t] = session.commit(t);
  out.proof.boundary_root = roots[kEpochBoundaryTree];
  out.proof.boundary_log_height = boundary_height(e->statement);
  u64 words[kStatementWordsMax];
  std::vector<u64>& record = out.proof.record;
  record.push_back(0);
  record.insert(record.end(), words, words + statement_words(e->statement, words));
  record.insert(record.end(), e->statement.outputs,
                e->statement.outputs + e->statement.output_count);
  prover::push_digest(record, roots[kEpochBoundaryTree]);
  prover::push_digest(record, roots[kEpochMainTree]);
  prover::Transcript transcript =
      epoch_transcript(g.params, g.key.vk.digest(), e->statement, roots);
  const prover::Challenges drawn = prover::draw_lookup_challenges(transcript);
  if (forgery.late) forgery.late(session, e->statement, drawn);
  LyingSession lying(session, forgery.sums, forgery.openings);
  prover::prove_argument(lying, transcript, forgery.frozen.value_or(drawn), record);
  close_record(record);
  return out;
}

TablesReport check_epoch(const Guest& g, const EpochRecords& records) {
  const auto e = begin_epoch(g, records, {});
  e->session->fill(epoch_sources(records, g.key, e->tables), epoch_lookups(g.key, e->tables));
  return report_of(*e);
}

void inspect_epoch(
    const Guest& g, const EpochRecords& records,
    const std::function<void(CpuSession&, const std::vector<TableInstance>&)>& inspect) {
  const auto e = begin_epoch(g, records, {});
  e->session->fill(epoch_sources(records, g.key, e->tables), {});
  inspect(*e->session, e->tables);
}

TablesReport check_global(const Guest& g, const std::vector<EpochRecords>& epochs) {
  const GlobalInput input = honest_input(g, epochs);
  std::vector<EpochProof> heights(epochs.size());
  for (u32 e = 0; e < epochs.size(); ++e) {
    heights[e].boundary_log_height = height_for(epochs[e].boundary.size());
  }
  GlobalForger global(g, input, heights);
  global.fill(false);
  return global.report();
}

Attempt forge_run(const Guest& g, const std::vector<EpochRecords>& epochs,
                  const RunForgery& forgery) {
  Attempt attempt;
  GlobalInput input = honest_input(g, epochs);
  std::vector<EpochProof> proofs;
  bool epochs_stand = true;
  const auto scratch = std::make_unique<RunScratch>();
  for (u32 e = 0; e < epochs.size(); ++e) {
    const auto it = forgery.epochs.find(e + 1);
    const EpochForgery epoch_forgery = it == forgery.epochs.end() ? EpochForgery{} : it->second;
    ForgedEpoch forged = forge_epoch(g, epochs[e], epoch_forgery);
    input.boundary_cells[e] = boundary_cells(epoch_forgery);
    attempt.epochs.push_back(std::move(forged.report));
    WordReader reader{forged.proof.record.data(), forged.proof.record.size()};
    prover::Digest root;
    EpochStatement statement;
    epochs_stand = epochs_stand && verify_epoch(g.key.vk, g.params, e + 1, e + 1 == epochs.size(),
                                                reader, *scratch, statement, root)
                                       .ok();
    proofs.push_back(std::move(forged.proof));
  }
  if (forgery.global) forgery.global(input);
  attempt.bundle = bundle_header(g.key.vk, g.params, static_cast<u32>(epochs.size()), input.ends);
  attempt.bundle[9] = input.anchor_count;
  for (const EpochProof& p : proofs) {
    attempt.bundle.insert(attempt.bundle.end(), p.record.begin(), p.record.end());
  }
  // verify_run stops at the first epoch it refuses, so the global proof is made only if none is.
  if (epochs_stand) {
    GlobalForger global(g, input, proofs);
    global.fill(true);
    attempt.global = global.report();
    attempt.has_global = true;
    global.prove(forgery.lies, attempt.bundle);
  }
  attempt.result = verify(g, attempt.bundle);
  return attempt;
}

void expect_epoch_refused(const Attempt& attempt, u32 index, const Caught& by) {
  const TablesReport& report = attempt.epochs[index];
  EXPECT_EQ(report.constraints(), by.constraints) << report;
  EXPECT_EQ(report.buses(), by.buses) << report;
  EXPECT_EQ(attempt.result.error, RunError::kEpochProof) << text(attempt.result);
  EXPECT_EQ(attempt.result.index, index) << text(attempt.result);
  // The verifier adds up the buses before it looks at constraints.
  EXPECT_EQ(attempt.result.argument.error,
            by.buses.empty() ? prover::VerifyError::kQuotient : prover::VerifyError::kLookupSum)
      << text(attempt.result);
}

void expect_global_refused(const Attempt& attempt, const Caught& by) {
  for (const TablesReport& epoch : attempt.epochs) EXPECT_TRUE(epoch.clean()) << epoch;
  ASSERT_TRUE(attempt.has_global) << text(attempt.result);
  EXPECT_EQ(attempt.global.constraints(), by.constraints) << attempt.global;
  EXPECT_EQ(attempt.global.buses(), by.buses) << attempt.global;
  // The sums of all sub-proofs meet only at the end, after each one's own constraints.
  if (by.constraints.empty()) {
    EXPECT_EQ(attempt.result.error, RunError::kGlobalSum) << text(attempt.result);
  } else {
    EXPECT_EQ(attempt.result.error, RunError::kGlobalProof) << text(attempt.result);
    EXPECT_EQ(attempt.result.argument.error, prover::VerifyError::kQuotient)
        << text(attempt.result);
  }
}

}  // namespace epochd::testing
