#include "tests/epoch/continuation/table_check.hpp"

#include <ostream>

#include "epoch/chips/airs.hpp"
#include "epoch/chips/all_airs.hpp"
#include "prover/core/assert.hpp"

namespace epochd::testing {
namespace {

using prover::BusBalance;
using prover::Fp;
using prover::TraceView;
using prover::Violation;

/// Calls visit.operator()<Air>() for the AIR that the view is a table of; false if there is none.
template <class Visit, class... Entries>
bool with_air(chips::AirList<Entries...>, const TraceView& view, const Visit& visit) {
  const auto visit_one = [&]<class Entry>() {
    if (chips::find_air(Entry::kChip) != view.air) return false;
    visit.template operator()<typename Entry::Air>();
    return true;
  };
  return (visit_one.template operator()<Entries>() || ...);
}

}  // namespace

std::set<std::string> TablesReport::constraints() const {
  std::set<std::string> labels;
  for (const auto& [label, rows] : violated) labels.insert(label);
  return labels;
}

std::set<std::string> TablesReport::buses() const {
  std::set<std::string> names;
  for (const auto& [tuple, net] : balance) names.insert(bus_name(static_cast<u8>(tuple[0])));
  return names;
}

std::ostream& operator<<(std::ostream& os, const TablesReport& report) {
  for (const auto& [label, rows] : report.violated) {
    os << "constraint " << label << " violated on " << rows << " row(s)\n";
  }
  std::map<u64, u32> shown;
  for (const auto& [tuple, net] : report.balance) {
    if (++shown[tuple[0]] > 4) continue;
    os << "bus " << bus_name(static_cast<u8>(tuple[0])) << " (";
    for (size_t i = 1; i < tuple.size(); ++i) os << (i > 1 ? ", " : "") << tuple[i];
    const bool is_negative = net.value() > Fp::kModulus / 2;
    os << ") net " << (is_negative ? "-" : "") << (is_negative ? -net : net).value() << "\n";
  }
  return os << (report.clean() ? "all constraints hold and all buses balance\n" : "");
}

const char* bus_name(u8 bus) {
  static const char* const kNames[] = {"?",     "State", "Program", "Memory", "Range16", "Sign16",
                                       "Align", "Bytes", "Output",  "Exit",   "Global",  "Order"};
  return bus < std::size(kNames) ? kNames[bus] : "?";
}

void check_table(const TraceView& view, TablesReport& report) {
  std::vector<Violation> violations;
  EPOCHD_ASSERT(with_air(chips::AllAirs{}, view, [&]<class Air>() {
    if (view.air->constraint_count > 0) prover::check_trace<Air>(view, violations);
  }));
  for (const Violation& v : violations) ++report.violated[v.constraint];
  prover::add_interactions(view, report.balance);
}

std::set<std::string> row_violations(const TraceView& view, size_t row) {
  std::vector<Violation> violations;
  EPOCHD_ASSERT(with_air(chips::AllAirs{}, view, [&]<class Air>() {
    prover::TraceCheck check(view, row, violations);
    Air::eval(check);
  }));
  std::set<std::string> labels;
  for (const Violation& v : violations) labels.insert(v.constraint);
  return labels;
}

TraceView view_of(const prover::CpuSession& session, u32 table) {
  const prover::TableShape& shape = session.layout().shape.tables[table];
  TraceView view{shape.air, session.trace_columns(table), {}, size_t{1} << shape.log_height};
  view.params.assign(shape.params, shape.params + shape.air->param_count);
  return view;
}

void check_tables(const prover::CpuSession& session, TablesReport& report) {
  for (u32 t = 0; t < session.layout().shape.table_count; ++t) {
    check_table(view_of(session, t), report);
  }
}

void add_epoch_terms(const EpochStatement& s, BusBalance& balance) {
  const auto add = [&](Bus bus, const std::vector<u64>& tuple, Fp multiplicity) {
    prover::add_tuple(balance, static_cast<u8>(bus), tuple, multiplicity);
  };
  const Fp one = Fp::one();
  add(Bus::kState, {s.pc_in, 1}, one);
  add(Bus::kState, {s.pc_out, 1 + 4 * u64{s.cycles}}, -one);
  for (u32 i = 0; i < s.output_count; ++i) {
    const u64 word = s.outputs[i];
    add(Bus::kOutput, {u64{s.out_in} + i, word & 0xffffffff, word >> 32}, -one);
  }
  if (s.is_final) add(Bus::kExit, {s.exit_code & 0xffffffff, s.exit_code >> 32}, -one);
}

void add_global_terms(const u64* last_keys, BusBalance& balance) {
  for (u64 region = 0; region < kRegionCount; ++region) {
    const u8 bus = static_cast<u8>(Bus::kOrder);
    prover::add_tuple(balance, bus, {region, kRegionStart[region]}, Fp::one());
    prover::add_tuple(balance, bus, {region, last_keys[region]}, -Fp::one());
  }
}

}  // namespace epochd::testing
