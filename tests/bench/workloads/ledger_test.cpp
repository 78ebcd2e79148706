// The ledger's hash, state transition and fixtures, against a plain Keccak and a plain replay
// written here from the definitions.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "bench/workloads/ledger/fixture.hpp"
#include "bench/workloads/ledger/keccak256.h"
#include "bench/workloads/ledger/transition.h"
#include "bench/workloads/workload.hpp"

namespace epochd::bench {
namespace {

using Digest = std::array<uint64_t, 4>;
using Bytes = std::vector<uint8_t>;

/// Keccak-f[1600] from the specification's formulas: no tables.
void plain_permutation(uint64_t (&lanes)[5][5]) {
  const auto rotate = [](uint64_t x, int by) { return by == 0 ? x : x << by | x >> (64 - by); };
  uint8_t lfsr = 1;
  for (int round = 0; round < 24; ++round) {
    uint64_t parity[5];
    for (int x = 0; x < 5; ++x) {
      parity[x] = lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4];
    }
    for (int x = 0; x < 5; ++x) {
      for (int y = 0; y < 5; ++y) {
        lanes[x][y] ^= parity[(x + 4) % 5] ^ rotate(parity[(x + 1) % 5], 1);
      }
    }
    uint64_t moved[5][5];
    moved[0][0] = lanes[0][0];
    for (int t = 0, x = 1, y = 0; t < 24; ++t) {
      moved[y][(2 * x + 3 * y) % 5] = rotate(lanes[x][y], (t + 1) * (t + 2) / 2 % 64);
      const int next = (2 * x + 3 * y) % 5;
      x = y;
      y = next;
    }
    for (int x = 0; x < 5; ++x) {
      for (int y = 0; y < 5; ++y) {
        lanes[x][y] = moved[x][y] ^ (~moved[(x + 1) % 5][y] & moved[(x + 2) % 5][y]);
      }
    }
    for (int j = 0; j < 7; ++j) {
      lanes[0][0] ^= static_cast<uint64_t>(lfsr & 1) << ((1 << j) - 1);
      lfsr = static_cast<uint8_t>(lfsr << 1 ^ (lfsr >> 7) * 0x71);
    }
  }
}

Digest plain_keccak(Bytes message) {
  message.push_back(1);
  while (message.size() % 136 != 0) message.push_back(0);
  message.back() |= 0x80;
  uint64_t lanes[5][5] = {};
  for (size_t at = 0; at < message.size(); at += 136) {
    for (size_t i = 0; i < 136; ++i) {
      lanes[i / 8 % 5][i / 40] ^= static_cast<uint64_t>(message[at + i]) << (8 * (i % 8));
    }
    plain_permutation(lanes);
  }
  return {lanes[0][0], lanes[1][0], lanes[2][0], lanes[3][0]};
}

Bytes bytes_of_words(const std::vector<uint64_t>& words) {
  Bytes bytes;
  for (const uint64_t word : words) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
  }
  return bytes;
}

std::string hex(const Digest& digest) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes_of_words({digest.begin(), digest.end()})) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

TEST(LedgerKeccak, MatchesPublishedDigests) {
  EXPECT_EQ(hex(plain_keccak({})),
            "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
  EXPECT_EQ(hex(plain_keccak({'a', 'b', 'c'})),
            "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
  Digest digest;
  keccak256_words(digest.data(), nullptr, 0);
  EXPECT_EQ(hex(digest), "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
  // 64 zero bytes: the hash of an empty 2 x 32 byte slot, known from Solidity's storage layout.
  const uint64_t zeros[8] = {};
  keccak256_words(digest.data(), zeros, 8);
  EXPECT_EQ(hex(digest), "ad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5");
}

TEST(LedgerKeccak, AgreesWithThePlainOneAtEveryLength) {
  std::vector<uint64_t> words;
  for (uint64_t i = 0; i < 60; ++i) {
    Digest digest;
    keccak256_words(digest.data(), words.data(), words.size());
    EXPECT_EQ(digest, plain_keccak(bytes_of_words(words))) << i << " words";
    words.push_back(i * 0x9e3779b97f4a7c15 + 3);
  }
}

/// A block's accounts after its transfers, from the block's words: which transfers count is told.
struct PlainLedger {
  explicit PlainLedger(const std::vector<uint64_t>& block)
      : account_count(block[0]), accounts(block.begin() + 2, block.begin() + 2 + 5 * block[0]) {}

  void move(uint64_t from, uint64_t to, uint64_t amount) {
    accounts[5 * from + 3] += 1;
    accounts[5 * from + 4] -= amount;
    accounts[5 * to + 4] += amount;
  }
  Digest root(uint64_t first, uint64_t count) const {
    if (count == 1) {
      const auto begin = accounts.begin() + static_cast<std::ptrdiff_t>(5 * first);
      return plain_keccak(bytes_of_words({begin, begin + 5}));
    }
    const Digest left = root(first, count / 2);
    const Digest right = root(first + count / 2, count / 2);
    std::vector<uint64_t> both(left.begin(), left.end());
    both.insert(both.end(), right.begin(), right.end());
    return plain_keccak(bytes_of_words(both));
  }
  Digest root() const { return root(0, account_count); }

  uint64_t account_count;
  std::vector<uint64_t> accounts;
};

struct Applied {
  Digest before, after;
  TransferCounts counts;
};

Applied apply(const std::vector<uint64_t>& block) {
  const size_t count = block[0];
  std::vector<Account> accounts(count);
  std::memcpy(accounts.data(), block.data() + 2, sizeof(Account) * count);
  std::vector<uint64_t> scratch(4 * count);
  Applied out;
  state_root(out.before.data(), accounts.data(), count, scratch.data());
  const auto* transfers = reinterpret_cast<const Transfer*>(block.data() + 2 + 5 * count);
  apply_transfers(accounts.data(), count, transfers, block[1], &out.counts);
  state_root(out.after.data(), accounts.data(), count, scratch.data());
  return out;
}

const uint64_t* transfer_words(const std::vector<uint64_t>& block, uint64_t index) {
  return block.data() + 2 + 5 * block[0] + 13 * index;
}

TEST(Ledger, StateRootsMatchAPlainReplay) {
  for (const uint64_t transfers : {1u, 5u, 20u}) {
    const std::vector<uint64_t> block = make_ledger_block({.transfers = transfers});
    const Applied applied = apply(block);
    PlainLedger plain(block);
    EXPECT_EQ(applied.before, plain.root());
    for (uint64_t i = 0; i < transfers; ++i) {
      const uint64_t* t = transfer_words(block, i);
      plain.move(t[0], t[1], t[3]);
    }
    EXPECT_EQ(applied.after, plain.root());
    EXPECT_NE(applied.before, applied.after);
    EXPECT_EQ(applied.counts.accepted, transfers);
    EXPECT_EQ(applied.counts.bad_signatures + applied.counts.refused, 0u);
  }
}

TEST(Ledger, CountsWhatTheFixtureSpoils) {
  for (uint64_t bad = 0; bad <= 6; bad += 2) {
    for (uint64_t over = 0; over <= 6; over += 3) {
      const Applied applied =
          apply(make_ledger_block({.transfers = 12, .bad_signatures = bad, .overdrafts = over}));
      EXPECT_EQ(applied.counts.bad_signatures, bad);
      EXPECT_EQ(applied.counts.refused, over);
      EXPECT_EQ(applied.counts.accepted, 12 - bad - over);
    }
  }
}

// Any change of a signed field, of the signature or of the sender's account undoes the signature,
// and then nothing moves.
TEST(Ledger, TamperedTransfersMoveNothing) {
  const std::vector<uint64_t> block = make_ledger_block({.transfers = 1});
  const size_t transfer = 2 + 5 * block[0];
  for (size_t word = 0; word < 13; ++word) {
    std::vector<uint64_t> tampered = block;
    tampered[transfer + word] ^= 1;
    const Applied applied = apply(tampered);
    EXPECT_EQ(applied.counts.accepted, 0u) << word;
    EXPECT_EQ(applied.counts.bad_signatures, 1u) << word;
    EXPECT_EQ(applied.before, applied.after) << word;
  }
  std::vector<uint64_t> stranger = block;
  stranger[2 + 5 * block[transfer]] ^= 1;
  EXPECT_EQ(apply(stranger).counts.bad_signatures, 1u);
}

TEST(Ledger, RefusesReplaysOverdraftsAndStrangers) {
  std::vector<uint64_t> twice = make_ledger_block({.transfers = 1});
  twice[1] = 2;
  const std::vector<uint64_t> transfer(twice.end() - 13, twice.end());
  twice.insert(twice.end(), transfer.begin(), transfer.end());
  const Applied replayed = apply(twice);
  EXPECT_EQ(replayed.counts.accepted, 1u);
  EXPECT_EQ(replayed.counts.refused, 1u);

  std::vector<uint64_t> poor = make_ledger_block({.transfers = 1});
  const size_t at = 2 + 5 * poor[0];
  poor[2 + 5 * poor[at] + 4] = poor[at + 3] - 1;
  EXPECT_EQ(apply(poor).counts.refused, 1u);
  poor[2 + 5 * poor[at] + 4] = poor[at + 3];
  EXPECT_EQ(apply(poor).counts.accepted, 1u);

  std::vector<uint64_t> overflowing = make_ledger_block({.transfers = 1});
  ASSERT_NE(overflowing[at], overflowing[at + 1]) << "another seed, to pay somebody else";
  overflowing[2 + 5 * overflowing[at + 1] + 4] = ~uint64_t{0};
  EXPECT_EQ(apply(overflowing).counts.refused, 1u);

  for (const size_t word : {0u, 1u}) {
    std::vector<uint64_t> unknown = make_ledger_block({.transfers = 1});
    unknown[at + word] = unknown[0];
    EXPECT_EQ(apply(unknown).counts.refused, 1u);
  }
}

TEST(Ledger, FixturesHaveTheirSizesAndNeverChange) {
  for (const uint64_t transfers : {1u, 4u, 5u, 20u}) {
    const std::vector<uint64_t> block = make_ledger_block({.transfers = transfers});
    EXPECT_EQ(block[0], ledger_account_count(transfers));
    EXPECT_EQ(block.size(), 2 + 5 * block[0] + 13 * transfers);
    EXPECT_EQ(block, make_ledger_block({.transfers = transfers}));
  }
  EXPECT_NE(make_ledger_block({.transfers = 4, .seed = 2}), make_ledger_block({.transfers = 4}));
  EXPECT_EQ(ledger_account_count(1), 4u);
  EXPECT_EQ(ledger_account_count(20), 32u);
  EXPECT_EQ(ledger_account_count(100'000), 16384u);
  // The bytes of TX_COUNT=20, pinned: benchmarks of two commits run the same block.
  const std::vector<uint64_t> block = make_ledger_block({.transfers = 20});
  EXPECT_EQ(hex(plain_keccak(bytes_of_words(block))),
            "c4311a6b90587c2d5fb7bfdf2cc9e27af705d22bb961ab67ccd3327472cd9c21");
}

TEST(Workloads, AreFoundByName) {
  for (const std::string& name : workload_names()) {
    const auto workload = make_workload(name);
    ASSERT_TRUE(workload) << name;
    EXPECT_EQ(workload->name, name);
    EXPECT_FALSE(workload->input.empty()) << name;
  }
  EXPECT_EQ(make_workload("fib-372k")->input, std::vector<uint64_t>{372'000});
  EXPECT_EQ(make_workload("fib-4m")->input, std::vector<uint64_t>{4'000'000});
  EXPECT_EQ(make_workload("ledger", 5)->input, make_workload("ledger-5")->input);
  for (const char* name : {"", "fib", "fib-", "fib-0", "fib-x", "fib-1kk", "ledger-", "ledger--1",
                           "ledgers", "ledger-100001", "fib-99999999999999999999"}) {
    EXPECT_FALSE(make_workload(name)) << name;
  }
}

}  // namespace
}  // namespace epochd::bench
