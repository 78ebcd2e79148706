// Pass lists and twiddle tables of the small transforms that ntt.cpp composes. All tables together
// stay under 2 MiB whatever is transformed, because big sizes are split in two.
#pragma once

#include <vector>

#include "prover/pcs/ntt_kernels.hpp"

namespace epochd::prover::ntt {

inline constexpr u32 kPlanLogMax = 15;

class Plan {
 public:
  Plan(u32 log_n, bool inverse);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const PlanView& view() const { return view_; }
  /// The table of a transform on shift * <w_n>.
  std::vector<Fp> shifted_table(Fp shift) const;
  /// The first pass's factors on shift * <w_n>, all multiplied by `scale`.
  std::vector<Fp> scaled_head(Fp shift, Fp scale) const;

 private:
  std::vector<Fp> table_;
  std::vector<u32> reversal_;
  PlanView view_;
};

/// Made on first use and kept for ever; safe from any thread. Pre: log_n <= kPlanLogMax.
const Plan& plan(u32 log_n, bool inverse);

/// Bit reversal of the low `bits` bits of x. Pre: x < 2^bits.
constexpr u64 reverse_bits(u64 x, u32 bits) {
  u64 r = 0;
  for (u32 i = 0; i < bits; ++i) r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}

}  // namespace epochd::prover::ntt
