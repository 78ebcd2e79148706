/* ackermann: the Ackermann-Peter function, calls and returns and a deep stack and little else.
 * Input: u64 m (at most 3), u64 n (at most 10 where m is 3). The stack grows to A(m, n) calls.
 * Emits A(m, n) and how many calls it took. Exits with 1 when the numbers are too large. */
#include "epochd.h"

enum { kFirstMax = 3, kSecondMax = 10, kSecondMaxBelow = 1000 };

static uint64_t calls;

static uint64_t ackermann(uint64_t m, uint64_t n) {
  ++calls;
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

int main(void) {
  uint64_t m = epochd_input_u64(0);
  uint64_t n = epochd_input_u64(1);
  if (m > kFirstMax || n > (m == kFirstMax ? kSecondMax : kSecondMaxBelow)) return 1;

  epochd_emit(ackermann(m, n));
  epochd_emit(calls);
  return 0;
}
