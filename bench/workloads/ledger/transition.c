#include "transition.h"

#include "keccak256.h"

_Static_assert(sizeof(Account) == 8 * kAccountWords, "an account is its words");
_Static_assert(sizeof(Transfer) == 8 * kTransferWords, "a transfer is its words");

void transfer_message(uint64_t message[kMessageWords], const Transfer* transfer,
                      const Account* accounts) {
  message[0] = LEDGER_TRANSFER_TAG;
  for (int i = 0; i < 3; ++i) {
    message[1 + i] = accounts[transfer->from].address[i];
    message[4 + i] = accounts[transfer->to].address[i];
  }
  message[7] = transfer->nonce;
  message[8] = transfer->amount;
}

static int is_signed_by_sender(const Transfer* transfer, const Account* accounts) {
  uint64_t message[kMessageWords], digest[4], address[3];
  transfer_message(message, transfer, accounts);
  keccak256_words(digest, message, kMessageWords);
  AffinePoint key;
  if (!ecdsa_recover(&key, digest, &transfer->signature)) return 0;
  key_address(address, &key);
  const uint64_t* expected = accounts[transfer->from].address;
  return address[0] == expected[0] && address[1] == expected[1] && address[2] == expected[2];
}

static int move_amount(Account* from, Account* to, const Transfer* transfer) {
  if (transfer->nonce != from->nonce || transfer->amount > from->balance) return 0;
  if (from != to && to->balance + transfer->amount < to->balance) return 0;
  ++from->nonce;
  from->balance -= transfer->amount;
  to->balance += transfer->amount;
  return 1;
}

void apply_transfers(Account* accounts, size_t account_count, const Transfer* transfers,
                     size_t transfer_count, TransferCounts* counts) {
  *counts = (TransferCounts){0, 0, 0};
  for (size_t i = 0; i < transfer_count; ++i) {
    const Transfer* transfer = &transfers[i];
    if (transfer->from >= account_count || transfer->to >= account_count) {
      ++counts->refused;
    } else if (!is_signed_by_sender(transfer, accounts)) {
      ++counts->bad_signatures;
    } else if (!move_amount(&accounts[transfer->from], &accounts[transfer->to], transfer)) {
      ++counts->refused;
    } else {
      ++counts->accepted;
    }
  }
}

void state_root(uint64_t root[4], const Account* accounts, size_t count, uint64_t* scratch) {
  for (size_t i = 0; i < count; ++i) {
    keccak256_words(scratch + 4 * i, (const uint64_t*)&accounts[i], kAccountWords);
  }
  for (; count > 1; count /= 2) {
    for (size_t i = 0; i < count / 2; ++i) {
      keccak256_words(scratch + 4 * i, scratch + 8 * i, 8);
    }
  }
  for (int i = 0; i < 4; ++i) root[i] = scratch[i];
}
