#include "prover/pcs/ntt_plan.hpp"

#include <memory>
#include <mutex>

#include "prover/core/assert.hpp"

namespace epochd::prover::ntt {

namespace {

struct Slot {
  std::once_flag once;
  std::unique_ptr<const Plan> plan;
};

}  // namespace

Plan::Plan(u32 log_n, bool inverse) : view_{} {
  view_.log_n = log_n;
  view_.inverse = inverse;
  // Radix 8 and as few of radix 16 as make up the rest, those first, where blocks are longest.
  for (u32 done = 0; done < log_n;) {
    const u32 left = log_n - done;
    const u32 log_radix = left % 3 == 0 ? 3 : left == 4 || left > 5 ? 4 : left % 3;
    view_.passes[view_.pass_count++] = {log_radix, done, table_.size()};
    Fp root = Fp::two_adic_root(done + log_radix);
    if (inverse) root = root.inverse();
    for (u64 block = 0; block < u64{1} << done; ++block) {
      const Fp a = root.pow(reverse_bits(block, done));
      Fp power = a;
      for (u32 k = 1; k < 1u << log_radix; ++k) {
        table_.push_back(power);
        power *= a;
      }
    }
    done += log_radix;
  }
  if (view_.pass_count > 0) {
    const u32 bits = log_n - view_.passes[0].log_radix;
    for (u64 i = 0; i < u64{1} << bits; ++i) {
      reversal_.push_back(static_cast<u32>(reverse_bits(i, bits)));
    }
  }
  view_.table_size = table_.size();
  view_.table = table_.data();
  view_.reversal = reversal_.data();
}

std::vector<Fp> Plan::shifted_table(Fp shift) const {
  std::vector<Fp> table = table_;
  for (u32 p = 0; p < view_.pass_count; ++p) {
    const Pass& pass = view_.passes[p];
    const u32 radix = 1u << pass.log_radix;
    const Fp factor = shift.pow(u64{1} << (view_.log_n - pass.log_blocks - pass.log_radix));
    Fp power = factor;
    for (u32 k = 1; k < radix; ++k) {
      for (size_t block = 0; block < size_t{1} << pass.log_blocks; ++block) {
        table[pass.table + block * (radix - 1) + k - 1] *= power;
      }
      power *= factor;
    }
  }
  return table;
}

std::vector<Fp> Plan::scaled_head(Fp shift, Fp scale) const {
  EPOCHD_ASSERT(view_.pass_count > 0);
  const u32 log_radix = view_.passes[0].log_radix;
  const Fp factor = shift.pow(u64{1} << (view_.log_n - log_radix));
  std::vector<Fp> head;
  for (u32 k = 0; k < 1u << log_radix; ++k) {
    head.push_back(scale);
    scale *= factor;
  }
  return head;
}

const Plan& plan(u32 log_n, bool inverse) {
  EPOCHD_ASSERT(log_n <= kPlanLogMax);
  // Never destroyed: worker threads may still transform while statics are.
  static Slot* const slots = new Slot[2 * (kPlanLogMax + 1)];
  Slot& slot = slots[2 * log_n + (inverse ? 1 : 0)];
  std::call_once(slot.once, [&] { slot.plan = std::make_unique<Plan>(log_n, inverse); });
  return *slot.plan;
}

}  // namespace epochd::prover::ntt
