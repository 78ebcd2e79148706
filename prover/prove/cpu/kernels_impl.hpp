// Bodies of the row-wise kernels over a pack P. Included only by kernels_<isa>.cpp; everything here
// is a template over P, so that no instruction set leaks into another's object file.
#pragma once

#include "prover/prove/cpu/kernels.hpp"

namespace epochd::prover::cpu {

template <class P>
struct KernelsImpl {
  using E = Cubic<P>;
  using Eval = LogupEval<P>;
  using Fraction = typename Eval::Fraction;
  static constexpr size_t kLanes = P::kLanes;
  /// Packs of rows whose denominators share one inversion.
  static constexpr size_t kBatch = 16;
  static constexpr u32 kPairsMax = 24;

  static E load(const Fp* p, size_t stride) { return Eval::load(p, stride); }
  static void store(const E& v, Fp* p, size_t stride) { Eval::store(v, p, stride); }
  static E broadcast(const Fp3& v) { return Eval::broadcast(v); }

  /// Lane-wise 1/x by one inversion in K: Montgomery's trick across the lanes.
  static E invert_lanes(const E& x) {
    alignas(64) Fp in[3 * kLanes];
    alignas(64) Fp out[3 * kLanes];
    store(x, in, kLanes);
    Fp3 prefix[kLanes];
    Fp3 product = fp3_one();
    for (size_t i = 0; i < kLanes; ++i) {
      prefix[i] = product;
      product *= Fp3{in[i], in[kLanes + i], in[2 * kLanes + i]};
    }
    Fp3 inv = inverse(product);
    for (size_t i = kLanes; i-- > 0;) {
      const Fp3 r = inv * prefix[i];
      inv *= Fp3{in[i], in[kLanes + i], in[2 * kLanes + i]};
      out[i] = r.c0;
      out[kLanes + i] = r.c1;
      out[2 * kLanes + i] = r.c2;
    }
    return load(out, kLanes);
  }

  static void logup_batch(const LogupTable& t, const TableColumns& columns, size_t begin,
                          size_t packs, Fp* aux, size_t aux_stride, Planes totals) {
    E prefix[kBatch * kPairsMax];
    Fraction fraction[kBatch * kPairsMax];
    const u32 pairs = t.pair_count();
    E product = broadcast(fp3_one());
    for (size_t k = 0; k < packs; ++k) {
      for (u32 j = 0; j < pairs; ++j) {
        Fraction& f = fraction[k * pairs + j];
        f = Eval::pair_fraction(t, j, columns, begin + k * kLanes);
        prefix[k * pairs + j] = product;
        product = product * f.denominator;
      }
    }
    E inv = invert_lanes(product);
    for (size_t k = packs; k-- > 0;) {
      const size_t row = begin + k * kLanes;
      E total = broadcast(fp3_zero());
      for (u32 j = pairs; j-- > 0;) {
        const Fraction& f = fraction[k * pairs + j];
        const E value = f.numerator * (inv * prefix[k * pairs + j]);
        inv = inv * f.denominator;
        total = total + value;
        if (j + 1 < pairs) store(value, aux + 3 * j * aux_stride + row, aux_stride);
      }
      store(total, totals.base + row, totals.stride);
    }
  }

  static void logup_rows(const LogupTable& t, const TableColumns& columns, size_t begin, size_t end,
                         Fp* aux, size_t aux_stride, Planes totals) {
    for (size_t row = begin; row < end; row += kBatch * kLanes) {
      const size_t left = (end - row) / kLanes;
      logup_batch(t, columns, row, left < kBatch ? left : kBatch, aux, aux_stride, totals);
    }
  }

  static void logup_quotient(const LogupQuotientArgs& q, size_t begin, size_t end, Planes out) {
    for (size_t row = begin; row < end; row += kLanes) {
      const E sum = load(out.base + row, out.stride) + Eval::constraints(q, row);
      store(sum, out.base + row, out.stride);
    }
  }

  /// x[i] -> 1/x[i] for i < count, by one inversion. `prefix` holds as many.
  static void invert_all(E* x, E* prefix, size_t count) {
    E product = broadcast(fp3_one());
    for (size_t i = 0; i < count; ++i) {
      prefix[i] = product;
      product = product * x[i];
    }
    E inv = invert_lanes(product);
    for (size_t i = count; i-- > 0;) {
      const E next = inv * x[i];
      x[i] = inv * prefix[i];
      inv = next;
    }
  }

  static Fp3 sum_lanes(const E& e) {
    alignas(64) Fp lanes[3 * kLanes];
    store(e, lanes, kLanes);
    Fp3 s{};
    for (size_t i = 0; i < kLanes; ++i) {
      s += Fp3{lanes[i], lanes[kLanes + i], lanes[2 * kLanes + i]};
    }
    return s;
  }

  /// Packs of rows that open_rows and deep_rows keep together: 128 rows, whose factors stay in the
  /// first-level cache.
  static constexpr size_t kTile = 128 / kLanes;
  static_assert(kTile <= kSumTermsMax);

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
  struct Factors3 {
    typename P::Factors c0, c1, c2;
  };

  static void open_rows(const Fp* const* columns, u32 column_count, const Fp* x, const Fp3& z,
                        size_t begin, size_t end, Fp3* sums) {
    E distance[kTile];
    E prefix[kTile];
    Factors3 factors[kTile];
    for (size_t row = begin; row < end; row += kTile * kLanes) {
      const size_t left = (end - row) / kLanes;
      const size_t packs = left < kTile ? left : kTile;
      for (size_t k = 0; k < packs; ++k) {
        distance[k] = broadcast(z) - P::load(x + row + k * kLanes);
      }
      invert_all(distance, prefix, packs);
      for (size_t k = 0; k < packs; ++k) {
        const E w = distance[k] * P::load(x + row + k * kLanes);
        factors[k] = {w.c0.factors(), w.c1.factors(), w.c2.factors()};
      }
      for (u32 c = 0; c < column_count; ++c) {
        Sum3 sum;
        for (size_t k = 0; k < packs; ++k) {
          sum.add(P::load(columns[c] + row + k * kLanes).pieces(), factors[k]);
        }
        sums[c] += sum_lanes(sum.value());
      }
    }
  }

  static E weighted_sum(const WeightedColumn* columns, u32 count, size_t row) {
    E total = broadcast(fp3_zero());
    for (u32 c = 0; c < count;) {
      const u32 stop = count - c < kSumTermsMax ? count : c + kSumTermsMax;
      Sum3 sum;
      for (; c < stop; ++c) {
        sum.add(P::load(columns[c].column + row).pieces(), columns[c].weight);
      }
      total = total + sum.value();
    }
    return total;
  }

  static void deep_rows(const DeepPoint* points, const Fp* x, size_t begin, size_t end,
                        Planes out) {
    E distance[kDeepPoints * kTile];
    E prefix[kDeepPoints * kTile];
    for (size_t row = begin; row < end; row += kTile * kLanes) {
      const size_t left = (end - row) / kLanes;
      const size_t packs = left < kTile ? left : kTile;
      for (size_t k = 0; k < packs; ++k) {
        const P at = P::load(x + row + k * kLanes);
        for (u32 p = 0; p < kDeepPoints; ++p) {
          distance[kDeepPoints * k + p] = broadcast(points[p].z) - at;
        }
      }
      invert_all(distance, prefix, kDeepPoints * packs);
      for (size_t k = 0; k < packs; ++k) {
        const size_t at = row + k * kLanes;
        E total = broadcast(fp3_zero());
        for (u32 p = 0; p < kDeepPoints; ++p) {
          const DeepPoint& point = points[p];
          if (point.column_count == 0) continue;
          const E rest =
              broadcast(point.at_z) - weighted_sum(point.columns, point.column_count, at);
          total = total + rest * distance[kDeepPoints * k + p];
        }
        store(total, out.base + at - begin, out.stride);
      }
    }
  }

  static constexpr Kernels kTable = {static_cast<u32>(kLanes), &logup_rows, &logup_quotient,
                                     &open_rows, &deep_rows};
};

}  // namespace epochd::prover::cpu
