// One FRI fold, shared by prover and verifier. Freestanding.
//
// P(Y) = sum_{j<2^k} Y^j P_j(Y^(2^k)) folds to sum_j beta^j P_j: k binary steps with beta, beta^2,
// beta^4, ... In bit-reversed order the entries 2i, 2i+1 of a word stand at y, -y with y =
// g^bitrev(2i), so leaf q of 2^k entries folds to entry q of the next word: (a + b)/2 + beta^(2^s)
// (a - b)/(2 y^(2^s)) at binary step s.
#pragma once

#include "prover/field/fp3.hpp"

namespace epochd::prover {

constexpr u32 kLogFoldMax = 3;
constexpr u32 kFoldMax = 1u << kLogFoldMax;

class FriFold {
 public:
  /// A fold of a word of 2^log_word entries by 2^k. Pre: 1 <= k <= 3.
  FriFold(u32 log_word, u32 k, Fp3 beta)
      : k_(k),
        log_leaves_(log_word - k),
        root_inverse_(Fp::two_adic_root(log_word).inverse()),
        half_(Fp::from_canonical(2).inverse()) {
    Fp3 b = beta;
    for (u32 s = 0; s < k; ++s) {
      beta_[s] = b * half_;
      b = b.square();
    }
    // g^-bitrev(2i) within a leaf, for the first step's pairs i: bitrev over the k low bits of the
    // index.
    const Fp w = root_inverse_.pow(u64{1} << log_leaves_);
    for (u32 i = 0; i < (1u << k) / 2; ++i) {
      u32 r = 0;
      for (u32 b2 = 0; b2 + 1 < k; ++b2) r |= (i >> b2 & 1) << (k - 2 - b2);
      leaf_inverse_[i] = w.pow(r);
    }
  }

  /// 1 / y_q of leaf q, y_q its first point: g^-bitrev(q).
  EPOCHD_HD Fp first_point_inverse(u64 q) const {
    u64 reversed = 0;
    for (u32 i = 0; i < log_leaves_; ++i) reversed |= (q >> i & 1) << (log_leaves_ - 1 - i);
    return root_inverse_.pow(reversed);
  }

  /// Folds the 2^k values of leaf q; `values` is overwritten.
  EPOCHD_HD Fp3 apply(u64 q, Fp3* values) const { return apply_at(first_point_inverse(q), values); }
  /// The same for the leaf whose first point has the inverse `y_inverse`.
  EPOCHD_HD Fp3 apply_at(Fp y_inverse, Fp3* values) const {
    for (u32 s = 0; s < k_; ++s) {
      const u32 pairs = 1u << (k_ - 1 - s);
      for (u32 i = 0; i < pairs; ++i) {
        const Fp3 a = values[2 * i];
        const Fp3 b = values[2 * i + 1];
        // Pair i at step s stands at (y_q * w^r)^(2^s), r belonging to pair i << s of the first
        // step.
        Fp leaf = leaf_inverse_[i << s];
        for (u32 d = 0; d < s; ++d) leaf = leaf.square();
        values[i] = (a + b) * half_ + beta_[s] * (a - b) * (y_inverse * leaf);
      }
      y_inverse = y_inverse.square();
    }
    return values[0];
  }

 private:
  u32 k_;
  u32 log_leaves_;
  Fp root_inverse_;
  Fp half_;
  Fp3 beta_[kLogFoldMax];
  Fp leaf_inverse_[kFoldMax / 2];
};

}  // namespace epochd::prover
