/* sort: heap sort of u64s made from a seed. Input: u64 seed, u64 count (at most 2^20). Emits two
 * words: the position-weighted sum of the sorted values, and 1 when they are in order and sum up to
 * what was generated, 0 otherwise. Exits with 1 when the count is too large. */
#include "epochd.h"

enum { kCountMax = 1 << 20 };

static uint64_t values[kCountMax];

/* splitmix64: one multiplication-heavy step per value. */
static uint64_t next_value(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static void sift_down(size_t root, size_t count) {
  uint64_t value = values[root];
  for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && values[child] < values[child + 1]) ++child;
    if (values[child] <= value) break;
    values[root] = values[child];
    root = child;
  }
  values[root] = value;
}

int main(void) {
  uint64_t state = epochd_input_u64(0);
  uint64_t count = epochd_input_u64(1);
  if (count > kCountMax) return 1;

  uint64_t sum_before = 0;
  for (size_t i = 0; i < count; ++i) sum_before += values[i] = next_value(&state);
  for (size_t i = count / 2; i-- > 0;) sift_down(i, count);
  for (size_t end = count; end > 1;) {
    uint64_t largest = values[0];
    values[0] = values[--end];
    values[end] = largest;
    sift_down(0, end);
  }

  uint64_t weighted = 0;
  uint64_t sum_after = 0;
  uint64_t sorted = 1;
  for (size_t i = 0; i < count; ++i) {
    weighted += (i + 1) * values[i];
    sum_after += values[i];
    if (i > 0 && values[i - 1] > values[i]) sorted = 0;
  }
  epochd_emit(weighted);
  epochd_emit(sorted & (sum_before == sum_after));
  return 0;
}
