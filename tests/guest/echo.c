/* echo: writes the input back through write_output, in two pieces, and exits with the low byte of
 * its length. */
#include "epochd.h"

int main(void) {
  const uint8_t* input;
  size_t bytes;
  read_input(&input, &bytes);
  write_output(input, bytes / 3);
  write_output(input + bytes / 3, bytes - bytes / 3);
  return (int)(bytes & 0xFF);
}
