/* bigtext: code that does not fit a small program table. Calls `calls` of the kBigtextFunctions
 * generated functions (make_bigtext.c), chosen by the value they have computed so far, each
 * straight code of its own. Input: u64 seed, u64 calls. Emits the value, and the sum of the chosen
 * numbers. */
#include "epochd.h"

enum { kBigtextFunctions = 1024 };

extern uint64_t (*const kBigtext[kBigtextFunctions])(uint64_t);

int main(void) {
  uint64_t value = epochd_input_u64(0);
  uint64_t calls = epochd_input_u64(1);
  uint64_t chosen = 0;
  for (uint64_t i = 0; i < calls; ++i) {
    uint64_t number = (value >> 20 ^ value) % kBigtextFunctions;
    chosen += number;
    value = kBigtext[number](value);
  }
  epochd_emit(value);
  epochd_emit(chosen);
  return 0;
}
