#include "keccak256.h"

enum { kRateWords = 17, kRounds = 24 };

static const uint64_t kRoundConstant[kRounds] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

#define ROTATE(x, by) ((by) == 0 ? (x) : (x) << (by) | (x) >> ((64 - (by)) & 63))

/* Theta's last step, rho and pi: the lane that moves here. */
#define MOVED(from, column, by) ROTATE(a[from] ^ d[column], by)

/* Chi on one row of the new state, whose column parities are theta's start in the next round. */
#define ROW(to, lane0, lane1, lane2, lane3, lane4) \
  {                                                \
    const uint64_t b0 = lane0;                     \
    const uint64_t b1 = lane1;                     \
    const uint64_t b2 = lane2;                     \
    const uint64_t b3 = lane3;                     \
    const uint64_t b4 = lane4;                     \
    STORE(to, b0 ^ (~b1 & b2))                     \
    STORE(to + 1, b1 ^ (~b2 & b3))                 \
    STORE(to + 2, b2 ^ (~b3 & b4))                 \
    STORE(to + 3, b3 ^ (~b4 & b0))                 \
    STORE(to + 4, b4 ^ (~b0 & b1))                 \
    IN_ORDER                                       \
  }
/* Keeps the compiler from having more lanes in flight than there are registers. */
#define IN_ORDER __asm__ volatile("" : : : "memory");
#define STORE(to, lane)          \
  {                              \
    const uint64_t value = lane; \
    e[to] = value;               \
    parity[(to) % 5] ^= value;   \
  }

/* One round from a to e (FIPS 202, section 3.2), a row at a time: five lanes in registers, each
 * lane loaded and stored once. */
static inline __attribute__((always_inline)) void round_of(uint64_t* restrict e,
                                                           const uint64_t* restrict a,
                                                           uint64_t parity[5], uint64_t constant) {
  uint64_t d[5];
#pragma GCC unroll 5
  for (int x = 0; x < 5; ++x) d[x] = parity[(x + 4) % 5] ^ ROTATE(parity[(x + 1) % 5], 1);
#pragma GCC unroll 5
  for (int x = 0; x < 5; ++x) parity[x] = 0;
  ROW(0, MOVED(0, 0, 0), MOVED(6, 1, 44), MOVED(12, 2, 43), MOVED(18, 3, 21), MOVED(24, 4, 14))
  ROW(5, MOVED(3, 3, 28), MOVED(9, 4, 20), MOVED(10, 0, 3), MOVED(16, 1, 45), MOVED(22, 2, 61))
  ROW(10, MOVED(1, 1, 1), MOVED(7, 2, 6), MOVED(13, 3, 25), MOVED(19, 4, 8), MOVED(20, 0, 18))
  ROW(15, MOVED(4, 4, 27), MOVED(5, 0, 36), MOVED(11, 1, 10), MOVED(17, 2, 15), MOVED(23, 3, 56))
  ROW(20, MOVED(2, 2, 62), MOVED(8, 3, 55), MOVED(14, 4, 39), MOVED(15, 0, 41), MOVED(21, 1, 2))
  e[0] ^= constant;
  parity[0] ^= constant;
}

static void permute(uint64_t state[25]) {
  uint64_t other[25], parity[5];
#pragma GCC unroll 5
  for (int x = 0; x < 5; ++x) {
    parity[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
  }
  uint64_t* there = other;
  __asm__("" : "+r"(there)); /* an address the compiler knows nothing of: lanes stay in memory */
  for (int round = 0; round < kRounds; round += 2) {
    round_of(there, state, parity, kRoundConstant[round]);
    round_of(state, there, parity, kRoundConstant[round + 1]);
  }
}

void keccak256_words(uint64_t digest[4], const uint64_t* words, size_t count) {
  uint64_t state[25] = {0};
  for (; count >= kRateWords; count -= kRateWords, words += kRateWords) {
    for (int i = 0; i < kRateWords; ++i) state[i] ^= words[i];
    permute(state);
  }
  for (size_t i = 0; i < count; ++i) state[i] ^= words[i];
  state[count] ^= 1;
  state[kRateWords - 1] ^= 0x8000000000000000;
  permute(state);
  for (int i = 0; i < 4; ++i) digest[i] = state[i];
}
