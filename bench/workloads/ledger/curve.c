#include "curve.h"

#include "field.h"
#include "jacobian.h"
#include "modular.h"

const AffinePoint kGenerator = {
    {{0x59f2815b16f81798, 0x029bfcdb2dce28d9, 0x55a06295ce870b07, 0x79be667ef9dcbbac}},
    {{0x9c47d08ffb10d4b8, 0xfd17b448a6855419, 0x5da4fbfc0e1108a8, 0x483ada7726a3c465}}};

int point_is_infinity(const JacobianPoint* a) {
  return field_is_zero(&a->z);
}

void point_double(JacobianPoint* out, const JacobianPoint* a) {
  jacobian_double(out, a);
}

/* a + b where both have the same x: the double when y is equal too, else infinity. */
static void add_same_x(JacobianPoint* out, const JacobianPoint* a, const AffinePoint* b) {
  U256 zzz, y;
  field_square(&zzz, &a->z);
  field_mul(&zzz, &zzz, &a->z);
  field_mul(&y, &b->y, &zzz);
  if (field_equal(&y, &a->y)) {
    point_double(out, a);
  } else {
    *out = (JacobianPoint){{{1, 0, 0, 0}}, {{1, 0, 0, 0}}, {{0, 0, 0, 0}}};
  }
}

void point_add(JacobianPoint* out, const JacobianPoint* a, const AffinePoint* b) {
  if (LEDGER_UNLIKELY(point_is_infinity(a))) {
    jacobian_of_affine(out, b);
    return;
  }
  U256 ratio;
  if (LEDGER_UNLIKELY(!jacobian_add_unequal(out, a, b, &ratio))) add_same_x(out, a, b);
}

void point_to_affine(AffinePoint* out, const JacobianPoint* a) {
  U256 z = a->z, inverse, square;
  field_normalize(&z);
  modular_inverse(&inverse, &z, &kFieldModulus);
  field_square(&square, &inverse);
  field_mul(&out->x, &a->x, &square);
  field_mul(&square, &square, &inverse);
  field_mul(&out->y, &a->y, &square);
  field_normalize(&out->x);
  field_normalize(&out->y);
}

/* a^(2^count) b. */
static void square_times(U256* out, const U256* a, int count, const U256* b) {
  U256 x = *a;
  for (int i = 0; i < count; ++i) field_square(&x, &x);
  field_mul(out, &x, b);
}

/* a^((p + 1) / 4), a square root where there is one. The exponent is, from the top: 223 ones, a
 * zero, 22 ones, 0000 11 00. */
static void field_sqrt_power(U256* out, const U256* a) {
  U256 ones2, ones3, ones6, ones9, ones11, ones22, ones44, ones88, x;
  square_times(&ones2, a, 1, a);
  square_times(&ones3, &ones2, 1, a);
  square_times(&ones6, &ones3, 3, &ones3);
  square_times(&ones9, &ones6, 3, &ones3);
  square_times(&ones11, &ones9, 2, &ones2);
  square_times(&ones22, &ones11, 11, &ones11);
  square_times(&ones44, &ones22, 22, &ones22);
  square_times(&ones88, &ones44, 44, &ones44);
  square_times(&x, &ones88, 88, &ones88);
  square_times(&x, &x, 44, &ones44);
  square_times(&x, &x, 3, &ones3);
  square_times(&x, &x, 23, &ones22);
  square_times(&x, &x, 6, &ones2);
  field_square(&x, &x);
  field_square(out, &x);
}

int point_from_x(AffinePoint* out, const U256* x, int y_is_odd) {
  const U256 seven = {{7, 0, 0, 0}};
  U256 right, root, square;
  field_square(&square, x);
  field_mul(&right, &square, x);
  field_add(&right, &right, &seven);
  field_sqrt_power(&root, &right);
  field_square(&square, &root);
  if (!field_equal(&square, &right)) return 0;
  field_normalize(&root);
  if ((root.limb[0] & 1) != (uint64_t)y_is_odd) {
    field_neg(&root, &root);
    field_normalize(&root);
  }
  out->x = *x;
  out->y = root;
  return 1;
}
