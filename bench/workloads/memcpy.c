/* memcpy: copies a buffer back and forth, so that nearly every instruction is a load, a store or
 * the loop around them, over more memory than an epoch usually touches. Input: u64 bytes a copy
 * (at most 32 MiB), u64 copies, u64 shift (0: both ends aligned alike; 1 to 7: the target is
 * that many bytes further on, so the copy goes byte by byte). Emits a sum over every 4096th byte of
 * the last target. Exits with 1 when a number is too large. */
#include "epochd.h"

enum { kBytesMax = 32 << 20, kStride = 4096 };

static uint64_t buffers[2][kBytesMax / 8 + 1];

int main(void) {
  uint64_t bytes = epochd_input_u64(0);
  uint64_t copies = epochd_input_u64(1);
  uint64_t shift = epochd_input_u64(2);
  if (bytes > kBytesMax || shift > 7) return 1;

  for (uint64_t at = 0; at < bytes; at += kStride) {
    ((uint8_t*)buffers[0])[at] = (uint8_t)(at / kStride * 151 + 1);
  }
  uint8_t* from = (uint8_t*)buffers[0];
  uint8_t* to = (uint8_t*)buffers[1];
  for (uint64_t i = 0; i < copies; ++i) {
    /* Through a volatile pointer, so that the copies are made and not reasoned away. */
    uint8_t* volatile target = to + (i % 2 == 0 ? shift : 0);
    const uint8_t* source = from + (i % 2 == 0 ? 0 : shift);
    memcpy(target, source, bytes);
    uint8_t* last = to;
    to = from;
    from = last;
  }
  uint64_t sum = 0;
  const uint8_t* result = from + (copies % 2 == 1 ? shift : 0);
  for (uint64_t at = 0; at < bytes; at += kStride) sum = sum * 31 + result[at];
  epochd_emit(sum);
  return 0;
}
