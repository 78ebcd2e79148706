/* The ledger's state transition: accounts, signed transfers, state roots.
 *
 * A block is words, little endian: the number of accounts (a power of two), the number of
 * transfers, the accounts, the transfers. The message of a transfer, whose Keccak-256 is signed, is
 * 72 bytes in words: kTransferTag, the sender's address, the receiver's address, nonce, amount. */
#ifndef BENCH_WORKLOADS_LEDGER_TRANSITION_H
#define BENCH_WORKLOADS_LEDGER_TRANSITION_H

#include <stddef.h>
#include <stdint.h>

#include "ecdsa.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEDGER_TRANSFER_TAG 0x726566736e617274ull /* "transfer" */

enum {
  kAccountsMax = 1 << 14,
  kAccountWords = 5,
  kTransferWords = 13,
  kMessageWords = 9,
};

typedef struct {
  uint64_t address[3]; /* 20 bytes: 4, zero padded, 8, 8 */
  uint64_t nonce;
  uint64_t balance;
} Account;

typedef struct {
  uint64_t from, to; /* account indices */
  uint64_t nonce, amount;
  Signature signature;
} Transfer;

typedef struct {
  uint64_t accepted;
  uint64_t bad_signatures; /* the signature is not the sender's, or none at all */
  uint64_t refused;        /* signed, but no such account, a wrong nonce, or too little balance */
} TransferCounts;

void transfer_message(uint64_t message[kMessageWords], const Transfer* transfer,
                      const Account* accounts);

/* Applies the transfers in order; one that is not accepted changes nothing. */
void apply_transfers(Account* accounts, size_t account_count, const Transfer* transfers,
                     size_t transfer_count, TransferCounts* counts);

/* The root of the binary tree of Keccak-256 over the accounts: a leaf is the hash of an account's
 * 40 bytes, a node that of its children's 64. scratch: 4 words an account. */
void state_root(uint64_t root[4], const Account* accounts, size_t count, uint64_t* scratch);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_WORKLOADS_LEDGER_TRANSITION_H */
