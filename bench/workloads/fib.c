/* fib: the n-th Fibonacci number mod 2^64, iteratively; n is the input's first u64. Emits one word.
 */
#include "epochd.h"

int main(void) {
  uint64_t count = epochd_input_u64(0);
  uint64_t a = 0;
  uint64_t b = 1;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t next = a + b;
    a = b;
    b = next;
  }
  epochd_emit(a);
  return 0;
}
