#include "bench/workloads/ledger/fixture.hpp"

#include <algorithm>
#include <bit>

#include "bench/workloads/ledger/keccak256.h"
#include "bench/workloads/ledger/modular.h"
#include "bench/workloads/ledger/transition.h"

namespace epochd::bench {
namespace {

constexpr uint64_t kStartBalance = 1'000'000'000;

/// What a derived number is for; no two purposes share one.
enum class Purpose : uint64_t { kSecret = 1, kNonce, kChoice };

/// A number in [1, n): Keccak-256 of seed, purpose, index and attempt, the first in range.
U256 derive_scalar(uint64_t seed, Purpose purpose, uint64_t index, const uint64_t* more = nullptr) {
  for (uint64_t attempt = 0;; ++attempt) {
    uint64_t words[8] = {seed, static_cast<uint64_t>(purpose), index, attempt};
    if (more != nullptr) std::copy_n(more, 4, words + 4);
    uint64_t digest[4];
    keccak256_words(digest, words, 8);
    U256 scalar;
    u256_from_digest(&scalar, digest);
    if (!u256_is_zero(&scalar) && u256_less(&scalar, &kGroupOrder)) return scalar;
  }
}

Account make_account(const U256& secret) {
  AffinePoint key;
  ecdsa_public_key(&key, &secret);
  Account account = {};
  key_address(account.address, &key);
  account.balance = kStartBalance;
  return account;
}

/// Signs with the sender's key; the nonce depends on key and message, as RFC 6979 asks.
void sign(Transfer& transfer, const std::vector<Account>& accounts, uint64_t seed,
          const U256& secret) {
  uint64_t message[kMessageWords];
  uint64_t digest[4];
  transfer_message(message, &transfer, accounts.data());
  keccak256_words(digest, message, kMessageWords);
  for (uint64_t attempt = 0;; ++attempt) {
    uint64_t secret_and_digest[8];
    std::copy_n(secret.limb, 4, secret_and_digest);
    std::copy_n(digest, 4, secret_and_digest + 4);
    uint64_t mixed[4];
    keccak256_words(mixed, secret_and_digest, 8);
    const U256 nonce = derive_scalar(seed, Purpose::kNonce, attempt, mixed);
    if (ecdsa_sign(&transfer.signature, digest, &secret, &nonce)) return;
  }
}

/// Whether number `index` of `total` is one of `chosen`, evenly spread.
bool is_chosen(uint64_t index, uint64_t chosen, uint64_t total) {
  return (index + 1) * chosen / total != index * chosen / total;
}

}  // namespace

uint64_t ledger_account_count(uint64_t transfers) {
  return std::clamp<uint64_t>(std::bit_ceil(transfers), 4, kAccountsMax);
}

std::vector<uint64_t> make_ledger_block(const LedgerOptions& options) {
  const uint64_t account_count = ledger_account_count(options.transfers);
  std::vector<U256> secrets;
  std::vector<Account> accounts;
  for (uint64_t i = 0; i < account_count; ++i) {
    secrets.push_back(derive_scalar(options.seed, Purpose::kSecret, i));
    accounts.push_back(make_account(secrets.back()));
  }
  std::vector<uint64_t> words = {account_count, options.transfers};
  const auto append = [&](const auto& record) {
    const auto* from = reinterpret_cast<const uint64_t*>(&record);
    words.insert(words.end(), from, from + sizeof record / 8);
  };
  for (const Account& account : accounts) append(account);

  const uint64_t specials = options.bad_signatures + options.overdrafts;
  uint64_t specials_seen = 0;
  std::vector<uint64_t> nonces(account_count);
  for (uint64_t i = 0; i < options.transfers; ++i) {
    const U256 choice = derive_scalar(options.seed, Purpose::kChoice, i);
    Transfer transfer = {};
    transfer.from = choice.limb[0] % account_count;
    transfer.to = choice.limb[1] % account_count;
    transfer.nonce = nonces[transfer.from];
    transfer.amount = 1 + choice.limb[2] % 1000;
    const bool special = is_chosen(i, specials, options.transfers);
    const bool bad = special && is_chosen(specials_seen, options.bad_signatures, specials);
    const bool over = special && !bad;
    specials_seen += special;
    if (over) transfer.amount += uint64_t{1} << 60;
    sign(transfer, accounts, options.seed, secrets[transfer.from]);
    if (bad) transfer.amount ^= 1;
    if (!bad && !over) ++nonces[transfer.from];
    append(transfer);
  }
  return words;
}

}  // namespace epochd::bench
