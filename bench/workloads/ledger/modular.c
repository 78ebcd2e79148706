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

/* x / 2 modulo m. */
LEDGER_INLINE void halve_modulo(U256* x, const U256* m) {
  uint64_t carry = 0;
  if (x->limb[0] & 1) carry = u256_add(x, x, m);
  u256_halve(x, carry);
}

LEDGER_INLINE void sub_modulo(U256* x, const U256* y, const U256* m) {
  if (u256_sub(x, x, y)) u256_add(x, x, m);
}

/* The binary extended Euclidean algorithm (Knuth, The Art of Computer Programming, volume 2,
 * section 4.5.2, algorithm B extended): u = a x, v = a y modulo m throughout. */
void modular_inverse(U256* out, const U256* a, const U256* m) {
  U256 u = *a, v = *m;
  U256 x = {{1, 0, 0, 0}}, y = {{0, 0, 0, 0}};
  for (;;) {
    while ((u.limb[0] & 1) == 0) {
      u256_halve(&u, 0);
      halve_modulo(&x, m);
    }
    if (u.limb[0] == 1 && (u.limb[1] | u.limb[2] | u.limb[3]) == 0) break;
    if (u256_less(&u, &v)) {
      U256 swapped = u;
      u = v;
      v = swapped;
      swapped = x;
      x = y;
      y = swapped;
    }
    u256_sub(&u, &u, &v);
    sub_modulo(&x, &y, m);
  }
  *out = x;
}
