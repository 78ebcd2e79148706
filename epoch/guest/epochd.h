/* The guest's view of the machine: exit, emit, debug, the private input, and the Ethereum zkVM pair
 * read_input / write_output. One header for three builds of the same sources:
 *   (default)       the proved guest, RV64IM, bare metal
 *   EPOCHD_QEMU     the same code as a Linux program, for qemu-riscv64 as an independent executor
 *   EPOCHD_TWIN     compiled for the host, as an oracle for the output words
 * In the last two, emitted words go to standard output as little-endian bytes, debug text goes to
 * standard error, and the private input is standard input. See epoch/guest/README.md. */
#ifndef EPOCHD_GUEST_EPOCHD_H
#define EPOCHD_GUEST_EPOCHD_H

#include <stddef.h>
#include <stdint.h>
#ifdef EPOCHD_TWIN
#include <string.h>
#endif

#ifdef __cplusplus
#define EPOCHD_RESTRICT __restrict__
extern "C" {
#else
#define EPOCHD_RESTRICT restrict
#endif

/* Private input: a u64 byte length here, the bytes after it, zeros after them. */
#define EPOCHD_INPUT_BASE 0xC0000000ull
#define EPOCHD_INPUT_BYTES_MAX ((1ull << 30) - 16)

/* System call numbers, passed in a7. */
#define EPOCHD_SYSCALL_EMIT 1
#define EPOCHD_SYSCALL_DEBUG 2
#define EPOCHD_SYSCALL_EXIT 93

/* What the SDK itself exits with when the input's length word is above EPOCHD_INPUT_BYTES_MAX. The
 * region is arbitrary to the proof, so a guest that trusted the word could be walked past the
 * address space. */
#define EPOCHD_EXIT_INPUT_LENGTH 240

#if defined(EPOCHD_QEMU) || defined(EPOCHD_TWIN)

__attribute__((noreturn)) void epochd_exit(uint64_t code);
void epochd_emit(uint64_t word);
void epochd_debug(const char* text, size_t bytes);
/* Where the length word stands; the bytes follow it. */
const uint64_t* epochd_input_region(void);
#ifdef EPOCHD_TWIN
/* What the guest's main is called in its twin; C linkage in a C++ guest too. */
int epochd_guest_main(void);
#endif

#else

/* Ends the run. Exit code 0 is what `epoch verify` accepts unless told otherwise. */
__attribute__((noreturn)) static inline void epochd_exit(uint64_t code) {
  register uint64_t a0 __asm__("a0") = code;
  register uint64_t a7 __asm__("a7") = EPOCHD_SYSCALL_EXIT;
  __asm__ volatile("ecall" : : "r"(a0), "r"(a7) : "memory");
  __builtin_unreachable();
}

/* Appends one 64-bit word to the public output. */
static inline void epochd_emit(uint64_t word) {
  register uint64_t a0 __asm__("a0") = word;
  register uint64_t a7 __asm__("a7") = EPOCHD_SYSCALL_EMIT;
  __asm__ volatile("ecall" : : "r"(a0), "r"(a7) : "memory");
}

/* Sends text to the host's log. Proves nothing and cannot fail. */
static inline void epochd_debug(const char* text, size_t bytes) {
  register uint64_t a0 __asm__("a0") = (uint64_t)text;
  register uint64_t a1 __asm__("a1") = bytes;
  register uint64_t a7 __asm__("a7") = EPOCHD_SYSCALL_DEBUG;
  __asm__ volatile("ecall" : : "r"(a0), "r"(a1), "r"(a7) : "memory");
}

static inline const uint64_t* epochd_input_region(void) {
  return (const uint64_t*)EPOCHD_INPUT_BASE;
}

#endif

/* Bytes of private input; exits with EPOCHD_EXIT_INPUT_LENGTH when the length word is out of range.
 */
static inline size_t epochd_input_length(void) {
  uint64_t length = *epochd_input_region();
  if (length > EPOCHD_INPUT_BYTES_MAX) epochd_exit(EPOCHD_EXIT_INPUT_LENGTH);
  return (size_t)length;
}

/* The input bytes, 8-aligned. Reading past epochd_input_length() is allowed and, with an honest
 * host, reads zeros. */
static inline const uint8_t* epochd_input_bytes(void) {
  return (const uint8_t*)(epochd_input_region() + 1);
}

/* The little-endian u64 at 8 * index of the input; 0 where the input ends before it. */
uint64_t epochd_input_u64(size_t index);

/* The functions compilers call on their own (memory.c). There is no libc in a guest. */
#ifndef EPOCHD_TWIN
void* memcpy(void* EPOCHD_RESTRICT to, const void* EPOCHD_RESTRICT from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* left, const void* right, size_t bytes);
#endif

/* The Ethereum zkVM standard's pair. read_input is idempotent; the output is the concatenation of
 * the buffers passed to successive write_output calls. Each call emits one frame: a word holding
 * the byte count, then ceil(bytes / 8) words of the bytes, little endian, the last one zero padded.
 * So a reader that walks the frames recovers the bytes exactly, and a call with 0 bytes emits one 0
 * word. */
void read_input(const uint8_t** buf_ptr, size_t* buf_size);
void write_output(const uint8_t* output, size_t size);

/* epochd_emit and epochd_exit out of line, for languages that cannot include this header. */
void epochd_emit_word(uint64_t word);
__attribute__((noreturn)) void epochd_exit_with(uint64_t code);

#ifdef __cplusplus
}
#endif

#endif /* EPOCHD_GUEST_EPOCHD_H */
