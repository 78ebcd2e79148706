/* Keccak-256 with the original padding (Ethereum's, not SHA3-256's), of whole words. */
#ifndef BENCH_WORKLOADS_LEDGER_KECCAK256_H
#define BENCH_WORKLOADS_LEDGER_KECCAK256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Digest and message are bytes in little-endian words. */
void keccak256_words(uint64_t digest[4], const uint64_t* words, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_WORKLOADS_LEDGER_KECCAK256_H */
