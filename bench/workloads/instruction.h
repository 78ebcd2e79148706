/* One RV64IM instruction as a C function, for the guests that visit them all. In a guest the
 * function is that single instruction in assembly; in the host twin it is the expression beside it,
 * written from the ISA manual. So the twin's output words are an oracle that no RISC-V tool had a
 * hand in. */
#ifndef BENCH_WORKLOADS_INSTRUCTION_H
#define BENCH_WORKLOADS_INSTRUCTION_H

#include "epochd.h"

/* 0, 1, -1, both ends of every signed width, powers of two and their neighbours, alternating bits,
 * and two values without structure. */
static const uint64_t kEdge[] = {0x0000000000000000, 0x0000000000000001, 0xffffffffffffffff,
                                 0x0000000000000002, 0xfffffffffffffffe, 0x000000000000007f,
                                 0xffffffffffffff80, 0x0000000000007fff, 0xffffffffffff8000,
                                 0x000000007fffffff, 0x0000000080000000, 0xffffffff80000000,
                                 0x00000000ffffffff, 0x0000000100000000, 0x7fffffffffffffff,
                                 0x8000000000000000, 0x8000000000000001, 0x5555555555555555,
                                 0xaaaaaaaaaaaaaaaa, 0x0123456789abcdef, 0xf0e1d2c3b4a59687};
enum { kEdgeCount = sizeof kEdge / sizeof kEdge[0] };

/* The running mix of every result, in order. Emitted after each instruction's cases, so that the
 * first wrong word names the instruction. */
static uint64_t mix = 0x243f6a8885a308d3;

static inline void absorb(uint64_t result) {
  uint64_t x = mix ^ result;
  mix = ((x << 23) | (x >> 41)) * 0x9e3779b97f4a7c15;
}

static inline uint64_t sign_extend_8(uint64_t x) {
  return (uint64_t)(int64_t)(int8_t)x;
}
static inline uint64_t sign_extend_16(uint64_t x) {
  return (uint64_t)(int64_t)(int16_t)x;
}
static inline uint64_t sign_extend_32(uint64_t x) {
  return (uint64_t)(int64_t)(int32_t)x;
}
static inline uint64_t unchanged(uint64_t x) {
  return x;
}

/* Stores and loads with the address rs1 + a constant. */
#ifdef EPOCHD_TWIN

#define REGISTER_OP(name, expression)                 \
  static uint64_t do_##name(uint64_t a, uint64_t b) { \
    return (expression);                              \
  }
#define IMMEDIATE_OP(name, immediate, expression) (expression)
#define LOAD_OP(name, base, offset, bytes, extend) \
  extend(load_bytes((const uint8_t*)(base) + (offset), bytes))
#define STORE_OP(name, base, offset, value, bytes) \
  store_bytes((uint8_t*)(base) + (offset), value, bytes)

static inline uint64_t load_bytes(const uint8_t* from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

static inline void store_bytes(uint8_t* to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to[i] = (uint8_t)(value >> (8 * i));
}

#else

#define REGISTER_OP(name, expression)                                      \
  static uint64_t do_##name(uint64_t a, uint64_t b) {                      \
    uint64_t result;                                                       \
    __asm__ volatile(#name " %0, %1, %2" : "=r"(result) : "r"(a), "r"(b)); \
    return result;                                                         \
  }
#define IMMEDIATE_OP(name, immediate, expression)                                   \
  ({                                                                                \
    uint64_t result_;                                                               \
    __asm__ volatile(#name " %0, %1, %2" : "=r"(result_) : "r"(a), "i"(immediate)); \
    result_;                                                                        \
  })
#define LOAD_OP(name, base, offset, bytes, extend)                                             \
  ({                                                                                           \
    uint64_t result_;                                                                          \
    __asm__ volatile(#name " %0, %2(%1)" : "=r"(result_) : "r"(base), "i"(offset) : "memory"); \
    result_;                                                                                   \
  })
#define STORE_OP(name, base, offset, value, bytes) \
  __asm__ volatile(#name " %0, %2(%1)" : : "r"(value), "r"(base), "i"(offset) : "memory")

#endif

/* The last 16 bytes of the address space; the twin has a buffer in their place. */
#ifdef EPOCHD_TWIN
static uint64_t top_of_memory[2];
#define TOP_OF_MEMORY ((uint8_t*)top_of_memory)
#else
#define TOP_OF_MEMORY ((uint8_t*)0xFFFFFFF0)
#endif

#endif /* BENCH_WORKLOADS_INSTRUCTION_H */
