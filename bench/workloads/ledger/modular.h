/* Integers modulo the order n of secp256k1's group (SEC 2, section 2.4.1), and inverses modulo any
 * odd prime. Scalars are canonical: below n. */
#ifndef BENCH_WORKLOADS_LEDGER_MODULAR_H
#define BENCH_WORKLOADS_LEDGER_MODULAR_H

#include "u256.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const U256 kGroupOrder;

/* The value of any 256-bit a modulo n. */
void scalar_reduce(U256* out, const U256* a);
void scalar_add(U256* out, const U256* a, const U256* b);
void scalar_neg(U256* out, const U256* a);
void scalar_mul(U256* out, const U256* a, const U256* b);
/* 2 a > n. */
int scalar_is_high(const U256* a);

/* out = a^-1 modulo the odd prime m. Pre: 0 < a < m. */
void modular_inverse(U256* out, const U256* a, const U256* m);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_WORKLOADS_LEDGER_MODULAR_H */
