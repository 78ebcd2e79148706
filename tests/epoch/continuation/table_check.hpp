// The trace checker over all tables of a proof: every constraint on every row, and every bus over
// all tables together with the verifier's own terms. What the argument proves, without the
// argument; failures come with names.
#pragma once

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "epoch/continuation/proof_format.hpp"
#include "prover/air/trace_check.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd::testing {

struct TablesReport {
  std::map<std::string, size_t> violated;  ///< constraint label -> rows that violate it
  prover::BusBalance balance;              ///< tuples whose sends and receives differ

  bool clean() const { return violated.empty() && balance.empty(); }
  std::set<std::string> constraints() const;
  /// Names of the buses that do not balance.
  std::set<std::string> buses() const;
};
/// Names every violated constraint, and the first unbalanced tuples of each bus.
std::ostream& operator<<(std::ostream& os, const TablesReport& report);

const char* bus_name(u8 bus);

/// Adds one table. Which AIR a table has is found in AllAirs, by the layout's own pointer.
void check_table(const prover::TraceView& view, TablesReport& report);
/// Labels of the constraints that one row violates.
std::set<std::string> row_violations(const prover::TraceView& view, size_t row);
/// Adds every table of a filled session. Pre: before logup.
void check_tables(const prover::CpuSession& session, TablesReport& report);
prover::TraceView view_of(const prover::CpuSession& session, u32 table);

/// The verifier's terms of an epoch: State in and out, outputs, exit code.
void add_epoch_terms(const EpochStatement& s, prover::BusBalance& balance);
/// The verifier's terms of the global proof: the chain ends.
void add_global_terms(const u64* last_keys, prover::BusBalance& balance);

}  // namespace epochd::testing
