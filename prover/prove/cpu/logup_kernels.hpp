// LogUp over packs: fractions of a table's pairs, and their constraints. What LogupEval defines,
// with fingerprints summed without reducing each product, inversions shared by many rows, and
// multiplicities read once. Included only by kernels_<isa>.cpp.
#pragma once

#include "prover/prove/cpu/kernels.hpp"
#include "prover/prove/cpu/pack_math.hpp"

namespace epochd::prover::cpu {

template <class P>
struct LogupKernels {
  using Math = PackMath<P>;
  using E = typename Math::E;
  using Eval = LogupEval<P>;
  using Fraction = typename Eval::Fraction;
  static constexpr size_t kLanes = P::kLanes;
  /// Packs of rows whose denominators share one inversion.
  static constexpr size_t kBatch = 16;
  /// Products from which on a sum that is reduced once is cheaper.
  static constexpr u32 kSumMin = 3;

  EPOCHD_INLINE static E fingerprint(const LogupView& v, const LogupAccess& a,
                                     const TableColumns& columns, size_t row) {
    if (a.weight_count < kSumMin) return Eval::fingerprint(v.table, a, columns, row);
    typename Math::Sum3 sum;
    for (u32 i = a.first_weight; i < a.first_weight + a.weight_count; ++i) {
      sum.add(P::load(columns.column(v.table.weights[i].column) + row).pieces(), v.weights[i]);
    }
    return Math::broadcast(a.constant) + sum.value();
  }

  EPOCHD_INLINE static P multiplicity(const LogupView& v, u32 access, const TableColumns& columns,
                                      size_t row) {
    const LogupAccess& a = v.table.accesses[access];
    if (v.multiplicities[access] == Multiplicity::kForm) {
      return Eval::multiplicity(v.table, a, columns, row);
    }
    const u32 column = v.table.coefficients[a.first_coefficient].column;
    const P m = P::load(columns.column(column) + row);
    return v.multiplicities[access] == Multiplicity::kColumn ? m : -m;
  }

  EPOCHD_INLINE static Fraction pair_fraction(const LogupView& v, u32 pair,
                                              const TableColumns& columns, size_t row) {
    const u32 first = 2 * pair;
    const E fa = fingerprint(v, v.table.accesses[first], columns, row);
    const P ma = multiplicity(v, first, columns, row);
    if (first + 1 == v.table.access_count) return {E{ma, P(), P()}, fa};
    const E fb = fingerprint(v, v.table.accesses[first + 1], columns, row);
    const E denominator = fa * fb;
    if (v.pairs[pair] == PairKind::kEqual) return {(fb + fa) * ma, denominator};
    if (v.pairs[pair] == PairKind::kOpposite) return {(fb - fa) * ma, denominator};
    return {fb * ma + fa * multiplicity(v, first + 1, columns, row), denominator};
  }

  /// What a batch keeps of its pairs until their inverses are known. Made once for many batches:
  /// packs are zeroed when they are made.
  struct Scratch {
    E numerators[kBatch * kLogupPairsMax];
    E adjugates[kBatch * kLogupPairsMax];
    P norms[kBatch * kLogupPairsMax];
    P prefix[kBatch * kLogupPairsMax];
  };

  static void batch(const LogupView& v, const TableColumns& columns, size_t begin, size_t packs,
                    Scratch& s, Fp* aux, size_t aux_stride, Planes totals) {
    const u32 pairs = v.table.pair_count();
    P product = P::broadcast(Fp::one());
    for (size_t k = 0; k < packs; ++k) {
      const size_t row = begin + k * kLanes;
      for (u32 c = 0; Math::begins_line(row) && c < v.column_count; ++c) {
        Math::prefetch(columns.column(c) + row);
      }
      for (u32 j = 0; j < pairs; ++j) {
        const size_t i = k * pairs + j;
        const Fraction f = pair_fraction(v, j, columns, row);
        s.numerators[i] = f.numerator;
        s.adjugates[i] = Math::adjugate(f.denominator, s.norms[i]);
        s.prefix[i] = product;
        product = product * s.norms[i];
      }
    }
    P inv = Math::invert_lanes(product);
    for (size_t k = packs; k-- > 0;) {
      const size_t row = begin + k * kLanes;
      E total = Math::broadcast(fp3_zero());
      for (u32 j = pairs; j-- > 0;) {
        const size_t i = k * pairs + j;
        const E value = s.numerators[i] * (s.adjugates[i] * (inv * s.prefix[i]));
        inv = inv * s.norms[i];
        total = total + value;
        if (j + 1 < pairs) Math::store(value, aux + 3 * j * aux_stride + row, aux_stride);
      }
      Math::store(total, totals.base + row, totals.stride);
    }
  }

  static void rows(const LogupView& v, const TableColumns& columns, size_t begin, size_t end,
                   Fp* aux, size_t aux_stride, Planes totals) {
    Scratch scratch;
    for (size_t row = begin; row < end; row += kBatch * kLanes) {
      const size_t left = (end - row) / kLanes;
      batch(v, columns, row, left < kBatch ? left : kBatch, scratch, aux, aux_stride, totals);
    }
  }

  /// x times a constant, added to the sums.
  EPOCHD_INLINE static void add_product(typename Math::Sum3& sum, const E& x,
                                        const SplitProduct& c) {
    const typename P::Pieces x0 = x.c0.pieces();
    const typename P::Pieces x1 = x.c1.pieces();
    const typename P::Pieces x2 = x.c2.pieces();
    sum.c0.add(x0, c.c0);
    sum.c0.add(x1, c.twice_c2);
    sum.c0.add(x2, c.twice_c1);
    sum.c1.add(x0, c.c1);
    sum.c1.add(x1, c.c0);
    sum.c1.add(x2, c.twice_c2);
    sum.c2.add(x0, c.c2);
    sum.c2.add(x1, c.c1);
    sum.c2.add(x2, c.c0);
  }
  static_assert(3 * kLogupPairsMax <= kSumTermsMax);

  /// The table's LogUp constraints at a row, folded with alpha.
  EPOCHD_INLINE static E constraints(const LogupFold& q, size_t row) {
    const u32 pairs = q.view.table.pair_count();
    const Fp* acc = q.aux + 3 * (pairs - 1) * q.aux_stride;
    for (u32 c = 0; Math::begins_line(row) && c < 3 * pairs; ++c) {
      Math::prefetch(q.aux + c * q.aux_stride + row);
    }
    typename Math::Sum3 sum;
    E others = Math::broadcast(fp3_zero());
    for (u32 j = 0; j + 1 < pairs; ++j) {
      const Fraction f = pair_fraction(q.view, j, q.columns, row);
      const E u = Math::load(q.aux + 3 * j * q.aux_stride + row, q.aux_stride);
      others = others + u;
      add_product(sum, u * f.denominator - f.numerator, q.alphas[j]);
    }
    const Fraction f = pair_fraction(q.view, pairs - 1, q.columns, row);
    const E step = Eval::load_next(acc, q.aux_stride, row, q.log_half) -
                   Math::load(acc + row, q.aux_stride) + Math::broadcast(q.sum_over_height) -
                   others;
    add_product(sum, step * f.denominator - f.numerator, q.alphas[pairs - 1]);
    return sum.value();
  }

  static void quotient(const LogupFold& q, size_t begin, size_t end, Planes out) {
    for (size_t row = begin; row < end; row += kLanes) {
      const E sum = Math::load(out.base + row, out.stride) + constraints(q, row);
      Math::store(sum, out.base + row, out.stride);
    }
  }
};

}  // namespace epochd::prover::cpu
