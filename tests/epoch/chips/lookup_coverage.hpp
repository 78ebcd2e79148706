// For every lookup of a chip, a mutant that only this lookup catches: no constraint is violated and
// every other lookup is satisfied. Deleting a lookup that has one would let the mutant through.
#pragma once

#include "tests/epoch/chips/harness.hpp"

namespace epochd::chips::harness {

/// Two cells that the row otherwise sees as low + unit * high.
struct Packed {
  u32 low, high;
  u64 unit = kTwo16;
};

template <class Air>
class LookupCoverage {
 public:
  explicit LookupCoverage(ChipTrace<Air> trace) : trace_(std::move(trace)) {}

  /// One mutant of one row.
  void mutant(size_t row, const Changes& changes) {
    if (!judge_changed(trace_, row, changes).violated.empty()) return;
    std::vector<Fp> saved;
    for (const auto& [column, value] : changes) {
      saved.push_back(trace_.main(column, row));
      trace_.main(column, row) = value;
    }
    std::vector<u32> bad;
    const std::vector<Touch> touches = touches_of_row(trace_.view(), row);
    for (u32 i = 0; i < touches.size(); ++i) {
      const Touch& t = touches[i];
      if (!t.multiplicity.is_zero() && t.is_send && !in_fixed_table(t.bus, t.tuple)) {
        bad.push_back(i);
      }
    }
    if (bad.size() == 1) needed_.insert(bad[0]);
    for (size_t i = changes.size(); i-- > 0;) trace_.main(changes[i].first, row) = saved[i];
  }
  /// Moves whole units and fractions of one between the two cells, on every row.
  void repacked(const Packed& p) {
    const Fp unit = Fp::from_u64(p.unit);
    const Fp one = Fp::one();
    for (size_t row = 0; row < trace_.real_rows; ++row) {
      for (const Fp delta : {one, -one, unit.inverse(), -unit.inverse()}) {
        mutant(row, {{p.low, trace_.main(p.low, row) - delta * unit},
                     {p.high, trace_.main(p.high, row) + delta}});
      }
    }
  }
  /// Puts the previous access of a key at the time of this one or later.
  void stale(u32 t_prev_column, u32 ts_column, u32 sub_step) {
    mutant(0, {{t_prev_column, trace_.main(ts_column, 0) + Fp::from_u64(sub_step)}});
  }
  void expect_complete() const {
    const AirInfo& air = prover::Description<Air>::kInfo;
    for (u32 i = 0; i < air.interaction_count; ++i) {
      const Bus bus = static_cast<Bus>(air.interactions[i].bus);
      const bool is_lookup =
          bus == Bus::kRange16 || bus == Bus::kSign16 || bus == Bus::kAlign || bus == Bus::kBytes;
      if (!is_lookup || !air.interactions[i].is_send) continue;
      EXPECT_TRUE(needed_.count(i) != 0) << Air::kName << ": no mutant is caught by lookup " << i
                                         << " (" << air.interactions[i].label << ") alone";
    }
  }

 private:
  ChipTrace<Air> trace_;
  std::set<u32> needed_;
};

/// An address's cell and page: 8 cell + 2^16 page stays what it was.
template <class Air>
void repack_address(LookupCoverage<Air>& coverage) {
  coverage.repacked({Air::kCell, Air::kPage, 1u << 13});
}

/// The usual arithmetic chip: its register accesses, and cells packed in pairs.
template <class Air>
void expect_every_lookup_needed(const ChipTrace<Air>& trace, const std::vector<Packed>& packed) {
  LookupCoverage<Air> coverage(trace);
  coverage.stale(Air::kTRs1, Air::kTs, kSubRs1);
  coverage.stale(Air::kTRd, Air::kTs, kSubRd);
  if constexpr (requires { Air::kTRs2; }) coverage.stale(Air::kTRs2, Air::kTs, kSubRs2);
  for (const Packed& p : packed) coverage.repacked(p);
  coverage.expect_complete();
}

}  // namespace epochd::chips::harness
