/* The four functions a compiler may call on its own. They move 8 bytes at a time where both
 * pointers allow it and never make a misaligned access, because those cost the prover more. Built
 * with -fno-tree-loop-distribute-patterns, so that the loops are not turned into calls of
 * themselves. */
#include <stddef.h>
#include <stdint.h>

/* Words alias whatever the caller stored there. */
typedef uint64_t __attribute__((may_alias)) Word;

void* memcpy(void* restrict to, const void* restrict from, size_t bytes) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if ((((uintptr_t)d ^ (uintptr_t)s) & 7) == 0) {
    for (; bytes > 0 && ((uintptr_t)d & 7) != 0; --bytes) *d++ = *s++;
    for (; bytes >= 8; bytes -= 8, d += 8, s += 8) *(Word*)d = *(const Word*)s;
  }
  for (; bytes > 0; --bytes) *d++ = *s++;
  return to;
}

static void copy_backward(uint8_t* d, const uint8_t* s, size_t bytes) {
  d += bytes;
  s += bytes;
  if ((((uintptr_t)d ^ (uintptr_t)s) & 7) == 0) {
    for (; bytes > 0 && ((uintptr_t)d & 7) != 0; --bytes) *--d = *--s;
    for (; bytes >= 8; bytes -= 8) {
      d -= 8;
      s -= 8;
      *(Word*)d = *(const Word*)s;
    }
  }
  for (; bytes > 0; --bytes) *--d = *--s;
}

void* memmove(void* to, const void* from, size_t bytes) {
  /* memcpy above copies forward, which is right whenever the target starts before the source. */
  if ((uintptr_t)to <= (uintptr_t)from || (uintptr_t)to >= (uintptr_t)from + bytes) {
    return memcpy(to, from, bytes);
  }
  copy_backward(to, from, bytes);
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  uint8_t* d = to;
  uint64_t pattern = (uint8_t)value * 0x0101010101010101ull;
  for (; bytes > 0 && ((uintptr_t)d & 7) != 0; --bytes) *d++ = (uint8_t)value;
  for (; bytes >= 8; bytes -= 8, d += 8) *(Word*)d = pattern;
  for (; bytes > 0; --bytes) *d++ = (uint8_t)value;
  return to;
}

int memcmp(const void* left, const void* right, size_t bytes) {
  const uint8_t* a = left;
  const uint8_t* b = right;
  if ((((uintptr_t)a | (uintptr_t)b) & 7) == 0) {
    for (; bytes >= 8 && *(const Word*)a == *(const Word*)b; bytes -= 8) {
      a += 8;
      b += 8;
    }
  }
  for (; bytes > 0; --bytes, ++a, ++b) {
    if (*a != *b) return *a < *b ? -1 : 1;
  }
  return 0;
}
