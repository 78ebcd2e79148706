/* misaligned: every load and store at every offset that is not a multiple of its width, within one
 * 8-byte cell and across two, over edge values, and at the end of the address space. Takes no
 * input. Emits the running mix after each instruction. */
#include "instruction.h"

/* Accesses start in the first of the two middle cells. */
static uint64_t cells[4];
#define CELL ((uint8_t*)(cells + 1))

#define OFFSETS_2(X, ...) X(1, __VA_ARGS__) X(3, __VA_ARGS__) X(5, __VA_ARGS__) X(7, __VA_ARGS__)
#define OFFSETS_4(X, ...) \
  X(1, __VA_ARGS__)       \
  X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__)
#define OFFSETS_8(X, ...) OFFSETS_4(X, __VA_ARGS__) X(4, __VA_ARGS__)

#define LOAD_CASE(k, name, bytes, extend) absorb(LOAD_OP(name, CELL, k, bytes, extend));
#define STORE_CASE(k, name, bytes)                            \
  for (int i = 0; i < kEdgeCount; ++i) {                      \
    STORE_OP(name, CELL, k, kEdge[i], bytes);                 \
    for (int cell = 0; cell < 4; ++cell) absorb(cells[cell]); \
  }

#define VISIT_LOAD(name, bytes, extend)               \
  for (int i = 0; i < kEdgeCount; ++i) {              \
    cells[1] = kEdge[i];                              \
    for (int j = 0; j < kEdgeCount; ++j) {            \
      cells[2] = kEdge[j];                            \
      OFFSETS_##bytes(LOAD_CASE, name, bytes, extend) \
    }                                                 \
  }                                                   \
  epochd_emit(mix);
#define VISIT_STORE(name, bytes) OFFSETS_##bytes(STORE_CASE, name, bytes) epochd_emit(mix);

/* The highest misaligned addresses whose bytes all exist. */
static void visit_top_of_memory(void) {
  STORE_OP(sd, TOP_OF_MEMORY, 0, kEdge[19], 8);
  STORE_OP(sd, TOP_OF_MEMORY, 8, kEdge[20], 8);
  absorb(LOAD_OP(ld, TOP_OF_MEMORY, 7, 8, unchanged));
  absorb(LOAD_OP(lw, TOP_OF_MEMORY, 11, 4, sign_extend_32));
  absorb(LOAD_OP(lhu, TOP_OF_MEMORY, 13, 2, unchanged));
  STORE_OP(sd, TOP_OF_MEMORY, 7, kEdge[17], 8);
  STORE_OP(sw, TOP_OF_MEMORY, 11, kEdge[18], 4);
  STORE_OP(sh, TOP_OF_MEMORY, 13, kEdge[0], 2);
  absorb(LOAD_OP(ld, TOP_OF_MEMORY, 0, 8, unchanged));
  absorb(LOAD_OP(ld, TOP_OF_MEMORY, 8, 8, unchanged));
  epochd_emit(mix);
}

int main(void) {
  VISIT_LOAD(lh, 2, sign_extend_16)
  VISIT_LOAD(lhu, 2, unchanged)
  VISIT_LOAD(lw, 4, sign_extend_32)
  VISIT_LOAD(lwu, 4, unchanged)
  VISIT_LOAD(ld, 8, unchanged)
  VISIT_STORE(sh, 2)
  VISIT_STORE(sw, 4)
  VISIT_STORE(sd, 8)
  visit_top_of_memory();
  return 0;
}
