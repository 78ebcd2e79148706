// TraceCheck: evaluates an AIR on plain trace rows and reports every violated constraint by label;
// and sums its interactions into a multiset, so that an unbalanced bus is named with its tuples.
// The debugging and mutation-testing view of `eval`; no cryptography involved.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "prover/air/air_info.hpp"
#include "prover/air/context.hpp"

namespace epochd::prover {

struct Violation {
  std::string table;
  const char* constraint;
  size_t row;
};

/// Column-major values of one table: fixed then main columns, `rows` long each.
struct TraceView {
  const AirInfo* air;
  std::vector<const Fp*> columns;  ///< [fixed_width + main_width]
  std::vector<Fp> params;
  size_t rows;
};

class TraceCheck : public ContextMixin<TraceCheck> {
 public:
  using Value = Fp;
  TraceCheck(const TraceView& view, size_t row, std::vector<Violation>& out)
      : view_(view), row_(row), out_(out) {}
  Fp fixed(u32 i) const { return view_.columns[i][row_]; }
  Fp local(u32 i) const { return view_.columns[view_.air->fixed_width + i][row_]; }
  Fp param(u32 i) const { return view_.params[i]; }
  Fp constant(u64 v) const { return Fp::from_u64(v); }
  void assert_zero(Fp v, const char* label) {
    if (!v.is_zero()) out_.push_back({view_.air->name, label, row_});
  }
  template <class... T>
  void interact(u8, bool, const char*, const T&...) {}

 private:
  const TraceView& view_;
  size_t row_;
  std::vector<Violation>& out_;
};

/// All violations of A's constraints on every row, in row order.
template <class A>
void check_trace(const TraceView& view, std::vector<Violation>& out) {
  for (size_t row = 0; row < view.rows; ++row) {
    TraceCheck c(view, row, out);
    A::eval(c);
  }
}

/// Net multiplicity of every tuple on every bus: key (bus, tuple values). Entries that cancel are
/// removed.
using BusBalance = std::map<std::vector<u64>, Fp>;
void add_interactions(const TraceView& view, BusBalance& balance);
void add_tuple(BusBalance& balance, u8 bus, const std::vector<u64>& tuple, Fp multiplicity);

}  // namespace epochd::prover
