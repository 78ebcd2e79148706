#include "modular.h"

const U256 kGroupOrder = {
    {0xbfd25e8cd0364141, 0xbaaedce6af48a03b, 0xfffffffffffffffe, 0xffffffffffffffff}};

/* 2^256 - n, below 2^129. */
static const uint64_t kOrderFold[3] = {0x402da1732fc9bebf, 0x4551231950b75fc4, 1};

static const U256 kHalfOrder = {
    {0xdfe92f46681b20a0, 0x5d576e7357a4501d, 0xffffffffffffffff, 0x7fffffffffffffff}};

void scalar_reduce(U256* out, const U256* a) {
  *out = *a;
  if (!u256_less(out, &kGroupOrder)) u256_sub(out, out, &kGroupOrder);
}

void scalar_add(U256* out, const U256* a, const U256* b) {
  uint64_t carry = u256_add(out, a, b);
  if (carry || !u256_less(out, &kGroupOrder)) u256_sub(out, out, &kGroupOrder);
}

void scalar_neg(U256* out, const U256* a) {
  U256 negated = {{0, 0, 0, 0}};
  if (!u256_is_zero(a)) u256_sub(&negated, &kGroupOrder, a);
  *out = negated;
}

/* Replaces the limbs from 4 up by their product with 2^256 - n, added below. */
static void fold_order(uint64_t wide[8]) {
  uint64_t high[4];
  for (int i = 0; i < 4; ++i) {
    high[i] = wide[4 + i];
    wide[4 + i] = 0;
  }
  for (int i = 0; i < 4; ++i) {
    if (high[i] == 0) continue;
    uint64_t carry = 0;
    for (int j = 0; j < 3; ++j) {
      wide[i + j] = mul_add(high[i], kOrderFold[j], wide[i + j], &carry);
    }
    for (int k = i + 3; k < 8 && carry != 0; ++k) {
      uint64_t sum = wide[k] + carry;
      carry = sum < carry;
      wide[k] = sum;
    }
  }
}

/* Each fold takes 127 bits off the upper half: 512, 385, 258 bits, then at most n too much. */
void scalar_mul(U256* out, const U256* a, const U256* b) {
  uint64_t wide[8];
  u256_mul_wide(wide, a, b);
  while ((wide[4] | wide[5] | wide[6] | wide[7]) != 0) fold_order(wide);
  U256 low = {{wide[0], wide[1], wide[2], wide[3]}};
  scalar_reduce(out, &low);
}

int scalar_is_high(const U256* a) {
  return u256_less(&kHalfOrder, a);
}

/* --- Inverses --- */

enum { kStepBits = 31 };

static const uint64_t kStepMask = (1ull << kStepBits) - 1;

/* A number of 5 limbs with its sign apart. */
typedef struct {
  uint64_t limb[5];
  int is_negative;
} Wide;

static uint64_t magnitude(int64_t x) {
  return (uint64_t)(x < 0 ? -x : x);
}

static void negate(Wide* x) {
  uint64_t borrow = 0;
  for (int i = 0; i < 5; ++i) x->limb[i] = sub_borrow(0, x->limb[i], &borrow);
}

/* f x + g y. */
static void linear(Wide* out, const U256* x, int64_t f, const U256* y, int64_t g) {
  uint64_t of_x = 0, of_y = 0, carry = 0;
  const uint64_t f_magnitude = magnitude(f), g_magnitude = magnitude(g);
  out->is_negative = f < 0;
  if ((f < 0) == (g < 0)) {
    for (int i = 0; i < 4; ++i) {
      const uint64_t left = mul_add(x->limb[i], f_magnitude, 0, &of_x);
      out->limb[i] = add_carry(left, mul_add(y->limb[i], g_magnitude, 0, &of_y), &carry);
    }
    out->limb[4] = of_x + of_y + carry;
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const uint64_t left = mul_add(x->limb[i], f_magnitude, 0, &of_x);
    out->limb[i] = sub_borrow(left, mul_add(y->limb[i], g_magnitude, 0, &of_y), &carry);
  }
  out->limb[4] = of_x - of_y - carry;
  if (out->limb[4] >> 63) {
    negate(out);
    out->is_negative = !out->is_negative;
  }
}

/* The magnitude without its lowest 31 bits, which are 0 or not wanted. */
static void shift_step(U256* out, const Wide* x) {
  for (int i = 0; i < 4; ++i) {
    out->limb[i] = x->limb[i] >> kStepBits | x->limb[i + 1] << (64 - kStepBits);
  }
}

/* f x + g y over 2^31 modulo m, as Montgomery divides: a multiple of m clears the lowest bits.
 * Pre: x, y < m, |f| + |g| <= 2^31, minus_inverse = -1 / m modulo 2^31. */
static void linear_modulo(U256* out, const U256* x, int64_t f, const U256* y, int64_t g,
                          const U256* m, uint64_t minus_inverse) {
  Wide sum;
  linear(&sum, x, f, y, g);
  const uint64_t factor = (sum.limb[0] * minus_inverse) & kStepMask;
  uint64_t carry = 0;
  for (int i = 0; i < 4; ++i) sum.limb[i] = mul_add(m->limb[i], factor, sum.limb[i], &carry);
  sum.limb[4] += carry;
  shift_step(out, &sum);
  /* Below 2 m, whose bit 256 the shift has dropped. */
  if (sum.limb[4] >> kStepBits || !u256_less(out, m)) u256_sub(out, out, m);
  if (sum.is_negative && !u256_is_zero(out)) u256_sub(out, m, out);
}

/* The 33 highest bits of a, counted from the higher of a and b, over the 31 lowest. Both whole
 * where they fit. */
static uint64_t approximate(const U256* a, int top, int shift) {
  if (top == 0) return a->limb[0];
  uint64_t high = a->limb[top];
  if (shift > 0) high = high << shift | a->limb[top - 1] >> (64 - shift);
  return (high & ~kStepMask) | (a->limb[0] & kStepMask);
}

/* What 31 steps of the binary algorithm do to (a, b), as factors f0, g0, f1, g1 over 2^31. */
static void take_steps(int64_t factors[4], uint64_t a, uint64_t b) {
  int64_t f0 = 1, g0 = 0, f1 = 0, g1 = 1;
  for (int i = 0; i < kStepBits; ++i) {
    if (a & 1) {
      if (a < b) {
        const uint64_t larger = b;
        const int64_t f = f1, g = g1;
        b = a, f1 = f0, g1 = g0;
        a = larger, f0 = f, g0 = g;
      }
      a -= b, f0 -= f1, g0 -= g1;
    }
    a >>= 1, f1 *= 2, g1 *= 2;
  }
  factors[0] = f0, factors[1] = g0, factors[2] = f1, factors[3] = g1;
}

/* The new a or b: |f a + g b| / 2^31. The factors take its sign, for the cofactors to follow. */
static void step_number(U256* out, const U256* a, const U256* b, int64_t factor[2]) {
  Wide sum;
  linear(&sum, a, factor[0], b, factor[1]);
  shift_step(out, &sum);
  if (sum.is_negative) factor[0] = -factor[0], factor[1] = -factor[1];
}

/* Pornin's binary GCD (IACR ePrint 2020/972, algorithm 2): 31 steps at a time on one word each of a
 * and b, then on all of them. Throughout, a = x u and b = x v modulo m, for the x to invert. */
void modular_inverse(U256* out, const U256* x, const U256* m) {
  U256 a = *x, b = *m;
  U256 u = {{1, 0, 0, 0}}, v = {{0, 0, 0, 0}};
  uint64_t inverse = 1; /* of m modulo powers of two; each round doubles the bits that are right */
  for (int i = 0; i < 6; ++i) inverse *= 2 - m->limb[0] * inverse;
  while (!u256_is_zero(&a)) {
    int top = 3;
    while (top > 0 && (a.limb[top] | b.limb[top]) == 0) --top;
    int shift = 0;
    while (((a.limb[top] | b.limb[top]) << shift) >> 63 == 0) ++shift;
    int64_t factors[4];
    take_steps(factors, approximate(&a, top, shift), approximate(&b, top, shift));
    U256 next_a, next_b, next_u;
    step_number(&next_a, &a, &b, factors);
    step_number(&next_b, &a, &b, factors + 2);
    a = next_a;
    b = next_b;
    linear_modulo(&next_u, &u, factors[0], &v, factors[1], m, -inverse);
    linear_modulo(&v, &u, factors[2], &v, factors[3], m, -inverse);
    u = next_u;
  }
  *out = v;
}
