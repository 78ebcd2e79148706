/* Points of secp256k1, y^2 = x^3 + 7 over the field of field.h (SEC 2, section 2.4.1). */
#ifndef BENCH_WORKLOADS_LEDGER_CURVE_H
#define BENCH_WORKLOADS_LEDGER_CURVE_H

#include "u256.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  U256 x, y;
} AffinePoint;

/* (x / z^2, y / z^3); z is 0 exactly at infinity. */
typedef struct {
  U256 x, y, z;
} JacobianPoint;

enum {
  kGeneratorWindow = 10, /* digits of the generator's scalars are odd and below 2^(window - 1) */
  kGeneratorPoints = 1 << (kGeneratorWindow - 2),
};

/* Odd multiples G, 3 G, 5 G, ... of the generator, then of 2^128 G, the limbs of x and then of y:
 * made when the guest is built (make_table.c), so that a run reads them and does not compute them.
 */
extern const uint64_t kGeneratorTable[2][kGeneratorPoints][8];

extern const AffinePoint kGenerator;

void point_double(JacobianPoint* out, const JacobianPoint* a);
/* out = a + b for all a and b, equal and opposite ones too. */
void point_add(JacobianPoint* out, const JacobianPoint* a, const AffinePoint* b);
int point_is_infinity(const JacobianPoint* a);
/* Canonical coordinates. Pre: not infinity. */
void point_to_affine(AffinePoint* out, const JacobianPoint* a);

/* The point with this x whose canonical y is odd or not; returns 0 when there is none. Pre: x < p.
 */
int point_from_x(AffinePoint* out, const U256* x, int y_is_odd);

/* g G + k P in one pass of 128 doublings: the scalars are halved in length, k by the curve's
 * endomorphism (Gallant, Lambert, Vanstone, CRYPTO 2001), g by the table of 2^128 G. Pre: g, k < n.
 */
void point_combine(JacobianPoint* out, const U256* g, const U256* k, const AffinePoint* p);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_WORKLOADS_LEDGER_CURVE_H */
