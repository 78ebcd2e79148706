/* Writes, as C, the functions of the bigtext guest: each a different straight line of some 66
 * instructions that mix one word, so that all of them are more than 2^16 instructions. */
#include <stdint.h>
#include <stdio.h>

enum { kFunctions = 1024, kSteps = 13 };

static unsigned next_number(uint64_t* state, unsigned below) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(*state >> 33) % below;
}

int main(void) {
  uint64_t state = 20240229;
  /* There is nothing to optimise, and twice the time is gone looking for it. */
  printf("#pragma GCC optimize (\"O1\")\n#include <stdint.h>\n\n");
  for (int i = 0; i < kFunctions; ++i) {
    printf("static uint64_t f%d(uint64_t x) {\n", i);
    for (int step = 0; step < kSteps; ++step) {
      /* Five instructions: an addition, and a shift xored or added, twice. */
      printf("  x += %u;\n", 1 + next_number(&state, 2047));
      printf("  x ^= x << %u;\n", 1 + next_number(&state, 62));
      printf("  x += x >> %u;\n", 1 + next_number(&state, 62));
    }
    printf("  return x;\n}\n");
  }
  printf("uint64_t (*const kBigtext[%d])(uint64_t) = {\n", kFunctions);
  for (int i = 0; i < kFunctions; ++i) printf("  f%d,\n", i);
  printf("};\n");
  return 0;
}
