// Bodies of the row-wise kernels over a pack P. Included only by kernels_<isa>.cpp; everything here
// is a template over P, so that no instruction set leaks into another's object file.
#pragma once

#include "prover/field/packed_scalar.hpp"
#include "prover/prove/cpu/logup_kernels.hpp"

namespace epochd::prover::cpu {

template <class P>
struct KernelsImpl {
  using Math = PackMath<P>;
  using E = typename Math::E;
  using Sum3 = typename Math::Sum3;
  static constexpr size_t kLanes = P::kLanes;

  static E load(const Fp* p, size_t stride) { return Math::load(p, stride); }
  static void store(const E& v, Fp* p, size_t stride) { Math::store(v, p, stride); }
  static E broadcast(const Fp3& v) { return Math::broadcast(v); }

  static Fp3 sum_lanes(const E& e) {
    alignas(64) Fp lanes[3 * kLanes];
    store(e, lanes, kLanes);
    Fp3 s{};
    for (size_t i = 0; i < kLanes; ++i) {
      s += Fp3{lanes[i], lanes[kLanes + i], lanes[2 * kLanes + i]};
    }
    return s;
  }

  /// Packs of rows that open_rows and deep_rows keep together: their factors stay in the
  /// first-level cache.
  static constexpr size_t kTile = Math::kTileRows / kLanes;
  static_assert(kTile <= kSumTermsMax);

  struct Factors3 {
    typename P::Factors c0, c1, c2;
  };

  static void open_rows(const Fp* const* columns, u32 column_count, const Fp* x, const Fp3& z,
                        size_t begin, size_t end, Fp3* sums) {
    E distance[kTile];
    P norms[kTile];
    P prefix[kTile];
    Factors3 factors[kTile];
    for (size_t row = begin; row < end; row += kTile * kLanes) {
      const size_t left = (end - row) / kLanes;
      const size_t packs = left < kTile ? left : kTile;
      for (size_t k = 0; k < packs; ++k) {
        distance[k] = broadcast(z) - P::load(x + row + k * kLanes);
      }
      Math::invert_all(distance, norms, prefix, packs);
      for (size_t k = 0; k < packs; ++k) {
        const E w = distance[k] * P::load(x + row + k * kLanes);
        factors[k] = {w.c0.factors(), w.c1.factors(), w.c2.factors()};
      }
      for (u32 c = 0; c < column_count; ++c) {
        Sum3 sum;
        for (size_t k = 0; k < packs; ++k) {
          Math::prefetch(columns[c] + row + k * kLanes);
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
        Math::prefetch(columns[c].column + row);
        sum.add(P::load(columns[c].column + row).pieces(), columns[c].weight);
      }
      total = total + sum.value();
    }
    return total;
  }

  static void deep_rows(const DeepPoint* points, const Fp* x, size_t begin, size_t end,
                        Planes out) {
    E distance[kDeepPoints * kTile];
    P norms[kDeepPoints * kTile];
    P prefix[kDeepPoints * kTile];
    for (size_t row = begin; row < end; row += kTile * kLanes) {
      const size_t left = (end - row) / kLanes;
      const size_t packs = left < kTile ? left : kTile;
      for (size_t k = 0; k < packs; ++k) {
        const P at = P::load(x + row + k * kLanes);
        for (u32 p = 0; p < kDeepPoints; ++p) {
          distance[kDeepPoints * k + p] = broadcast(points[p].z) - at;
        }
      }
      Math::invert_all(distance, norms, prefix, kDeepPoints * packs);
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

  template <class Q>
  EPOCHD_INLINE static Q form_value(const ColumnForm& form, size_t row) {
    Q v = Q::broadcast(form.constant);
    for (u32 i = 0; i < form.term_count; ++i) {
      const ColumnTerm& t = form.terms[i];
      const Q x = Q::load(t.column + row);
      v = v + (t.coefficient == Fp::one() ? x : Q::broadcast(t.coefficient) * x);
    }
    return v;
  }

  static void evaluate_form(const ColumnForm& form, size_t begin, size_t end, Fp* out) {
    size_t row = begin;
    for (; row + kLanes <= end; row += kLanes) form_value<P>(form, row).store(out + row - begin);
    for (; row < end; ++row) form_value<PackedScalar>(form, row).store(out + row - begin);
  }

  static constexpr Kernels kTable = {static_cast<u32>(kLanes),
                                     &LogupKernels<P>::rows,
                                     &LogupKernels<P>::quotient,
                                     &open_rows,
                                     &deep_rows,
                                     &evaluate_form};
};

}  // namespace epochd::prover::cpu
