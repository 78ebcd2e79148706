/* The field of secp256k1 (SEC 2, section 2.4.1): integers modulo p = 2^256 - kFold. Elements are
 * kept below 2^256, not below p; field_normalize gives the canonical form, and only comparisons and
 * output need it. A carry out of 2^256 is worth kFold. Second carries are rare, and are taken by a
 * branch that costs one row when it is not. */
#ifndef BENCH_WORKLOADS_LEDGER_FIELD_H
#define BENCH_WORKLOADS_LEDGER_FIELD_H

#include "u256.h"

#define FIELD_FOLD 0x1000003D1ull

static const U256 kFieldModulus = {
    {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff}};

/* Adds a word to limb `from` upwards; returns the carry out. Carries rarely go on. */
LEDGER_INLINE uint64_t field_ripple(U256* a, int from, uint64_t word) {
  for (int i = from; i < 4; ++i) {
    a->limb[i] += word;
    if (a->limb[i] >= word) return 0;
    word = 1;
  }
  return 1;
}

LEDGER_INLINE uint64_t field_ripple_down(U256* a, uint64_t word) {
  for (int i = 0; i < 4; ++i) {
    uint64_t before = a->limb[i];
    a->limb[i] = before - word;
    if (before >= word) return 0;
    word = 1;
  }
  return 1;
}

LEDGER_INLINE void field_add(U256* out, const U256* a, const U256* b) {
  uint64_t carry = u256_add(out, a, b);
  while (LEDGER_UNLIKELY(carry)) carry = field_ripple(out, 0, FIELD_FOLD);
}

LEDGER_INLINE void field_sub(U256* out, const U256* a, const U256* b) {
  uint64_t borrow = u256_sub(out, a, b);
  while (LEDGER_UNLIKELY(borrow)) borrow = field_ripple_down(out, FIELD_FOLD);
}

LEDGER_INLINE void field_neg(U256* out, const U256* a) {
  U256 zero = {{0, 0, 0, 0}};
  field_sub(out, &zero, a);
}

LEDGER_INLINE void field_double(U256* out, const U256* a) {
  uint64_t carry = a->limb[3] >> 63;
  out->limb[3] = a->limb[3] << 1 | a->limb[2] >> 63;
  out->limb[2] = a->limb[2] << 1 | a->limb[1] >> 63;
  out->limb[1] = a->limb[1] << 1 | a->limb[0] >> 63;
  out->limb[0] = a->limb[0] << 1;
  while (LEDGER_UNLIKELY(carry)) carry = field_ripple(out, 0, FIELD_FOLD);
}

/* Half of a: of a + p where a is odd, whose bit 256 is the missing borrow of a - kFold. */
LEDGER_INLINE void field_half(U256* out, const U256* a) {
  *out = *a;
  uint64_t top = 0;
  if (a->limb[0] & 1) top = 1 - field_ripple_down(out, FIELD_FOLD);
  u256_halve(out, top);
}

/* wide mod p: the upper half times kFold joins the lower, twice. */
LEDGER_INLINE void field_reduce(U256* out, const uint64_t wide[8]) {
  uint64_t carry = 0;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    out->limb[i] = mul_add(wide[4 + i], FIELD_FOLD, wide[i], &carry);
  }
  U128 rest = (U128)carry * FIELD_FOLD + out->limb[0];
  out->limb[0] = (uint64_t)rest;
  carry = field_ripple(out, 1, (uint64_t)(rest >> 64));
  if (LEDGER_UNLIKELY(carry)) field_ripple(out, 0, FIELD_FOLD);
}

LEDGER_INLINE void field_mul(U256* out, const U256* a, const U256* b) {
  uint64_t wide[8];
  u256_mul_wide(wide, a, b);
  field_reduce(out, wide);
}

LEDGER_INLINE void field_square(U256* out, const U256* a) {
  uint64_t wide[8];
  u256_square_wide(wide, a);
  field_reduce(out, wide);
}

LEDGER_INLINE void field_normalize(U256* a) {
  if (!u256_less(a, &kFieldModulus)) u256_sub(a, a, &kFieldModulus);
}

/* a is 0 or p; the first test turns nearly everything else away. */
LEDGER_INLINE int field_is_zero(const U256* a) {
  if (a->limb[0] != 0 && a->limb[0] != kFieldModulus.limb[0]) return 0;
  return u256_is_zero(a) || u256_equal(a, &kFieldModulus);
}

LEDGER_INLINE int field_equal(const U256* a, const U256* b) {
  U256 difference;
  field_sub(&difference, a, b);
  return field_is_zero(&difference);
}

#endif /* BENCH_WORKLOADS_LEDGER_FIELD_H */
