// The row-wise kernels of the CPU backend, one table of function pointers per instruction set,
// chosen at run time. All are deterministic: every stored value is canonical.
#pragma once

#include "prover/core/cpu_features.hpp"
#include "prover/field/split_factor.hpp"
#include "prover/prove/cpu/logup_view.hpp"

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
  SplitFactor3 weight;
};

/// What DEEP takes at one point z of one height: sum of weight * (column(z) - column(x)) / (z - x).
struct DeepPoint {
  const WeightedColumn* columns;
  u32 column_count;  ///< 0: no column is opened at this point
  Fp3 z;
  Fp3 at_z;  ///< sum of weight * column(z)
};
constexpr u32 kDeepPoints = 2;

/// A linear form over a table's columns, parameters worked into the constant.
struct ColumnTerm {
  const Fp* column;
  Fp coefficient;
};
struct ColumnForm {
  const ColumnTerm* terms;
  u32 term_count;
  Fp constant;
};

struct Kernels {
  u32 lanes;
  /// Pair fractions of rows [begin, end): pairs but the last into aux, the row's total into
  /// `totals`.
  void (*logup_rows)(const LogupView&, const TableColumns& columns, size_t begin, size_t end,
                     Fp* aux, size_t aux_stride, Planes totals);
  /// Adds the LogUp constraints, folded with alpha, to `out` on rows [begin, end).
  void (*logup_quotient)(const LogupFold&, size_t begin, size_t end, Planes out);
  /// sums[c] += sum over rows [begin, end) of columns[c][row] * x[row] / (z - x[row]). Pre: z is no
  /// x[row].
  void (*open_rows)(const Fp* const* columns, u32 column_count, const Fp* x, const Fp3& z,
                    size_t begin, size_t end, Fp3* sums);
  /// out(row - begin) = DEEP's sum over the points, on rows [begin, end). Pre: no z is an x[row].
  void (*deep_rows)(const DeepPoint* points, const Fp* x, size_t begin, size_t end, Planes out);
  /// out[row - begin] = the form's value on rows [begin, end), of any bounds.
  void (*evaluate_form)(const ColumnForm& form, size_t begin, size_t end, Fp* out);
};

const Kernels& kernels(Isa isa);

/// Rows that any kernel's begin and end must be multiples of, unless the whole table is shorter.
constexpr size_t kMaxLanes = 8;

}  // namespace epochd::prover::cpu
