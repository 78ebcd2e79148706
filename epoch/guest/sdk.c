/* The part of the SDK that is the same in every build: framing, and reading the input as words. */
#include "epochd.h"

uint64_t epochd_input_u64(size_t index) {
  size_t length = epochd_input_length();
  if (index >= (length + 7) / 8) return 0;
  const uint8_t* bytes = epochd_input_bytes() + 8 * index;
  size_t count = length - 8 * index < 8 ? length - 8 * index : 8;
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
}

void read_input(const uint8_t** buf_ptr, size_t* buf_size) {
  *buf_size = epochd_input_length();
  *buf_ptr = epochd_input_bytes();
}

void write_output(const uint8_t* output, size_t size) {
  epochd_emit(size);
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i) {
    word |= (uint64_t)output[i] << (8 * (i % 8));
    if (i % 8 == 7 || i + 1 == size) {
      epochd_emit(word);
      word = 0;
    }
  }
}

void epochd_emit_word(uint64_t word) {
  epochd_emit(word);
}

void epochd_exit_with(uint64_t code) {
  epochd_exit(code);
}
