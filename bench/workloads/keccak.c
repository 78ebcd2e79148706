/* keccak: Keccak-256 of the input (rate 136 bytes, pad byte 0x01: the original padding, as Ethereum
 * uses it, not SHA3-256's). Emits the digest as 4 words, which are the first 4 lanes of the state.
 */
#include "epochd.h"

enum { kRateBytes = 136, kRounds = 24 };

static const uint64_t kRoundConstant[kRounds] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

/* The rho and pi steps walk the 24 lanes other than lane 0 in this order, rotating by these
 * amounts. */
static const uint8_t kLane[24] = {10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                                  15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1};
static const uint8_t kRotation[24] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                      27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};

static uint64_t rotate_left(uint64_t x, int by) {
  return (x << by) | (x >> (64 - by));
}

static void permute(uint64_t a[25]) {
  for (int round = 0; round < kRounds; ++round) {
    uint64_t parity[5];
    for (int x = 0; x < 5; ++x) parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    for (int x = 0; x < 5; ++x) {
      uint64_t d = parity[(x + 4) % 5] ^ rotate_left(parity[(x + 1) % 5], 1);
      for (int y = 0; y < 25; y += 5) a[x + y] ^= d;
    }
    uint64_t moving = a[1];
    for (int i = 0; i < 24; ++i) {
      uint64_t next = a[kLane[i]];
      a[kLane[i]] = rotate_left(moving, kRotation[i]);
      moving = next;
    }
    for (int y = 0; y < 25; y += 5) {
      uint64_t row[5];
      for (int x = 0; x < 5; ++x) row[x] = a[y + x];
      for (int x = 0; x < 5; ++x) a[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
    a[0] ^= kRoundConstant[round];
  }
}

int main(void) {
  uint64_t state[25] = {0};
  size_t bytes = epochd_input_length();
  const uint64_t* words = (const uint64_t*)epochd_input_bytes();
  size_t done = 0;
  for (; bytes - done >= kRateBytes; done += kRateBytes) {
    for (int i = 0; i < kRateBytes / 8; ++i) state[i] ^= words[done / 8 + i];
    permute(state);
  }
  /* The last block byte by byte: past the end the input region's content is the host's word only.
   */
  const uint8_t* rest = epochd_input_bytes() + done;
  for (size_t i = 0; i < bytes - done; ++i) state[i / 8] ^= (uint64_t)rest[i] << (8 * (i % 8));
  state[(bytes - done) / 8] ^= 1ull << (8 * ((bytes - done) % 8));
  state[kRateBytes / 8 - 1] ^= 0x8000000000000000;
  permute(state);
  for (int i = 0; i < 4; ++i) epochd_emit(state[i]);
  return 0;
}
