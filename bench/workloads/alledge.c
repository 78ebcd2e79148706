/* alledge: executes every RV64IM instruction over edge values, misaligned accesses excepted (those
 * are `misaligned`). Takes no input. Emits the running mix after each instruction, in the order of
 * main. */
#include "instruction.h"

/* --- Register and register --- */

static inline uint64_t divide(uint64_t a, uint64_t b) {
  if (b == 0) return ~0ull;
  if (a == 1ull << 63 && b == ~0ull) return a;
  return (uint64_t)((int64_t)a / (int64_t)b);
}
static inline uint64_t remainder_of(uint64_t a, uint64_t b) {
  if (b == 0) return a;
  if (a == 1ull << 63 && b == ~0ull) return 0;
  return (uint64_t)((int64_t)a % (int64_t)b);
}
static inline uint64_t divide_32(uint64_t a, uint64_t b) {
  return sign_extend_32(divide(sign_extend_32(a), sign_extend_32(b)));
}
static inline uint64_t remainder_32(uint64_t a, uint64_t b) {
  return sign_extend_32(remainder_of(sign_extend_32(a), sign_extend_32(b)));
}
static inline uint64_t high_product(__int128 a, __int128 b) {
  return (uint64_t)((a * b) >> 64);
}

#define REGISTER_OPS(X)                                                          \
  X(add, a + b)                                                                  \
  X(sub, a - b)                                                                  \
  X(addw, sign_extend_32(a + b))                                                 \
  X(subw, sign_extend_32(a - b))                                                 \
  X(and, a& b)                                                                   \
  X(or, a | b)                                                                   \
  X(xor, a ^ b)                                                                  \
  X(slt, (int64_t)a < (int64_t)b)                                                \
  X(sltu, a < b)                                                                 \
  X(sll, a << (b & 63))                                                          \
  X(srl, a >> (b & 63))                                                          \
  X(sra, (uint64_t)((int64_t)a >> (b & 63)))                                     \
  X(sllw, sign_extend_32((uint32_t)a << (b & 31)))                               \
  X(srlw, sign_extend_32((uint32_t)a >> (b & 31)))                               \
  X(sraw, (uint64_t)(int64_t)((int32_t)a >> (b & 31)))                           \
  X(mul, a* b)                                                                   \
  X(mulh, high_product((int64_t)a, (int64_t)b))                                  \
  X(mulhu, (uint64_t)(((unsigned __int128)a * b) >> 64))                         \
  X(mulhsu, high_product((int64_t)a, (__int128)(unsigned __int128)b))            \
  X(mulw, sign_extend_32(a* b))                                                  \
  X(div, divide(a, b))                                                           \
  X(divu, b == 0 ? ~0ull : a / b)                                                \
  X(rem, remainder_of(a, b))                                                     \
  X(remu, b == 0 ? a : a % b)                                                    \
  X(divw, divide_32(a, b))                                                       \
  X(divuw, (uint32_t)b == 0 ? ~0ull : sign_extend_32((uint32_t)a / (uint32_t)b)) \
  X(remw, remainder_32(a, b))                                                    \
  X(remuw, (uint32_t)b == 0 ? sign_extend_32(a) : sign_extend_32((uint32_t)a % (uint32_t)b))

REGISTER_OPS(REGISTER_OP)

/* The same instructions with rd = rs1 = rs2, with x0 as either source, and with x0 as target: x0
 * stays 0. */
#ifdef EPOCHD_TWIN
#define ALIASED_OP(name, expression)              \
  static uint64_t aliased_##name(uint64_t x) {    \
    uint64_t a = x, b = x;                        \
    return (expression);                          \
  }                                               \
  static uint64_t zero_left_##name(uint64_t b) {  \
    uint64_t a = 0;                               \
    return (expression);                          \
  }                                               \
  static uint64_t zero_right_##name(uint64_t a) { \
    uint64_t b = 0;                               \
    return (expression);                          \
  }                                               \
  static uint64_t discarded_##name(uint64_t a) {  \
    (void)a;                                      \
    return 0;                                     \
  }
#else
#define ALIASED_OP(name, expression)                                                \
  static uint64_t aliased_##name(uint64_t x) {                                      \
    __asm__ volatile(#name " %0, %0, %0" : "+r"(x));                                \
    return x;                                                                       \
  }                                                                                 \
  static uint64_t zero_left_##name(uint64_t x) {                                    \
    __asm__ volatile(#name " %0, zero, %0" : "+r"(x));                              \
    return x;                                                                       \
  }                                                                                 \
  static uint64_t zero_right_##name(uint64_t x) {                                   \
    __asm__ volatile(#name " %0, %0, zero" : "+r"(x));                              \
    return x;                                                                       \
  }                                                                                 \
  static uint64_t discarded_##name(uint64_t x) {                                    \
    uint64_t result;                                                                \
    __asm__ volatile(#name " zero, %1, %1\n\tmv %0, zero" : "=r"(result) : "r"(x)); \
    return result;                                                                  \
  }
#endif

REGISTER_OPS(ALIASED_OP)

#define VISIT_REGISTER_OP(name, expression)                                     \
  for (int i = 0; i < kEdgeCount; ++i) {                                        \
    for (int j = 0; j < kEdgeCount; ++j) absorb(do_##name(kEdge[i], kEdge[j])); \
    absorb(aliased_##name(kEdge[i]));                                           \
    absorb(zero_left_##name(kEdge[i]));                                         \
    absorb(zero_right_##name(kEdge[i]));                                        \
    absorb(discarded_##name(kEdge[i]));                                         \
  }                                                                             \
  epochd_emit(mix);

/* --- Register and immediate --- */

/* Tables by hand: clang-format finds no fixed point for them. */
/* clang-format off */
#define FOR_IMMEDIATES(X, name, expression)                               \
  X(name, 0, expression) X(name, 1, expression) X(name, -1, expression)   \
  X(name, 2047, expression) X(name, -2048, expression)                    \
  X(name, 1365, expression) X(name, -1366, expression)                    \
  X(name, 255, expression)
#define FOR_SHIFTS_32(X, name, expression)                                \
  X(name, 0, expression) X(name, 1, expression) X(name, 7, expression)    \
  X(name, 8, expression) X(name, 15, expression) X(name, 16, expression)  \
  X(name, 30, expression) X(name, 31, expression)
#define FOR_SHIFTS_64(X, name, expression)                                \
  FOR_SHIFTS_32(X, name, expression)                                      \
  X(name, 32, expression) X(name, 33, expression) X(name, 47, expression) \
  X(name, 48, expression) X(name, 62, expression) X(name, 63, expression)
/* clang-format on */

#define VISIT_IMMEDIATE(name, immediate, expression)   \
  for (int i = 0; i < kEdgeCount; ++i) {               \
    uint64_t a = kEdge[i];                             \
    const int64_t b = (immediate);                     \
    (void)b;                                           \
    absorb(IMMEDIATE_OP(name, immediate, expression)); \
  }

#define IMMEDIATE_OPS(X)                    \
  X(addi, a + (uint64_t)b)                  \
  X(addiw, sign_extend_32(a + (uint64_t)b)) \
  X(andi, a&(uint64_t)b)                    \
  X(ori, a | (uint64_t)b)                   \
  X(xori, a ^ (uint64_t)b)                  \
  X(slti, (int64_t)a < b)                   \
  X(sltiu, a < (uint64_t)b)
#define SHIFT_OPS_64(X) \
  X(slli, a << b)       \
  X(srli, a >> b)       \
  X(srai, (uint64_t)((int64_t)a >> b))
#define SHIFT_OPS_32(X)                      \
  X(slliw, sign_extend_32((uint32_t)a << b)) \
  X(srliw, sign_extend_32((uint32_t)a >> b)) \
  X(sraiw, (uint64_t)(int64_t)((int32_t)a >> b))

#define DEFINE_VISIT_IMMEDIATE(name, expression)      \
  static void visit_##name(void) {                    \
    FOR_IMMEDIATES(VISIT_IMMEDIATE, name, expression) \
    epochd_emit(mix);                                 \
  }
#define DEFINE_VISIT_SHIFT_64(name, expression)      \
  static void visit_##name(void) {                   \
    FOR_SHIFTS_64(VISIT_IMMEDIATE, name, expression) \
    epochd_emit(mix);                                \
  }
#define DEFINE_VISIT_SHIFT_32(name, expression)      \
  static void visit_##name(void) {                   \
    FOR_SHIFTS_32(VISIT_IMMEDIATE, name, expression) \
    epochd_emit(mix);                                \
  }
IMMEDIATE_OPS(DEFINE_VISIT_IMMEDIATE)
SHIFT_OPS_64(DEFINE_VISIT_SHIFT_64)
SHIFT_OPS_32(DEFINE_VISIT_SHIFT_32)

/* LUI, and AUIPC as the distance between two of them, so that the result does not depend on where
 * the code is. */
#ifdef EPOCHD_TWIN
#define VISIT_UPPER(upper)                             \
  absorb(sign_extend_32((uint64_t)(upper) << 12));     \
  absorb(sign_extend_32((uint64_t)(upper) << 12) + 4); \
  absorb(0);
#else
#define VISIT_UPPER(upper)                                                                     \
  {                                                                                            \
    uint64_t value, first, second, discarded;                                                  \
    __asm__ volatile("lui %0, %1" : "=r"(value) : "i"(upper));                                 \
    __asm__ volatile("auipc %0, 0\n\tauipc %1, %2" : "=&r"(first), "=r"(second) : "i"(upper)); \
    __asm__ volatile("lui zero, %1\n\tauipc zero, %1\n\tmv %0, zero"                           \
                     : "=r"(discarded)                                                         \
                     : "i"(upper));                                                            \
    absorb(value);                                                                             \
    absorb(second - first);                                                                    \
    absorb(discarded);                                                                         \
  }
#endif

static void visit_upper(void) {
  VISIT_UPPER(0)
  VISIT_UPPER(1)
  VISIT_UPPER(0x12345)
  VISIT_UPPER(0x7ffff)
  VISIT_UPPER(0x80000)
  VISIT_UPPER(0xfffff)
  epochd_emit(mix);
}

/* --- Branches and jumps --- */

#define BRANCH_OPS(X)              \
  X(beq, a == b)                   \
  X(bne, a != b)                   \
  X(blt, (int64_t)a < (int64_t)b)  \
  X(bge, (int64_t)a >= (int64_t)b) \
  X(bltu, a < b)                   \
  X(bgeu, a >= b)

#ifdef EPOCHD_TWIN
#define BRANCH_OP(name, condition)                          \
  static uint64_t forward_##name(uint64_t a, uint64_t b) {  \
    return (condition) ? 1 : 2;                             \
  }                                                         \
  static uint64_t backward_##name(uint64_t a, uint64_t b) { \
    return (condition) ? 3 : 4;                             \
  }
#else
#define BRANCH_OP(name, condition)                                      \
  static uint64_t forward_##name(uint64_t a, uint64_t b) {              \
    uint64_t result;                                                    \
    __asm__ volatile("li %0, 1\n\t" #name " %1, %2, 1f\n\tli %0, 2\n1:" \
                     : "=&r"(result)                                    \
                     : "r"(a), "r"(b));                                 \
    return result;                                                      \
  }                                                                     \
  static uint64_t backward_##name(uint64_t a, uint64_t b) {             \
    uint64_t result;                                                    \
    __asm__ volatile(                                                   \
        "j 2f\n1:\tli %0, 3\n\tj 3f\n"                                  \
        "2:\tli %0, 4\n\t" #name " %1, %2, 1b\n3:"                      \
        : "=&r"(result)                                                 \
        : "r"(a), "r"(b));                                              \
    return result;                                                      \
  }
#endif
BRANCH_OPS(BRANCH_OP)

#define VISIT_BRANCH(name, condition)              \
  for (int i = 0; i < kEdgeCount; ++i) {           \
    for (int j = 0; j < kEdgeCount; ++j) {         \
      absorb(forward_##name(kEdge[i], kEdge[j]));  \
      absorb(backward_##name(kEdge[i], kEdge[j])); \
    }                                              \
  }                                                \
  epochd_emit(mix);

/* Six jumps, each skipping or reaching an instruction that would change the result; links are taken
 * relative to an AUIPC. JALR clears the lowest bit of its target, and may write the register it
 * jumps through. */
#ifdef EPOCHD_TWIN
static void visit_jumps(void) {
  static const uint64_t kExpected[] = {8, 12, 8, 8, 8, 5};
  for (int i = 0; i < 6; ++i) absorb(kExpected[i]);
  epochd_emit(mix);
}
#else
static void visit_jumps(void) {
  uint64_t pc, link;
  __asm__ volatile("auipc %0, 0\n\tjal %1, 1f\n\tli %1, 99\n1:" : "=&r"(pc), "=&r"(link));
  absorb(link - pc);
  __asm__ volatile("j 2f\n1:\tj 3f\n2:\tauipc %0, 0\n\tnop\n\tjal %1, 1b\n\tli %1, 99\n3:"
                   : "=&r"(pc), "=&r"(link));
  absorb(link - pc);
  __asm__ volatile("auipc %0, 0\n\tjalr %1, 13(%0)\n\tli %1, 99" : "=&r"(pc), "=&r"(link));
  absorb(link - pc);
  __asm__ volatile(
      "auipc %0, 0\n\taddi %1, %0, 0\n\tjalr %1, 16(%1)\n\tli %1, 99\n\taddi %1, %1, -4"
      : "=&r"(pc), "=&r"(link));
  absorb(link - pc);
  __asm__ volatile(
      "auipc %0, 0\n\taddi %1, %0, 2047\n\tjalr %1, -2031(%1)\n\tli %1, 99\n"
      "\taddi %1, %1, -4"
      : "=&r"(pc), "=&r"(link));
  absorb(link - pc);
  __asm__ volatile("li %1, 5\n\tauipc %0, 0\n\tjalr zero, 12(%0)\n\tli %1, 99"
                   : "=&r"(pc), "=&r"(link));
  absorb(link);
  epochd_emit(mix);
}
#endif

/* --- Loads and stores, aligned --- */

static uint64_t cells[2 * 256 + 8];
#define CELL ((uint8_t*)(cells + 256))

/* One offset with a small, the most negative, and the largest aligned immediate. */
#define LOAD_AT(name, k, bytes, extend)                        \
  absorb(LOAD_OP(name, CELL, k, bytes, extend));               \
  absorb(LOAD_OP(name, CELL + 2048, k - 2048, bytes, extend)); \
  absorb(LOAD_OP(name, CELL - 2040, k + 2040, bytes, extend));
#define STORE_AT(name, k, bytes)                             \
  for (int i = 0; i < kEdgeCount; ++i) {                     \
    STORE_OP(name, CELL, k, kEdge[i], bytes);                \
    absorb(cells[256]);                                      \
    STORE_OP(name, CELL + 2048, k - 2048, ~kEdge[i], bytes); \
    absorb(cells[256]);                                      \
    STORE_OP(name, CELL - 2040, k + 2040, kEdge[i], bytes);  \
    absorb(cells[256]);                                      \
  }

/* clang-format off */
#define EVERY_1(X, ...)                                                   \
  X(0, __VA_ARGS__) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) \
  X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__)
#define EVERY_2(X, ...)                                                   \
  X(0, __VA_ARGS__) X(2, __VA_ARGS__) X(4, __VA_ARGS__) X(6, __VA_ARGS__)
#define EVERY_4(X, ...) X(0, __VA_ARGS__) X(4, __VA_ARGS__)
#define EVERY_8(X, ...) X(0, __VA_ARGS__)
/* clang-format on */
#define LOAD_CASE(k, name, bytes, extend) LOAD_AT(name, k, bytes, extend)
#define STORE_CASE(k, name, bytes) STORE_AT(name, k, bytes)

#define VISIT_LOAD(name, bytes, extend)           \
  for (int i = 0; i < kEdgeCount; ++i) {          \
    cells[256] = kEdge[i];                        \
    EVERY_##bytes(LOAD_CASE, name, bytes, extend) \
  }                                               \
  epochd_emit(mix);
#define VISIT_STORE(name, bytes) EVERY_##bytes(STORE_CASE, name, bytes) epochd_emit(mix);

static void visit_loads(void) {
  VISIT_LOAD(lb, 1, sign_extend_8)
  VISIT_LOAD(lbu, 1, unchanged)
  VISIT_LOAD(lh, 2, sign_extend_16)
  VISIT_LOAD(lhu, 2, unchanged)
  VISIT_LOAD(lw, 4, sign_extend_32)
  VISIT_LOAD(lwu, 4, unchanged)
  VISIT_LOAD(ld, 8, unchanged)
}

static void visit_stores(void) {
  VISIT_STORE(sb, 1)
  VISIT_STORE(sh, 2)
  VISIT_STORE(sw, 4)
  VISIT_STORE(sd, 8)
}

/* A load into x0 still happens, and x0 stays 0; a store of x0; the last cell of the address space.
 */
static void visit_memory_ends(void) {
#ifdef EPOCHD_TWIN
  absorb(0);
#else
  uint64_t result;
  __asm__ volatile("ld zero, 0(%1)\n\tmv %0, zero" : "=r"(result) : "r"(CELL) : "memory");
  absorb(result);
#endif
  STORE_OP(sd, TOP_OF_MEMORY, 8, kEdge[19], 8);
  absorb(LOAD_OP(ld, TOP_OF_MEMORY, 8, 8, unchanged));
  absorb(LOAD_OP(lbu, TOP_OF_MEMORY, 15, 1, unchanged));
  STORE_OP(sw, TOP_OF_MEMORY, 12, (uint64_t)0, 4);
  absorb(LOAD_OP(ld, TOP_OF_MEMORY, 8, 8, unchanged));
  epochd_emit(mix);
}

/* Fences do nothing here. FENCE.I is written as its encoding: it is an extension to the assembler.
 */
static void visit_fences(void) {
#ifndef EPOCHD_TWIN
  __asm__ volatile("fence\n\t.word 0x0000100f" : : : "memory");
#endif
  epochd_emit(mix);
}

int main(void) {
  REGISTER_OPS(VISIT_REGISTER_OP)
#define VISIT(name, expression) visit_##name();
  IMMEDIATE_OPS(VISIT)
  SHIFT_OPS_64(VISIT)
  SHIFT_OPS_32(VISIT)
  visit_upper();
  BRANCH_OPS(VISIT_BRANCH)
  visit_jumps();
  visit_loads();
  visit_stores();
  visit_memory_ends();
  visit_fences();
  epochd_debug("alledge: done\n", 14);
  return 0;
}
