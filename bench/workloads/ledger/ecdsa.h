/* ECDSA over secp256k1 with public-key recovery (SEC 1, sections 4.1.3 and 4.1.6), as Ethereum uses
 * it: one of two recovery ids, s in the lower half (EIP-2), an address per key. */
#ifndef BENCH_WORKLOADS_LEDGER_ECDSA_H
#define BENCH_WORKLOADS_LEDGER_ECDSA_H

#include "curve.h"
#include "u256.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  U256 r, s;
  uint64_t v; /* parity of the nonce point's y: 0 or 1 */
} Signature;

/* The 256-bit number of a big-endian 32-byte string held in four little-endian words, and back. */
void u256_from_digest(U256* out, const uint64_t digest[4]);
void u256_to_digest(uint64_t digest[4], const U256* a);

/* The key that signed the message with this digest; returns 0 when the signature is no signature of
 * any key: r or s out of [1, n), s above n / 2, v above 1, no point with that x, or a key at
 * infinity. */
int ecdsa_recover(AffinePoint* key, const uint64_t digest[4], const Signature* signature);

/* Signs with the secret key and nonce, both in [1, n); returns 0 when this nonce gives none. */
int ecdsa_sign(Signature* out, const uint64_t digest[4], const U256* secret, const U256* nonce);

/* secret G. Pre: 0 < secret < n. */
void ecdsa_public_key(AffinePoint* key, const U256* secret);

/* The last 20 bytes of the Keccak-256 of the key's 64 big-endian bytes: 4 bytes, then 8, then 8. */
void key_address(uint64_t address[3], const AffinePoint* key);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_WORKLOADS_LEDGER_ECDSA_H */
