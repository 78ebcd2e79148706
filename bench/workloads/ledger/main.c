/* ledger: applies a block of signed transfers to its accounts (transition.h has the input's
 * format). Emits the state root before (4 words), the Keccak-256 of the transfers' words (4), the
 * state root after (4), then how many transfers were accepted, had a bad signature, were refused.
 * Exits with 1 when the input is no block. */
#include "epochd.h"
#include "keccak256.h"
#include "transition.h"

static Account accounts[kAccountsMax];
static uint64_t scratch[4 * kAccountsMax];

static void emit_digest(const uint64_t digest[4]) {
  for (int i = 0; i < 4; ++i) epochd_emit(digest[i]);
}

int main(void) {
  const uint64_t* words = epochd_input_region() + 1;
  const size_t word_count = epochd_input_length() / 8;
  if (word_count < 2 || epochd_input_length() % 8 != 0) return 1;
  const size_t account_count = words[0];
  const size_t transfer_count = words[1];
  if (account_count == 0 || account_count > kAccountsMax) return 1;
  if ((account_count & (account_count - 1)) != 0 || transfer_count > word_count) return 1;
  if (word_count != 2 + kAccountWords * account_count + kTransferWords * transfer_count) return 1;

  memcpy(accounts, words + 2, sizeof(Account) * account_count);
  const uint64_t* transfers = words + 2 + kAccountWords * account_count;
  uint64_t digest[4];
  state_root(digest, accounts, account_count, scratch);
  emit_digest(digest);
  keccak256_words(digest, transfers, kTransferWords * transfer_count);
  emit_digest(digest);

  TransferCounts counts;
  apply_transfers(accounts, account_count, (const Transfer*)transfers, transfer_count, &counts);
  state_root(digest, accounts, account_count, scratch);
  emit_digest(digest);
  epochd_emit(counts.accepted);
  epochd_emit(counts.bad_signatures);
  epochd_emit(counts.refused);
  return 0;
}
