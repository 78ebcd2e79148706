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
