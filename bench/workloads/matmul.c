/* matmul: the product of two square matrices of u64s made from a seed, mod 2^64. Input: u64 seed,
 * u64 size (at most 256). Emits the position-weighted sum of the product and its trace. Exits with
 * 1 when the size is too large. */
#include "epochd.h"

enum { kSizeMax = 256 };

static uint64_t a[kSizeMax][kSizeMax];
static uint64_t b[kSizeMax][kSizeMax]; /* transposed */

static uint64_t next_value(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

int main(void) {
  uint64_t state = epochd_input_u64(0) | 1;
  uint64_t size = epochd_input_u64(1);
  if (size > kSizeMax) return 1;

  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) a[i][j] = next_value(&state);
  }
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) b[j][i] = next_value(&state);
  }
  uint64_t weighted = 0;
  uint64_t trace = 0;
  uint64_t position = 0;
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) {
      uint64_t sum = 0;
      for (size_t k = 0; k < size; ++k) sum += a[i][k] * b[j][k];
      weighted += ++position * sum;
      if (i == j) trace += sum;
    }
  }
  epochd_emit(weighted);
  epochd_emit(trace);
  return 0;
}
