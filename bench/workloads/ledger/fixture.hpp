// Blocks of signed transfers for the ledger guest, made from a seed: the same bytes for the same
// options, on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace epochd::bench {

/// As many as TX_COUNT may ask for.
inline constexpr uint64_t kLedgerTransfersMax = 100'000;

struct LedgerOptions {
  uint64_t transfers = 20;
  uint64_t seed = 1;
  /// Spread over the block: transfers whose amount is changed after signing, and whose amount is
  /// above any balance.
  uint64_t bad_signatures = 0;
  uint64_t overdrafts = 0;
};

/// Accounts in a block of this many transfers: a power of two, at least 4, at most 2^14.
uint64_t ledger_account_count(uint64_t transfers);

/// The block's words (transition.h has the format); little-endian bytes of them are the input.
/// Pre: bad_signatures + overdrafts <= transfers.
std::vector<uint64_t> make_ledger_block(const LedgerOptions& options);

}  // namespace epochd::bench
