// The row-wise kernels of the CPU backend, one table of function pointers per instruction set,
// chosen at run time. All are deterministic: every stored value is canonical.
#pragma once

#include "prover/core/cpu_features.hpp"
#include "prover/field/fp3.hpp"

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

  u32 pair_count() const { return (access_count + 1) / 2; }
};

/// The LogUp constraints of one table on its LDE.
struct LogupQuotientArgs {
  const LogupTable* table;
  const Fp* const* columns;  ///< fixed then main, on the LDE
  const Fp* aux;             ///< aux K columns, [3 * pair_count] of `aux_stride`
  size_t aux_stride;
  u32 log_half;             ///< rows [k * 2^log_half, ...) are cosets of H, bit-reversed
  Fp3 sum_over_height;      ///< L / N
  const Fp3* alpha_powers;  ///< [pair_count]
};

struct WeightedColumn {
  const Fp* column;
  Fp3 weight;
};

struct Kernels {
  u32 lanes;
  /// Pair fractions of rows [begin, end): pairs but the last into aux, the row's total into
  /// `totals`.
  void (*logup_rows)(const LogupTable&, const Fp* const* columns, size_t begin, size_t end, Fp* aux,
                     size_t aux_stride, Planes totals);
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
