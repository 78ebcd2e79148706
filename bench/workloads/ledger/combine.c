/* point_combine: scalars in signed digits, split in halves, and the pass over them. */
#include "curve.h"
#include "field.h"
#include "jacobian.h"
#include "modular.h"

/* --- Scalars --- */

enum { kPointWindow = 5, kPointPoints = 1 << (kPointWindow - 2), kDigits = 130 };

/* A scalar below 2^128 in digits that are 0 or odd and below 2^(window - 1) in absolute value, the
 * lowest first, no two of any `window` in a row non-zero; `sign` is -1 to negate them all. Returns
 * how many digits there are. */
static int recode(int16_t digits[kDigits], uint64_t low, uint64_t high, int window, int sign) {
  const int64_t size = 1ll << window;
  int count = 0;
  uint64_t top = 0; /* a carry out of 128 bits */
  for (int i = 0; (low | high | top) != 0; ++i) {
    int64_t digit = 0;
    if (low & 1) {
      digit = (int64_t)(low & (uint64_t)(size - 1));
      low -= (uint64_t)digit;
      if (digit >= size / 2) {
        digit -= size;
        low += (uint64_t)size;
        uint64_t carry = low == 0;
        high += carry;
        top += carry & (high == 0);
      }
      count = i + 1;
    }
    digits[i] = (int16_t)(sign * digit);
    low = low >> 1 | high << 63;
    high = high >> 1 | top << 63;
    top = 0;
  }
  return count;
}

/* (a b + 2^383) / 2^384. */
static void multiply_shift_384(U256* out, const U256* a, const U256* b) {
  uint64_t wide[8];
  u256_mul_wide(wide, a, b);
  uint64_t carry = wide[5] >> 63;
  out->limb[0] = add_carry(wide[6], 0, &carry);
  out->limb[1] = wide[7] + carry;
  out->limb[2] = out->limb[3] = 0;
}

/* k = k1 + k2 lambda with both below 2^128 in absolute value, recoded. The short lattice vectors
 * (a1, b1), (a2, b2) come from the extended Euclidean algorithm on n and lambda; the factors are
 * 2^384 b2 / n and -2^384 b1 / n, rounded. */
static int split_scalar(int16_t first[kDigits], int16_t second[kDigits], const U256* k) {
  static const U256 kFactor1 = {
      {0xe893209a45dbb031, 0x3daa8a1471e8ca7f, 0xe86c90e49284eb15, 0x3086d221a7d46bcd}};
  static const U256 kFactor2 = {
      {0x1571b4ae8ac47f71, 0x221208ac9df506c6, 0x6f547fa90abfe4c4, 0xe4437ed6010e8828}};
  static const U256 kMinusB1 = {{0x6f547fa90abfe4c3, 0xe4437ed6010e8828, 0, 0}};
  static const U256 kB2 = {{0xe86c90e49284eb15, 0x3086d221a7d46bcd, 0, 0}};
  static const U256 kMinusLambda = {
      {0xe0cfc810b51283cf, 0xa880b9fc8ec739c2, 0x5ad9e3fd77ed9ba4, 0xac9c52b33fa3cf1f}};
  U256 c1, c2, k1, k2;
  multiply_shift_384(&c1, k, &kFactor1);
  multiply_shift_384(&c2, k, &kFactor2);
  scalar_mul(&c1, &c1, &kMinusB1);
  scalar_mul(&c2, &c2, &kB2);
  scalar_neg(&c2, &c2);
  scalar_add(&k2, &c1, &c2);
  scalar_mul(&k1, &k2, &kMinusLambda);
  scalar_add(&k1, &k1, k);
  int sign1 = 1, sign2 = 1;
  if (scalar_is_high(&k1)) scalar_neg(&k1, &k1), sign1 = -1;
  if (scalar_is_high(&k2)) scalar_neg(&k2, &k2), sign2 = -1;
  int count1 = recode(first, k1.limb[0], k1.limb[1], kPointWindow, sign1);
  int count2 = recode(second, k2.limb[0], k2.limb[1], kPointWindow, sign2);
  return count1 > count2 ? count1 : count2;
}

/* --- Multiplication --- */

/* P, 3 P, 5 P, ... as affine points of the curve y^2 = x^3 + 7 z^6, which has the same doubling and
 * addition, for the z in *z: no inversion. */
static void odd_multiples(AffinePoint table[kPointPoints], U256* z, const AffinePoint* p) {
  JacobianPoint twice, sum;
  U256 ratio[kPointPoints], zz, zzz;
  jacobian_of_affine(&sum, p);
  jacobian_double(&twice, &sum);
  AffinePoint step = {twice.x, twice.y}; /* 2 P, affine where z = twice.z */
  field_square(&zz, &twice.z);
  field_mul(&zzz, &zz, &twice.z);
  field_mul(&sum.x, &p->x, &zz);
  field_mul(&sum.y, &p->y, &zzz);
  table[0] = (AffinePoint){sum.x, sum.y};
  for (int i = 1; i < kPointPoints; ++i) {
    /* P has the group's order, so no odd multiple this small is 2 P or -2 P. */
    JacobianPoint next;
    jacobian_add_unequal(&next, &sum, &step, &ratio[i]);
    sum = next;
    table[i] = (AffinePoint){sum.x, sum.y};
  }
  field_mul(z, &sum.z, &twice.z);
  U256 factor = ratio[kPointPoints - 1];
  for (int i = kPointPoints - 2; i >= 0; --i) {
    field_square(&zz, &factor);
    field_mul(&zzz, &zz, &factor);
    field_mul(&table[i].x, &table[i].x, &zz);
    field_mul(&table[i].y, &table[i].y, &zzz);
    if (i > 0) field_mul(&factor, &factor, &ratio[i]);
  }
}

LEDGER_INLINE int index_of(int digit) {
  return (digit < 0 ? -digit : digit) >> 1;
}

static void add_multiple(JacobianPoint* sum, const AffinePoint* table, int digit) {
  AffinePoint term = table[index_of(digit)];
  if (digit < 0) field_neg(&term.y, &term.y);
  point_add(sum, sum, &term);
}

/* The generator's table is of the curve itself: a point of it joins the curve of *z by z^2, z^3. */
static void add_generator_multiple(JacobianPoint* sum, const uint64_t (*table)[8], int digit,
                                   const U256* zz, const U256* zzz) {
  const uint64_t* limbs = table[index_of(digit)];
  U256 x = {{limbs[0], limbs[1], limbs[2], limbs[3]}};
  U256 y = {{limbs[4], limbs[5], limbs[6], limbs[7]}};
  AffinePoint term;
  field_mul(&term.x, &x, zz);
  field_mul(&term.y, &y, zzz);
  if (digit < 0) field_neg(&term.y, &term.y);
  point_add(sum, sum, &term);
}

void point_combine(JacobianPoint* out, const U256* g, const U256* k, const AffinePoint* p) {
  static const U256 kBeta = {
      {0xc1396c28719501ee, 0x9cf0497512f58995, 0x6e64479eac3434e9, 0x7ae96a2b657c0710}};
  int16_t digits[4][kDigits] = {{0}};
  int count = split_scalar(digits[0], digits[1], k);
  for (int half = 0; half < 2; ++half) {
    int used =
        recode(digits[2 + half], g->limb[2 * half], g->limb[2 * half + 1], kGeneratorWindow, 1);
    if (used > count) count = used;
  }

  AffinePoint table[2][kPointPoints]; /* of P, and of lambda P = (beta x, y) */
  U256 z, zz, zzz;
  odd_multiples(table[0], &z, p);
  for (int i = 0; i < kPointPoints; ++i) {
    field_mul(&table[1][i].x, &table[0][i].x, &kBeta);
    table[1][i].y = table[0][i].y;
  }
  field_square(&zz, &z);
  field_mul(&zzz, &zz, &z);

  JacobianPoint sum = {{{1, 0, 0, 0}}, {{1, 0, 0, 0}}, {{0, 0, 0, 0}}};
  for (int i = count - 1; i >= 0; --i) {
    jacobian_double(&sum, &sum);
    for (int which = 0; which < 2; ++which) {
      const int digit = digits[which][i];
      if (digit != 0) add_multiple(&sum, table[which], digit);
    }
    for (int which = 0; which < 2; ++which) {
      const int digit = digits[2 + which][i];
      if (digit != 0) add_generator_multiple(&sum, kGeneratorTable[which], digit, &zz, &zzz);
    }
  }
  *out = sum;
  field_mul(&out->z, &sum.z, &z);
}
