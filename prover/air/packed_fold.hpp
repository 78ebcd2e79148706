// PackedFold: an AIR's constraints on P::kLanes consecutive LDE rows, folded with powers of alpha:
// the CPU quotient's share of `eval`. Only P's operations are used, so every instruction set has
// its own instantiation.
#pragma once

#include "prover/air/air_info.hpp"
#include "prover/air/context.hpp"
#include "prover/air/table_columns.hpp"
#include "prover/field/fp3.hpp"

namespace epochd::prover {

/// Columns of one table on its LDE, and the powers its constraints are folded with.
struct FoldArgs {
  TableColumns columns;
  Fp params[kParamsMax];
  const Fp3* alpha_powers;  ///< [constraint_count]
};

template <class P>
struct PackedFold : ContextMixin<PackedFold<P>> {
  using Value = P;
  const FoldArgs& args;
  size_t row;
  u32 next = 0;
  Cubic<P> sum{P::broadcast(Fp::zero()), P::broadcast(Fp::zero()), P::broadcast(Fp::zero())};

  EPOCHD_HD_INLINE PackedFold(const FoldArgs& a, size_t r) : args(a), row(r) {}
  EPOCHD_HD_INLINE P fixed(u32 i) const {
    return P::load(args.columns.fixed + i * args.columns.stride + row);
  }
  EPOCHD_HD_INLINE P local(u32 i) const {
    return P::load(args.columns.main + i * args.columns.stride + row);
  }
  EPOCHD_HD_INLINE P param(u32 i) const { return P::broadcast(args.params[i]); }
  EPOCHD_HD_INLINE P constant(u64 v) const { return P::broadcast(Fp::from_u64(v)); }
  EPOCHD_HD_INLINE void assert_zero(const P& v, const char*) {
    const Fp3& a = args.alpha_powers[next++];
    sum = sum + Cubic<P>{P::broadcast(a.c0), P::broadcast(a.c1), P::broadcast(a.c2)} * v;
  }
  template <class... T>
  EPOCHD_HD_INLINE void interact(u8, bool, const char*, const T&...) {}
};

/// Adds the folded constraints of rows [begin, end) to out (three planes of `out_stride` Fp).
/// Pre: begin and end are multiples of P::kLanes.
template <class A, class P>
void fold_rows(const FoldArgs& args, size_t begin, size_t end, Fp* out, size_t out_stride) {
  for (size_t row = begin; row < end; row += P::kLanes) {
    PackedFold<P> c(args, row);
    A::eval(c);
    Fp* o = out + row;
    (P::load(o) + c.sum.c0).store(o);
    (P::load(o + out_stride) + c.sum.c1).store(o + out_stride);
    (P::load(o + 2 * out_stride) + c.sum.c2).store(o + 2 * out_stride);
  }
}
using FoldRows = void (*)(const FoldArgs&, size_t begin, size_t end, Fp* out, size_t out_stride);

}  // namespace epochd::prover
