/* The formulas of curve.h's points, inlined where they are used in a loop. */
#ifndef BENCH_WORKLOADS_LEDGER_JACOBIAN_H
#define BENCH_WORKLOADS_LEDGER_JACOBIAN_H

#include "curve.h"
#include "field.h"

/* 3 multiplications, 4 squares. With L = 3/2 X^2, S = Y^2, T = X S: X' = L^2 - 2 T,
 * Y' = L (T - X') - S^2, Z' = Y Z, which is the usual doubling with Z' halved. The curve has no
 * point with Y = 0, so infinity alone doubles to infinity. */
LEDGER_INLINE void jacobian_double(JacobianPoint* out, const JacobianPoint* a) {
  U256 l, s, t, u;
  field_square(&u, &a->x);
  field_double(&l, &u);
  field_add(&l, &l, &u);
  field_half(&l, &l);
  field_square(&s, &a->y);
  field_mul(&t, &a->x, &s);
  field_mul(&out->z, &a->y, &a->z);
  field_square(&u, &l);
  field_sub(&u, &u, &t);
  field_sub(&out->x, &u, &t);
  field_sub(&t, &t, &out->x);
  field_mul(&u, &l, &t);
  field_square(&s, &s);
  field_sub(&out->y, &u, &s);
}

/* The sum of finite a and b, 8 multiplications and 3 squares, and in *ratio what it multiplied a's
 * z by. Where a = b or a = -b it returns 0 and writes nothing. out may be a. */
LEDGER_INLINE int jacobian_add_unequal(JacobianPoint* out, const JacobianPoint* a,
                                       const AffinePoint* b, U256* ratio) {
  U256 zz, h, r, hh, hhh, v, t;
  field_square(&zz, &a->z);
  field_mul(&h, &b->x, &zz);
  field_sub(&h, &h, &a->x);
  if (LEDGER_UNLIKELY(field_is_zero(&h))) return 0;
  field_mul(&t, &zz, &a->z);
  field_mul(&r, &b->y, &t);
  field_sub(&r, &r, &a->y);
  field_square(&hh, &h);
  field_mul(&hhh, &hh, &h);
  field_mul(&v, &a->x, &hh);
  field_mul(&out->z, &a->z, &h);
  field_mul(&zz, &a->y, &hhh);
  field_square(&t, &r);
  field_sub(&t, &t, &hhh);
  field_sub(&t, &t, &v);
  field_sub(&out->x, &t, &v);
  field_sub(&v, &v, &out->x);
  field_mul(&t, &r, &v);
  field_sub(&out->y, &t, &zz);
  *ratio = h;
  return 1;
}

LEDGER_INLINE void jacobian_of_affine(JacobianPoint* out, const AffinePoint* a) {
  out->x = a->x;
  out->y = a->y;
  out->z = (U256){{1, 0, 0, 0}};
}

#endif /* BENCH_WORKLOADS_LEDGER_JACOBIAN_H */
