/* The machine's system calls on top of Linux's, for qemu-riscv64. Only the boundary differs: the
 * guest's own code is the same instructions, so qemu checks the executor. */
#include "epochd.h"

enum {
  kLinuxRead = 63,
  kLinuxWrite = 64,
  kLinuxExit = 93,
  kLinuxMmap = 222,
  kProtReadWrite = 3,
  kMapPrivateFixedAnonymousNoReserve = 0x2 | 0x10 | 0x20 | 0x4000,
  kExitNoInput = 241,
  kExitNoOutput = 242,
};

static long linux_call(long number, long a, long b, long c, long d, long e, long f) {
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  register long a3 __asm__("a3") = d;
  register long a4 __asm__("a4") = e;
  register long a5 __asm__("a5") = f;
  register long a7 __asm__("a7") = number;
  __asm__ volatile("ecall"
                   : "+r"(a0)
                   : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                   : "memory");
  return a0;
}

void epochd_exit(uint64_t code) {
  linux_call(kLinuxExit, (long)code, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

static void write_all(int descriptor, const char* bytes, size_t count) {
  while (count > 0) {
    long written = linux_call(kLinuxWrite, descriptor, (long)bytes, (long)count, 0, 0, 0);
    if (written <= 0) epochd_exit(kExitNoOutput);
    bytes += written;
    count -= (size_t)written;
  }
}

void epochd_emit(uint64_t word) {
  write_all(1, (const char*)&word, sizeof word);
}

void epochd_debug(const char* text, size_t bytes) {
  /* Never fails, as on the machine. */
  linux_call(kLinuxWrite, 2, (long)text, (long)bytes, 0, 0, 0);
}

const uint64_t* epochd_input_region(void) {
  return (const uint64_t*)EPOCHD_INPUT_BASE;
}

void epochd_qemu_start(void) {
  uint64_t region_bytes = EPOCHD_INPUT_BYTES_MAX + 16;
  long mapped = linux_call(kLinuxMmap, (long)EPOCHD_INPUT_BASE, (long)region_bytes, kProtReadWrite,
                           kMapPrivateFixedAnonymousNoReserve, -1, 0);
  if (mapped != (long)EPOCHD_INPUT_BASE) epochd_exit(kExitNoInput);
  uint8_t* bytes = (uint8_t*)EPOCHD_INPUT_BASE + 8;
  uint64_t length = 0;
  while (length < EPOCHD_INPUT_BYTES_MAX) {
    long got = linux_call(kLinuxRead, 0, (long)(bytes + length),
                          (long)(EPOCHD_INPUT_BYTES_MAX - length), 0, 0, 0);
    if (got < 0) epochd_exit(kExitNoInput);
    if (got == 0) break;
    length += (uint64_t)got;
  }
  *(uint64_t*)EPOCHD_INPUT_BASE = length;
}
