/* Writes, as C, the odd multiples of the generator and of 2^128 times the generator that the
 * ledger guest's scalar multiplication reads: made from nothing but the generator. */
#include <stdio.h>

#include "curve.h"

static void print_number(const U256* a) {
  for (int i = 0; i < 4; ++i) printf("0x%016llx, ", (unsigned long long)a->limb[i]);
}

static void print_odd_multiples(const AffinePoint* base) {
  JacobianPoint multiple = {base->x, base->y, {{1, 0, 0, 0}}};
  AffinePoint affine;
  printf("  {\n");
  for (int i = 0; i < kGeneratorPoints; ++i) {
    point_to_affine(&affine, &multiple);
    printf("    {");
    print_number(&affine.x);
    print_number(&affine.y);
    printf("},\n");
    point_add(&multiple, &multiple, base);
    point_add(&multiple, &multiple, base);
  }
  printf("  },\n");
}

int main(void) {
  JacobianPoint high = {kGenerator.x, kGenerator.y, {{1, 0, 0, 0}}};
  for (int i = 0; i < 128; ++i) point_double(&high, &high);
  AffinePoint base;
  printf("#include <stdint.h>\n\n");
  printf("const uint64_t kGeneratorTable[2][%d][8] = {\n", kGeneratorPoints);
  print_odd_multiples(&kGenerator);
  point_to_affine(&base, &high);
  print_odd_multiples(&base);
  printf("};\n");
  return 0;
}
