// Bodies of the row-wise kernels over a pack P. Included only by kernels_<isa>.cpp; everything here
// is a template over P, so that no instruction set leaks into another's object file.
#pragma once

#include "prover/prove/cpu/kernels.hpp"

namespace epochd::prover::cpu {

template <class P>
struct KernelsImpl {
  using E = Cubic<P>;
  static constexpr size_t kLanes = P::kLanes;
  /// Packs of rows whose denominators share one inversion.
  static constexpr size_t kBatch = 16;
  static constexpr u32 kPairsMax = 24;

  static E load(const Fp* p, size_t stride) {
    return {P::load(p), P::load(p + stride), P::load(p + 2 * stride)};
  }
  static void store(const E& v, Fp* p, size_t stride) {
    v.c0.store(p);
    v.c1.store(p + stride);
    v.c2.store(p + 2 * stride);
  }
  static E broadcast(const Fp3& v) {
    return {P::broadcast(v.c0), P::broadcast(v.c1), P::broadcast(v.c2)};
  }

  static E fingerprint(const LogupTable& t, const LogupAccess& a, const Fp* const* columns,
                       size_t row) {
    E f = broadcast(a.constant);
    for (u32 i = a.first_weight; i < a.first_weight + a.weight_count; ++i) {
      f = f + broadcast(t.weights[i].weight) * P::load(columns[t.weights[i].column] + row);
    }
    return f;
  }
  static P multiplicity(const LogupTable& t, const LogupAccess& a, const Fp* const* columns,
                        size_t row) {
    P m = P::broadcast(a.multiplicity_constant);
    for (u32 i = a.first_coefficient; i < a.first_coefficient + a.coefficient_count; ++i) {
      const LogupCoefficient& k = t.coefficients[i];
      m = m + P::broadcast(k.coefficient) * P::load(columns[k.column] + row);
    }
    return m;
  }

  struct Fraction {
    E numerator, denominator;
  };
  /// Interactions 2 * pair and, if there is one, 2 * pair + 1, over a common denominator.
  static Fraction pair_fraction(const LogupTable& t, u32 pair, const Fp* const* columns,
                                size_t row) {
    const LogupAccess& a = t.accesses[2 * pair];
    const E fa = fingerprint(t, a, columns, row);
    const P ma = multiplicity(t, a, columns, row);
    if (2 * pair + 1 == t.access_count) return {E{ma, P(), P()}, fa};
    const LogupAccess& b = t.accesses[2 * pair + 1];
    const E fb = fingerprint(t, b, columns, row);
    const P mb = multiplicity(t, b, columns, row);
    return {fb * ma + fa * mb, fa * fb};
  }

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

  static void logup_batch(const LogupTable& t, const Fp* const* columns, size_t begin, size_t packs,
                          Fp* aux, size_t aux_stride, Planes totals) {
    E prefix[kBatch * kPairsMax];
    Fraction fraction[kBatch * kPairsMax];
    const u32 pairs = t.pair_count();
    E product = broadcast(fp3_one());
    for (size_t k = 0; k < packs; ++k) {
      for (u32 j = 0; j < pairs; ++j) {
        Fraction& f = fraction[k * pairs + j];
        f = pair_fraction(t, j, columns, begin + k * kLanes);
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

  static void logup_rows(const LogupTable& t, const Fp* const* columns, size_t begin, size_t end,
                         Fp* aux, size_t aux_stride, Planes totals) {
    for (size_t row = begin; row < end; row += kBatch * kLanes) {
      const size_t left = (end - row) / kLanes;
      logup_batch(t, columns, row, left < kBatch ? left : kBatch, aux, aux_stride, totals);
    }
  }

  /// The accumulator at the next point of the trace domain. Rows are bit-reversed within each half,
  /// so "next" adds one at the top bit; only the last pack of a half scatters.
  static E load_next(const Fp* acc, size_t stride, size_t row, u32 log_half) {
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

  static void logup_quotient(const LogupQuotientArgs& q, size_t begin, size_t end, Planes out) {
    const u32 pairs = q.table->pair_count();
    const Fp* acc = q.aux + 3 * (pairs - 1) * q.aux_stride;
    for (size_t row = begin; row < end; row += kLanes) {
      E sum = load(out.base + row, out.stride);
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
      sum = sum + (step * f.denominator - f.numerator) * broadcast(q.alpha_powers[pairs - 1]);
      store(sum, out.base + row, out.stride);
    }
  }

  static void invert(Planes v, size_t begin, size_t end) {
    E prefix[kBatch];
    for (size_t row = begin; row < end; row += kBatch * kLanes) {
      const size_t left = (end - row) / kLanes;
      const size_t packs = left < kBatch ? left : kBatch;
      E product = broadcast(fp3_one());
      for (size_t k = 0; k < packs; ++k) {
        prefix[k] = product;
        product = product * load(v.base + row + k * kLanes, v.stride);
      }
      E inv = invert_lanes(product);
      for (size_t k = packs; k-- > 0;) {
        Fp* p = v.base + row + k * kLanes;
        const E x = load(p, v.stride);
        store(inv * prefix[k], p, v.stride);
        inv = inv * x;
      }
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

  static void dot(const Fp* const* columns, u32 column_count, Planes w, size_t begin, size_t end,
                  Fp3* sums) {
    for (u32 c = 0; c < column_count; ++c) {
      E s = broadcast(fp3_zero());
      for (size_t row = begin; row < end; row += kLanes) {
        s = s + load(w.base + row, w.stride) * P::load(columns[c] + row);
      }
      sums[c] += sum_lanes(s);
    }
  }

  static void combine(const WeightedColumn* columns, u32 column_count, size_t begin, size_t end,
                      Planes out) {
    for (u32 c = 0; c < column_count; ++c) {
      const E w = broadcast(columns[c].weight);
      for (size_t row = begin; row < end; row += kLanes) {
        Fp* o = out.base + row;
        store(load(o, out.stride) + w * P::load(columns[c].column + row), o, out.stride);
      }
    }
  }

  static void multiply(Planes a, Planes b, size_t begin, size_t end) {
    for (size_t row = begin; row < end; row += kLanes) {
      store(load(a.base + row, a.stride) * load(b.base + row, b.stride), a.base + row, a.stride);
    }
  }
  static void multiply_base(Planes a, const Fp* f, size_t begin, size_t end) {
    for (size_t row = begin; row < end; row += kLanes) {
      store(load(a.base + row, a.stride) * P::load(f + row), a.base + row, a.stride);
    }
  }

  static constexpr Kernels kTable = {static_cast<u32>(kLanes),
                                     &logup_rows,
                                     &logup_quotient,
                                     &invert,
                                     &dot,
                                     &combine,
                                     &multiply,
                                     &multiply_base};
};

}  // namespace epochd::prover::cpu
