// What the chip tests share: a chip's trace from records, and a strict judge of altered traces.
//
// The judge takes a row's inputs as given: the tokens it receives (State, Memory, ...) and the
// Program tuple it looks up. An altered row is *caught* when a constraint is violated, a lookup
// asks a fixed table for a row it does not have, or an input changed (some other row, or the ELF,
// would have to agree). A change of what the row passes on is not a catch: downstream rows would
// happily carry on with a wrong result. Neither is a Range16 value changing to another in range.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "epoch/chips/fill_row.hpp"
#include "epoch/machine.hpp"
#include "prover/air/describe.hpp"
#include "prover/air/trace_check.hpp"
#include "tests/epoch/chips/deletion.hpp"

namespace epochd::chips::harness {

using prover::AirInfo;
using prover::BusBalance;
using prover::Fp;
using prover::TraceView;
using prover::Violation;

/// One table's cells, column-major: fixed then main columns, zero padded.
template <class Air>
struct ChipTrace {
  size_t rows = 0;
  size_t real_rows = 0;
  std::vector<Fp> cells;
  std::vector<Fp> params;

  explicit ChipTrace(size_t real, size_t padding_at_least = 1) : real_rows(real) {
    rows = 1;
    while (rows < real + padding_at_least) rows *= 2;
    cells.assign(rows * (Air::kFixedWidth + Air::kMainWidth), Fp::zero());
    params.assign(Air::kParams, Fp::zero());
  }
  Fp& fixed(u32 column, size_t row) { return cells[column * rows + row]; }
  Fp& main(u32 column, size_t row) { return cells[(Air::kFixedWidth + column) * rows + row]; }
  RowWriter writer(size_t row) { return {&main(0, row), rows}; }
  TraceView view() const {
    TraceView v{&info_after_deletion<Air>(), {}, params, rows};
    for (u32 c = 0; c < Air::kFixedWidth + Air::kMainWidth; ++c) {
      v.columns.push_back(cells.data() + c * rows);
    }
    return v;
  }
};

/// The trace `Fill<Air>` makes of records; fixed columns and parameters are the caller's to set.
template <class Air, class Record>
ChipTrace<Air> build_trace(const std::vector<Record>& records,
                           const std::vector<ProgramRow>& program = {}) {
  ChipTrace<Air> trace(records.size());
  for (size_t row = 0; row < records.size(); ++row) {
    RowWriter writer = trace.writer(row);
    Fill<Air>::fill(records[row], program.data(), writer);
  }
  return trace;
}

/// One interaction of one row, evaluated.
struct Touch {
  const char* label;
  Bus bus;
  bool is_send;
  Fp multiplicity;
  std::vector<u64> tuple;
};

inline std::vector<Touch> touches_of_row(const TraceView& view, size_t row) {
  const AirInfo& air = *view.air;
  const u32 columns = air.fixed_width + air.main_width;
  const auto form_value = [&](const prover::LinearForm& form) {
    Fp v = form.constant;
    for (u32 t = form.first_term; t < form.first_term + form.term_count; ++t) {
      const prover::LinearTerm& term = air.terms[t];
      v += term.coefficient *
           (term.slot < columns ? view.columns[term.slot][row] : view.params[term.slot - columns]);
    }
    return v;
  };
  std::vector<Touch> touches;
  for (u32 i = 0; i < air.interaction_count; ++i) {
    const prover::Interaction& interaction = air.interactions[i];
    const prover::LinearForm* forms = air.forms + interaction.first_form;
    Touch touch{interaction.label,
                static_cast<Bus>(interaction.bus),
                interaction.is_send,
                form_value(forms[0]),
                {}};
    for (u32 k = 1; k <= interaction.arity; ++k)
      touch.tuple.push_back(form_value(forms[k]).value());
    touches.push_back(std::move(touch));
  }
  return touches;
}

/// Whether the fixed table of a lookup bus holds the tuple. Other buses: true.
inline bool in_fixed_table(Bus bus, const std::vector<u64>& t) {
  switch (bus) {
    case Bus::kRange16:
      return t[0] < 65536;
    case Bus::kSign16:
      return t[0] < 65536 && t[1] == t[0] >> 15;
    case Bus::kAlign:
      return t[0] < 8192 && t[1] < 8;
    case Bus::kBytes:
      if (t[1] > 255 || t[2] > 255) return false;
      switch (t[0]) {
        case static_cast<u64>(ByteOp::kRange):
          return t[3] == 0;
        case static_cast<u64>(ByteOp::kAnd):
          return t[3] == (t[1] & t[2]);
        case static_cast<u64>(ByteOp::kOr):
          return t[3] == (t[1] | t[2]);
        case static_cast<u64>(ByteOp::kXor):
          return t[3] == (t[1] ^ t[2]);
        default:
          return false;
      }
    default:
      return true;
  }
}

/// What a row's constraints and buses say about it.
struct Verdict {
  std::set<std::string> violated;     ///< constraint labels
  std::set<std::string> bad_lookups;  ///< labels of lookups outside their fixed table
  bool inputs_changed = false;        ///< against the honest row
  bool bad_multiplicity = false;      ///< one that is neither 0 nor 1
  bool silent = false;                ///< touches no bus

  bool caught() const { return !violated.empty() || !bad_lookups.empty() || inputs_changed; }
};

inline std::ostream& operator<<(std::ostream& os, const Verdict& v) {
  os << "violated {";
  for (const std::string& label : v.violated) os << ' ' << label;
  os << " } bad lookups {";
  for (const std::string& label : v.bad_lookups) os << ' ' << label;
  return os << " } inputs " << (v.inputs_changed ? "changed" : "as before");
}

/// Tuples whose other end is not this row's to choose: received tokens, and the Program row.
inline std::vector<Touch> inputs_of(const std::vector<Touch>& touches) {
  std::vector<Touch> inputs;
  for (const Touch& t : touches) {
    if (t.multiplicity.is_zero()) continue;
    if (!t.is_send || t.bus == Bus::kProgram) inputs.push_back(t);
  }
  return inputs;
}

inline bool same_touches(const std::vector<Touch>& a, const std::vector<Touch>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Touch& x, const Touch& y) {
    return x.bus == y.bus && x.is_send == y.is_send && x.multiplicity == y.multiplicity &&
           x.tuple == y.tuple;
  });
}

template <class Air>
Verdict judge_row(const TraceView& view, size_t row, const std::vector<Touch>& honest) {
  Verdict verdict;
  std::vector<Violation> violations;
  prover::TraceCheck check(view, row, violations);
  eval_after_deletion<Air>(check);
  for (const Violation& v : violations) verdict.violated.insert(v.constraint);
  const std::vector<Touch> now = touches_of_row(view, row);
  verdict.silent = true;
  for (const Touch& t : now) {
    if (t.multiplicity.is_zero()) continue;
    verdict.silent = false;
    if (t.multiplicity != Fp::one()) verdict.bad_multiplicity = true;
    if (t.is_send && !in_fixed_table(t.bus, t.tuple)) verdict.bad_lookups.insert(t.label);
  }
  verdict.inputs_changed = !same_touches(inputs_of(honest), inputs_of(now));
  return verdict;
}

/// Main column -> new value.
using Changes = std::vector<std::pair<u32, Fp>>;

/// The verdict on one row with some cells replaced; the trace is left as it was.
template <class Air>
Verdict judge_changed(ChipTrace<Air>& trace, size_t row, const Changes& changes) {
  const TraceView view = trace.view();
  const std::vector<Touch> honest = touches_of_row(view, row);
  std::vector<Fp> saved;
  for (const auto& [column, value] : changes) {
    saved.push_back(trace.main(column, row));
    trace.main(column, row) = value;
  }
  const Verdict verdict = judge_row<Air>(view, row, honest);
  for (size_t i = changes.size(); i-- > 0;) trace.main(changes[i].first, row) = saved[i];
  return verdict;
}

/// Every constraint holds on every row, and every lookup is in its table.
template <class Air>
void expect_honest(const ChipTrace<Air>& trace) {
  const TraceView view = trace.view();
  for (size_t row = 0; row < trace.rows; ++row) {
    const std::vector<Touch> touches = touches_of_row(view, row);
    const Verdict verdict = judge_row<Air>(view, row, touches);
    EXPECT_FALSE(verdict.caught()) << Air::kName << " row " << row << ": " << verdict;
    EXPECT_EQ(verdict.silent, row >= trace.real_rows) << Air::kName << " row " << row;
  }
}

/// A column some of whose changes are harmless, and why that is no hole.
struct Exemption {
  u32 column;
  const char* reason;
  std::function<bool(const std::vector<Fp>& row)> applies;  ///< on the honest row; empty: always
};

inline std::vector<Fp> replacements_for(Fp v, std::mt19937_64& rng) {
  const Fp one = Fp::one();
  const Fp two = one + one;
  return {v + one,
          v - one,
          v + Fp::from_u64(1u << 16),
          v - Fp::from_u64(1u << 16),
          v + Fp::from_u64(1ull << 32),
          v - Fp::from_u64(1ull << 32),
          Fp::zero(),
          one,
          two,
          -one,
          two.inverse(),
          v + two.inverse(),
          Fp::from_u64(rng()),
          Fp::from_u64(rng() & 0xffff)};
}

template <class Air>
std::vector<Fp> main_row(ChipTrace<Air>& trace, size_t row) {
  std::vector<Fp> cells;
  for (u32 c = 0; c < Air::kMainWidth; ++c) cells.push_back(trace.main(c, row));
  return cells;
}

/// Changes every cell of the given rows in turn, and every cell of a padding row: each change is
/// caught, or (padding) leaves the row silent. Multiplicities outside {0, 1} need a constraint.
template <class Air>
void expect_every_column_caught(ChipTrace<Air> trace, const std::vector<size_t>& rows,
                                const std::vector<Exemption>& exemptions = {}, u64 seed = 1) {
  std::mt19937_64 rng(seed);
  std::vector<size_t> all = rows;
  if (trace.rows > trace.real_rows) all.push_back(trace.real_rows);
  for (const size_t row : all) {
    const std::vector<Fp> honest = main_row(trace, row);
    for (u32 column = 0; column < Air::kMainWidth; ++column) {
      const bool exempt = std::any_of(exemptions.begin(), exemptions.end(), [&](const auto& e) {
        return e.column == column && (!e.applies || e.applies(honest));
      });
      for (const Fp value : replacements_for(honest[column], rng)) {
        if (value == honest[column] || exempt) continue;
        const Verdict verdict = judge_changed(trace, row, {{column, value}});
        const bool harmless = row >= trace.real_rows && verdict.silent;
        EXPECT_TRUE(verdict.caught() || harmless)
            << Air::kName << " row " << row << " column " << column << ": "
            << honest[column].value() << " -> " << value.value() << " (seed " << seed << ")";
        EXPECT_TRUE(!verdict.bad_multiplicity || !verdict.violated.empty())
            << Air::kName << " row " << row << " column " << column << " -> " << value.value()
            << ": a multiplicity outside {0, 1} without a violated constraint";
      }
    }
  }
}

/// Moves value between two cells whose sum low + 2^16 high is what the rest of the row sees: whole
/// and half units, so that only the range checks of the parts can tell.
template <class Air>
void expect_repacking_caught(ChipTrace<Air>& trace, size_t row, u32 low, u32 high) {
  const Fp one = Fp::one();
  const Fp half = (one + one).inverse();
  for (const Fp delta : {one, -one, half, -half, Fp::from_u64(1u << 16).inverse()}) {
    const Changes changes = {{low, trace.main(low, row) - delta * Fp::from_u64(1u << 16)},
                             {high, trace.main(high, row) + delta}};
    EXPECT_TRUE(judge_changed(trace, row, changes).caught())
        << Air::kName << " row " << row << " columns " << low << ", " << high << " moved by "
        << delta.value();
  }
}

/// Whether a mutant may take other tokens or name another instruction than the honest row.
enum class Inputs { kSame, kMayChange };

/// A mutant only one constraint sees: exactly `label` is violated, and no lookup helps.
inline void expect_only(const Verdict& verdict, const std::string& label,
                        Inputs inputs = Inputs::kSame) {
  EXPECT_EQ(verdict.violated, std::set<std::string>{label}) << verdict;
  EXPECT_TRUE(verdict.bad_lookups.empty()) << label << ": " << verdict;
  EXPECT_TRUE(inputs == Inputs::kMayChange || !verdict.inputs_changed) << label << ": " << verdict;
}

/// A flag column and the label of its boolean check.
struct FlagCheck {
  u32 column;
  const char* label;
};

/// Collects `expect_only` mutants and redundancy reasons; at the end every constraint of the chip
/// has one or the other.
template <class Air>
class ConstraintCoverage {
 public:
  void mutant(ChipTrace<Air>& trace, size_t row, const Changes& changes, const std::string& label,
              Inputs inputs = Inputs::kSame) {
    expect_only(judge_changed(trace, row, changes), label, inputs);
    covered_.insert(label);
  }
  /// Mutants of one-hot flags on the padding row: a flag of -1 beside one of 1 is silent and only
  /// its own check sees it.
  void flags(ChipTrace<Air>& trace, const std::vector<FlagCheck>& flags) {
    const size_t padding = trace.real_rows;
    for (size_t i = 0; i < flags.size(); ++i) {
      const u32 other = flags[i == 0 ? 1 : 0].column;
      mutant(trace, padding, {{flags[i].column, -Fp::one()}, {other, Fp::one()}}, flags[i].label);
    }
  }
  /// As `mutant`, for a forger who also has the other rows his own way: what this row receives may
  /// differ from the honest row, and only the constraint objects.
  void forged(ChipTrace<Air>& trace, size_t row, const Changes& changes, const std::string& label) {
    const Verdict verdict = judge_changed(trace, row, changes);
    EXPECT_EQ(verdict.violated, std::set<std::string>{label}) << verdict;
    EXPECT_TRUE(verdict.bad_lookups.empty()) << label << ": " << verdict;
    covered_.insert(label);
  }
  /// No mutant isolates the constraint, for the reason given.
  void redundant(const std::string& label, const std::string& reason) {
    EXPECT_FALSE(reason.empty());
    covered_.insert(label);
  }
  void expect_complete() const {
    const AirInfo& air = prover::Description<Air>::kInfo;
    std::set<std::string> all;
    for (u32 i = 0; i < air.constraint_count; ++i) {
      EXPECT_TRUE(all.insert(air.constraint_labels[i]).second)
          << "two constraints are called " << air.constraint_labels[i];
    }
    for (const std::string& label : all) {
      EXPECT_TRUE(covered_.count(label) != 0) << "neither mutant nor reason for " << label;
    }
    for (const std::string& label : covered_) {
      EXPECT_TRUE(all.count(label) != 0) << Air::kName << " has no constraint " << label;
    }
  }

 private:
  std::set<std::string> covered_;
};

/// The sizes the proof's cost and the statement rest on; changing one is deliberate.
template <class Air>
void expect_shape(u32 main_width, u32 constraints, u32 interactions) {
  const AirInfo& air = prover::Description<Air>::kInfo;
  EXPECT_EQ(air.main_width, main_width) << Air::kName;
  EXPECT_EQ(air.constraint_count, constraints) << Air::kName;
  EXPECT_EQ(air.interaction_count, interactions) << Air::kName;
  EXPECT_LE(air.max_degree, 3) << Air::kName;
}

}  // namespace epochd::chips::harness
