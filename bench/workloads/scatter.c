/* scatter: reads, changes and writes words at random places of a large table, the worst case for
 * memory: nearly every access is to a cell its epoch has not touched. Input: u64 seed, u64
 * accesses, u64 log2 of the table's words (at most 23, 64 MiB). Emits the running mix of the values
 * read. Exits with 1 when the table is too large. */
#include "epochd.h"

enum { kLogWordsMax = 23 };

static uint64_t table[1 << kLogWordsMax];

int main(void) {
  uint64_t state = epochd_input_u64(0);
  uint64_t accesses = epochd_input_u64(1);
  uint64_t log_words = epochd_input_u64(2);
  if (log_words > kLogWordsMax) return 1;

  uint64_t mask = (1ull << log_words) - 1;
  uint64_t mix = 0;
  for (uint64_t i = 0; i < accesses; ++i) {
    /* Knuth's MMIX generator; its high bits are the good ones. */
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint64_t* cell = &table[(state >> 32) & mask];
    mix = (mix << 1 | mix >> 63) ^ *cell;
    *cell += state;
  }
  epochd_emit(mix);
  return 0;
}
