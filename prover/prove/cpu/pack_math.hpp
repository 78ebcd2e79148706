// K over packs, as all row-wise kernels need it: loads and stores of planes, long sums of products,
// batched inversion. Included only by kernels.
#pragma once

#include "prover/air/logup_eval.hpp"
#include "prover/field/split_factor.hpp"

namespace epochd::prover::cpu {

template <class P>
struct PackMath {
  using E = Cubic<P>;
  using Eval = LogupEval<P>;
  static constexpr size_t kLanes = P::kLanes;
  /// Rows that kernels over many columns work through together.
  static constexpr size_t kTileRows = 128;

  EPOCHD_INLINE static E load(const Fp* p, size_t stride) { return Eval::load(p, stride); }
  EPOCHD_INLINE static void store(const E& v, Fp* p, size_t stride) { Eval::store(v, p, stride); }
  EPOCHD_INLINE static E broadcast(const Fp3& v) { return Eval::broadcast(v); }

  /// Asks for the cache line a tile ahead of p: rows of many columns are more streams than the
  /// hardware follows.
  EPOCHD_INLINE static void prefetch(const Fp* p) { __builtin_prefetch(p + kTileRows, 0, 2); }
  /// Whether `row` is the first pack of its cache line.
  EPOCHD_INLINE static bool begins_line(size_t row) { return row % 8 == 0; }

  struct Sum3 {
    typename P::Sum c0, c1, c2;
    template <class Factor3>
    EPOCHD_INLINE void add(const typename P::Pieces& x, const Factor3& f) {
      c0.add(x, f.c0);
      c1.add(x, f.c1);
      c2.add(x, f.c2);
    }
    EPOCHD_INLINE E value() const { return {c0.value(), c1.value(), c2.value()}; }
  };

  /// The adjugate of multiplication by x, so that x * adjugate = norm in F and 1/x = adjugate /
  /// norm (inverse() in fp3.hpp). Inverting norms costs a batch half of what inverting in K does.
  EPOCHD_INLINE static E adjugate(const E& x, P& norm) {
    const P p12 = x.c1 * x.c2;
    const P p22 = x.c2 * x.c2;
    const E a{x.c0 * x.c0 - (p12 + p12), p22 + p22 - x.c0 * x.c1, x.c1 * x.c1 - x.c0 * x.c2};
    const P s = x.c2 * a.c1 + x.c1 * a.c2;
    norm = x.c0 * a.c0 + (s + s);
    return a;
  }

  /// Lane-wise 1/x by one inversion: Montgomery's trick across the lanes. Pre: no lane is 0.
  static P invert_lanes(const P& x) {
    alignas(64) Fp lanes[kLanes];
    x.store(lanes);
    Fp prefix[kLanes];
    Fp product = Fp::one();
    for (size_t i = 0; i < kLanes; ++i) {
      prefix[i] = product;
      product *= lanes[i];
    }
    Fp inv = product.inverse();
    for (size_t i = kLanes; i-- > 0;) {
      const Fp r = inv * prefix[i];
      inv *= lanes[i];
      lanes[i] = r;
    }
    return P::load(lanes);
  }

  /// x[i] -> 1/x[i] for i < count, by one inversion. `norms` and `prefix` hold as many. Pre: none
  /// is 0.
  static void invert_all(E* x, P* norms, P* prefix, size_t count) {
    P product = P::broadcast(Fp::one());
    for (size_t i = 0; i < count; ++i) {
      x[i] = adjugate(x[i], norms[i]);
      prefix[i] = product;
      product = product * norms[i];
    }
    P inv = invert_lanes(product);
    for (size_t i = count; i-- > 0;) {
      x[i] = x[i] * (inv * prefix[i]);
      inv = inv * norms[i];
    }
  }
};

}  // namespace epochd::prover::cpu
