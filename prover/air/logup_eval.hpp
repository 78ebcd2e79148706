// LogUp on rows: a table's interactions after gamma and beta are known, and their fractions and
// constraints over a pack P. Written once; the CPU runs it with SIMD packs, CUDA with one row a
// thread.
#pragma once

#include "prover/air/table_columns.hpp"
#include "prover/field/wide_sum.hpp"

namespace epochd::prover {

/// One interaction after gamma and beta are known: fingerprint = constant + sum weight * column, in
/// K; multiplicity = constant + sum coefficient * column, in F, negated for receives.
struct LogupAccess {
  u32 first_weight, weight_count;
  Fp3 constant;
  u32 first_coefficient, coefficient_count;
  Fp multiplicity_constant;
};
struct LogupWeight {
  u32 column;
  Fp3 weight;
};
struct LogupCoefficient {
  u32 column;
  Fp coefficient;
};
struct LogupTable {
  const LogupAccess* accesses;
  u32 access_count;
  const LogupWeight* weights;
  const LogupCoefficient* coefficients;

  EPOCHD_HD_INLINE u32 pair_count() const { return (access_count + 1) / 2; }
};

/// The LogUp constraints of one table on its LDE.
struct LogupQuotientArgs {
  const LogupTable* table;
  TableColumns columns;  ///< on the LDE
  const Fp* aux;         ///< aux K columns, [3 * pair_count] of `aux_stride`
  size_t aux_stride;
  u32 log_half;             ///< rows [k * 2^log_half, ...) are cosets of H, bit-reversed
  Fp3 sum_over_height;      ///< L / N
  const Fp3* alpha_powers;  ///< [pair_count]
};

template <class P>
struct LogupEval {
  using E = Cubic<P>;
  static constexpr size_t kLanes = P::kLanes;

  EPOCHD_HD_INLINE static E load(const Fp* p, size_t stride) {
    return {P::load(p), P::load(p + stride), P::load(p + 2 * stride)};
  }
  EPOCHD_HD_INLINE static void store(const E& v, Fp* p, size_t stride) {
    v.c0.store(p);
    v.c1.store(p + stride);
    v.c2.store(p + 2 * stride);
  }
  EPOCHD_HD_INLINE static E broadcast(const Fp3& v) {
    return {P::broadcast(v.c0), P::broadcast(v.c1), P::broadcast(v.c2)};
  }

  EPOCHD_HD_INLINE static E fingerprint(const LogupTable& t, const LogupAccess& a,
                                        const TableColumns& columns, size_t row) {
    if constexpr (kLanes == 1) {
      WideSum3 sum;
      for (u32 i = a.first_weight; i < a.first_weight + a.weight_count; ++i) {
        sum.add(t.weights[i].weight, columns.column(t.weights[i].column)[row]);
      }
      return broadcast(a.constant + sum.value());
    }
    E f = broadcast(a.constant);
    for (u32 i = a.first_weight; i < a.first_weight + a.weight_count; ++i) {
      f = f + broadcast(t.weights[i].weight) * P::load(columns.column(t.weights[i].column) + row);
    }
    return f;
  }
  EPOCHD_HD_INLINE static P multiplicity(const LogupTable& t, const LogupAccess& a,
                                         const TableColumns& columns, size_t row) {
    P m = P::broadcast(a.multiplicity_constant);
    for (u32 i = a.first_coefficient; i < a.first_coefficient + a.coefficient_count; ++i) {
      const LogupCoefficient& k = t.coefficients[i];
      m = m + P::broadcast(k.coefficient) * P::load(columns.column(k.column) + row);
    }
    return m;
  }

  struct Fraction {
    E numerator, denominator;
  };
  /// Interactions 2 * pair and, if there is one, 2 * pair + 1, over a common denominator.
  EPOCHD_HD_INLINE static Fraction pair_fraction(const LogupTable& t, u32 pair,
                                                 const TableColumns& columns, size_t row) {
    const LogupAccess& a = t.accesses[2 * pair];
    const E fa = fingerprint(t, a, columns, row);
    const P ma = multiplicity(t, a, columns, row);
    if (2 * pair + 1 == t.access_count) return {E{ma, P(), P()}, fa};
    const LogupAccess& b = t.accesses[2 * pair + 1];
    const E fb = fingerprint(t, b, columns, row);
    const P mb = multiplicity(t, b, columns, row);
    return {fb * ma + fa * mb, fa * fb};
  }

  /// The accumulator at the next point of the trace domain. Rows are bit-reversed within each half,
  /// so "next" adds one at the top bit; only the last pack of a half scatters.
  EPOCHD_HD_INLINE static E load_next(const Fp* acc, size_t stride, size_t row, u32 log_half) {
    const size_t half = size_t{1} << log_half;
    const size_t base = row & ~(half - 1);
    size_t bit = half >> 1;
    size_t r = row & (half - 1);
    while (bit >= kLanes && (r & bit) != 0) {
      r ^= bit;
      bit >>= 1;
    }
    if (bit >= kLanes) return load(acc + base + (r | bit), stride);
    alignas(64) Fp gathered[3 * kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      size_t q = (row & (half - 1)) + i;
      size_t b = half >> 1;
      while (b != 0 && (q & b) != 0) {
        q ^= b;
        b >>= 1;
      }
      q |= b;
      for (size_t c = 0; c < 3; ++c) gathered[c * kLanes + i] = acc[base + q + c * stride];
    }
    return load(gathered, kLanes);
  }

  /// The table's LogUp constraints at a row, folded with alpha.
  EPOCHD_HD_INLINE static E constraints(const LogupQuotientArgs& q, size_t row) {
    const u32 pairs = q.table->pair_count();
    const Fp* acc = q.aux + 3 * (pairs - 1) * q.aux_stride;
    E sum = broadcast(fp3_zero());
    E others = broadcast(fp3_zero());
    for (u32 j = 0; j + 1 < pairs; ++j) {
      const Fraction f = pair_fraction(*q.table, j, q.columns, row);
      const E u = load(q.aux + 3 * j * q.aux_stride + row, q.aux_stride);
      others = others + u;
      sum = sum + (u * f.denominator - f.numerator) * broadcast(q.alpha_powers[j]);
    }
    const Fraction f = pair_fraction(*q.table, pairs - 1, q.columns, row);
    const E step = load_next(acc, q.aux_stride, row, q.log_half) - load(acc + row, q.aux_stride) +
                   broadcast(q.sum_over_height) - others;
    return sum + (step * f.denominator - f.numerator) * broadcast(q.alpha_powers[pairs - 1]);
  }
};

}  // namespace epochd::prover
