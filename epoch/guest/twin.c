/* The guest's system calls as a host program: emitted words to standard output, the input from
 * standard input. The twin of a guest is compiled by the host's compiler from the same sources, so
 * what it prints owes nothing to any RISC-V tool. */
#include <stdio.h>
#include <stdlib.h>

#include "epochd.h"

enum { kExitHostFailure = 241 };

static uint64_t* input_region;

void epochd_exit(uint64_t code) {
  if (fflush(stdout) != 0) exit(kExitHostFailure);
  exit((int)(code & 0xFF));
}

void epochd_emit(uint64_t word) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = (unsigned char)(word >> (8 * i));
  if (fwrite(bytes, 1, sizeof bytes, stdout) != sizeof bytes) exit(kExitHostFailure);
}

void epochd_debug(const char* text, size_t bytes) {
  (void)!fwrite(text, 1, bytes, stderr);
}

const uint64_t* epochd_input_region(void) {
  return input_region;
}

int main(void) {
  size_t capacity = 1 << 16;
  size_t length = 0;
  input_region = calloc(1, 16 + capacity);
  while (input_region != NULL) {
    size_t got = fread((char*)(input_region + 1) + length, 1, capacity - length, stdin);
    if (got == 0) break;
    length += got;
    if (length < capacity) continue;
    capacity *= 2;
    input_region = realloc(input_region, 16 + capacity);
  }
  if (input_region == NULL || ferror(stdin)) return kExitHostFailure;
  input_region[0] = length;
  /* Zero padding, as the machine's input region has it. */
  for (size_t i = length; i < capacity + 8; ++i) ((char*)(input_region + 1))[i] = 0;
  epochd_exit((uint64_t)epochd_guest_main());
}
