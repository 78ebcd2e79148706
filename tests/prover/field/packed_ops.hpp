// Applies one pack operation to whole arrays, so that a test compiled for any CPU can call packs
// that are not: one translation unit per instruction set includes this.
#pragma once

#include "prover/field/split_factor.hpp"

namespace epochd::prover {

enum class PackOp {
  kAdd,
  kSub,
  kMul,
  kNegate,
  kAddAssign,
  kSubAssign,
  kMulAssign,
  kTimes12,
  kTimes24,
  kTimes36,
  kTimes48,
  kTimes60,
  kTimes72,
  kTimes84,
  kBroadcast,
};

/// out[i] = a[i] op b[i]. kBroadcast: out = a[0] everywhere. Pre: n is a multiple of 8.
using PackOpFn = void (*)(PackOp op, const Fp* a, const Fp* b, Fp* out, size_t n);
/// Products in K, by coordinates: out, a, b are 3 arrays of n values one after the other.
using CubicMulFn = void (*)(const Fp* a, const Fp* b, Fp* out, size_t n);

/// out[l] = sum over t < terms of a[8 t + l] * b[8 t + l], l < 8, by P::Sum; with constants, b[8 t]
/// stands for all of b[8 t + l]. Pre: terms <= kSumTermsMax.
using SumFn = void (*)(bool constants, const Fp* a, const Fp* b, u32 terms, Fp* out);

struct PackUnderTest {
  PackOpFn op;
  CubicMulFn cubic_mul;
  SumFn sum_of_products;
};
PackUnderTest packed_scalar_ops();
PackUnderTest packed_avx2_ops();
PackUnderTest packed_avx512_ops();

namespace {

template <class P>
P apply_one(PackOp op, P a, P b) {
  P c = a;
  switch (op) {
    case PackOp::kAdd:
      return a + b;
    case PackOp::kSub:
      return a - b;
    case PackOp::kMul:
      return a * b;
    case PackOp::kNegate:
      return -a;
    case PackOp::kAddAssign:
      return c += b;
    case PackOp::kSubAssign:
      return c -= b;
    case PackOp::kMulAssign:
      return c *= b;
    case PackOp::kTimes12:
      return a.template times_power_of_2<12>();
    case PackOp::kTimes24:
      return a.template times_power_of_2<24>();
    case PackOp::kTimes36:
      return a.template times_power_of_2<36>();
    case PackOp::kTimes48:
      return a.template times_power_of_2<48>();
    case PackOp::kTimes60:
      return a.template times_power_of_2<60>();
    case PackOp::kTimes72:
      return a.template times_power_of_2<72>();
    case PackOp::kTimes84:
      return a.template times_power_of_2<84>();
    case PackOp::kBroadcast:
      break;
  }
  return P();
}

template <class P>
void apply_all(PackOp op, const Fp* a, const Fp* b, Fp* out, size_t n) {
  for (size_t i = 0; i < n; i += P::kLanes) {
    const P r =
        op == PackOp::kBroadcast ? P::broadcast(a) : apply_one(op, P::load(a + i), P::load(b + i));
    r.store(out + i);
  }
}

template <class P>
void cubic_mul_all(const Fp* a, const Fp* b, Fp* out, size_t n) {
  for (size_t i = 0; i < n; i += P::kLanes) {
    const Cubic<P> x{P::load(a + i), P::load(a + n + i), P::load(a + 2 * n + i)};
    const Cubic<P> y{P::load(b + i), P::load(b + n + i), P::load(b + 2 * n + i)};
    const Cubic<P> z = x * y;
    z.c0.store(out + i);
    z.c1.store(out + n + i);
    z.c2.store(out + 2 * n + i);
  }
}

template <class P>
void sum_of_products_all(bool constants, const Fp* a, const Fp* b, u32 terms, Fp* out) {
  for (size_t l = 0; l < 8; l += P::kLanes) {
    typename P::Sum sum;
    for (u32 t = 0; t < terms; ++t) {
      const typename P::Pieces x = P::load(a + 8 * t + l).pieces();
      if (constants) {
        sum.add(x, SplitFactor(b[8 * t]));
      } else {
        sum.add(x, P::load(b + 8 * t + l).factors());
      }
    }
    sum.value().store(out + l);
  }
}

}  // namespace
}  // namespace epochd::prover
