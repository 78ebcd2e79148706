/* 256-bit unsigned integers in four 64-bit limbs, the lowest first. RISC-V has no carry flag, so a
 * carry is the comparison of a sum with an addend. */
#ifndef BENCH_WORKLOADS_LEDGER_U256_H
#define BENCH_WORKLOADS_LEDGER_U256_H

#include <stdint.h>

/* Every operation on the hot path is inlined: a call would spill the limbs it has in registers. */
#define LEDGER_INLINE static inline __attribute__((always_inline, unused))
#define LEDGER_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

typedef struct {
  uint64_t limb[4];
} U256;

__extension__ typedef unsigned __int128 U128;

LEDGER_INLINE uint64_t add_carry(uint64_t a, uint64_t b, uint64_t* carry) {
  uint64_t with_carry = a + *carry;
  uint64_t sum = with_carry + b;
  *carry = (uint64_t)(with_carry < a) + (uint64_t)(sum < b);
  return sum;
}

LEDGER_INLINE uint64_t sub_borrow(uint64_t a, uint64_t b, uint64_t* borrow) {
  uint64_t difference = a - b;
  uint64_t result = difference - *borrow;
  *borrow = (uint64_t)(a < b) + (uint64_t)(difference < *borrow);
  return result;
}

/* a * b + c + *carry, which cannot overflow 128 bits; the high half goes to *carry. */
LEDGER_INLINE uint64_t mul_add(uint64_t a, uint64_t b, uint64_t c, uint64_t* carry) {
  U128 sum = (U128)a * b + c + *carry;
  *carry = (uint64_t)(sum >> 64);
  return (uint64_t)sum;
}

/* Returns the carry out of 256 bits. */
LEDGER_INLINE uint64_t u256_add(U256* out, const U256* a, const U256* b) {
  uint64_t carry = 0;
  for (int i = 0; i < 4; ++i) out->limb[i] = add_carry(a->limb[i], b->limb[i], &carry);
  return carry;
}

/* Returns the borrow. */
LEDGER_INLINE uint64_t u256_sub(U256* out, const U256* a, const U256* b) {
  uint64_t borrow = 0;
  for (int i = 0; i < 4; ++i) out->limb[i] = sub_borrow(a->limb[i], b->limb[i], &borrow);
  return borrow;
}

LEDGER_INLINE int u256_is_zero(const U256* a) {
  return (a->limb[0] | a->limb[1] | a->limb[2] | a->limb[3]) == 0;
}

LEDGER_INLINE int u256_equal(const U256* a, const U256* b) {
  for (int i = 0; i < 4; ++i) {
    if (a->limb[i] != b->limb[i]) return 0;
  }
  return 1;
}

LEDGER_INLINE int u256_less(const U256* a, const U256* b) {
  for (int i = 3; i > 0; --i) {
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i];
  }
  return a->limb[0] < b->limb[0];
}

/* Shifts right by one bit; `top` becomes bit 255. */
LEDGER_INLINE void u256_halve(U256* a, uint64_t top) {
  for (int i = 0; i < 3; ++i) a->limb[i] = a->limb[i] >> 1 | a->limb[i + 1] << 63;
  a->limb[3] = a->limb[3] >> 1 | top << 63;
}

/* The whole 512-bit product, lowest limb first. */
LEDGER_INLINE void u256_mul_wide(uint64_t out[8], const U256* a, const U256* b) {
  uint64_t carry = 0;
  for (int j = 0; j < 4; ++j) {
    U128 product = (U128)a->limb[0] * b->limb[j] + carry;
    out[j] = (uint64_t)product;
    carry = (uint64_t)(product >> 64);
  }
  out[4] = carry;
#pragma GCC unroll 3
  for (int i = 1; i < 4; ++i) {
    carry = 0;
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      out[i + j] = mul_add(a->limb[i], b->limb[j], out[i + j], &carry);
    }
    out[i + 4] = carry;
  }
}

/* The square: each mixed product once, doubled by a shift, then the four squares. */
LEDGER_INLINE void u256_square_wide(uint64_t out[8], const U256* a) {
  uint64_t carry = 0;
  out[1] = mul_add(a->limb[0], a->limb[1], 0, &carry);
  out[2] = mul_add(a->limb[0], a->limb[2], 0, &carry);
  out[3] = mul_add(a->limb[0], a->limb[3], 0, &carry);
  out[4] = carry;
  carry = 0;
  out[3] = mul_add(a->limb[1], a->limb[2], out[3], &carry);
  out[4] = mul_add(a->limb[1], a->limb[3], out[4], &carry);
  out[5] = carry;
  carry = 0;
  out[5] = mul_add(a->limb[2], a->limb[3], out[5], &carry);
  out[6] = carry;
  out[7] = out[6] >> 63;
#pragma GCC unroll 5
  for (int i = 6; i > 1; --i) out[i] = out[i] << 1 | out[i - 1] >> 63;
  out[1] <<= 1;
  carry = 0;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    U128 square = (U128)a->limb[i] * a->limb[i];
    out[2 * i] = i == 0 ? (uint64_t)square : add_carry(out[2 * i], (uint64_t)square, &carry);
    out[2 * i + 1] = add_carry(out[2 * i + 1], (uint64_t)(square >> 64), &carry);
  }
}

#endif /* BENCH_WORKLOADS_LEDGER_U256_H */
