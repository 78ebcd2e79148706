// The row-wise kernels of the CPU backend, one table of function pointers per instruction set,
// chosen at run time. All are deterministic: every stored value is canonical.
#pragma once

#include "prover/air/logup_eval.hpp"
#include "prover/core/cpu_features.hpp"

namespace epochd::prover::cpu {

/// A column of K: three columns of F, `stride` apart.
struct Planes {
  Fp* base;
  size_t stride;

  Fp3 get(size_t i) const { return {base[i], base[i + stride], base[i + 2 * stride]}; }
  void set(size_t i, const Fp3& v) const {
    base[i] = v.c0;
    base[i + stride] = v.c1;
    base[i + 2 * stride] = v.c2;
  }
};

struct WeightedColumn {
  const Fp* column;
  Fp3 weight;
};

struct Kernels {
  u32 lanes;
  /// Pair fractions of rows [begin, end): pairs but the last into aux, the row's total into
  /// `totals`.
  void (*logup_rows)(const LogupTable&, const TableColumns& columns, size_t begin, size_t end,
                     Fp* aux, size_t aux_stride, Planes totals);
  /// Adds the LogUp constraints, folded with alpha, to `out` on rows [begin, end).
  void (*logup_quotient)(const LogupQuotientArgs&, size_t begin, size_t end, Planes out);
  /// x -> 1/x in place on rows [begin, end). Pre: none is zero.
  void (*invert)(Planes values, size_t begin, size_t end);
  /// sums[c] += sum over rows [begin, end) of weight(row) * columns[c][row].
  void (*dot)(const Fp* const* columns, u32 column_count, Planes weights, size_t begin, size_t end,
              Fp3* sums);
  /// out(row) += sum over columns of weight * column(row), on rows [begin, end).
  void (*combine)(const WeightedColumn* columns, u32 column_count, size_t begin, size_t end,
                  Planes out);
  /// a(row) = a(row) * b(row) on rows [begin, end).
  void (*multiply)(Planes a, Planes b, size_t begin, size_t end);
  /// a(row) *= f(row), f in F.
  void (*multiply_base)(Planes a, const Fp* f, size_t begin, size_t end);
};

const Kernels& kernels(Isa isa);

/// Rows that any kernel's begin and end must be multiples of, unless the whole table is shorter.
constexpr size_t kMaxLanes = 8;

}  // namespace epochd::prover::cpu
