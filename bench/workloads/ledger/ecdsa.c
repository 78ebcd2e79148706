#include "ecdsa.h"

#include "field.h"
#include "keccak256.h"
#include "modular.h"

static uint64_t swap_bytes(uint64_t x) {
  x = (x & 0x00ff00ff00ff00ff) << 8 | (x >> 8 & 0x00ff00ff00ff00ff);
  x = (x & 0x0000ffff0000ffff) << 16 | (x >> 16 & 0x0000ffff0000ffff);
  return x << 32 | x >> 32;
}

void u256_from_digest(U256* out, const uint64_t digest[4]) {
  for (int i = 0; i < 4; ++i) out->limb[i] = swap_bytes(digest[3 - i]);
}

void u256_to_digest(uint64_t digest[4], const U256* a) {
  for (int i = 0; i < 4; ++i) digest[i] = swap_bytes(a->limb[3 - i]);
}

static int is_in_range(const U256* a) {
  return !u256_is_zero(a) && u256_less(a, &kGroupOrder);
}

/* Q = r^-1 (s R - z G). An x of R at or above n, which r would have lost, has odds of 2^-127 and no
 * recovery id here. */
int ecdsa_recover(AffinePoint* key, const uint64_t digest[4], const Signature* signature) {
  if (!is_in_range(&signature->r) || !is_in_range(&signature->s)) return 0;
  if (scalar_is_high(&signature->s) || signature->v > 1) return 0;
  AffinePoint nonce_point;
  if (!point_from_x(&nonce_point, &signature->r, (int)signature->v)) return 0;
  U256 z, inverse, of_generator, of_point;
  u256_from_digest(&z, digest);
  scalar_reduce(&z, &z);
  modular_inverse(&inverse, &signature->r, &kGroupOrder);
  scalar_mul(&of_generator, &z, &inverse);
  scalar_neg(&of_generator, &of_generator);
  scalar_mul(&of_point, &signature->s, &inverse);
  JacobianPoint sum;
  point_combine(&sum, &of_generator, &of_point, &nonce_point);
  if (point_is_infinity(&sum)) return 0;
  point_to_affine(key, &sum);
  return 1;
}

void ecdsa_public_key(AffinePoint* key, const U256* secret) {
  const U256 zero = {{0, 0, 0, 0}};
  JacobianPoint product;
  point_combine(&product, secret, &zero, &kGenerator);
  point_to_affine(key, &product);
}

int ecdsa_sign(Signature* out, const uint64_t digest[4], const U256* secret, const U256* nonce) {
  AffinePoint nonce_point;
  ecdsa_public_key(&nonce_point, nonce);
  U256 z, inverse;
  /* An x at or above n would need a recovery id that this ledger does not have. */
  if (!is_in_range(&nonce_point.x)) return 0;
  out->r = nonce_point.x;
  u256_from_digest(&z, digest);
  scalar_reduce(&z, &z);
  modular_inverse(&inverse, nonce, &kGroupOrder);
  scalar_mul(&out->s, &out->r, secret);
  scalar_add(&out->s, &out->s, &z);
  scalar_mul(&out->s, &out->s, &inverse);
  if (u256_is_zero(&out->s)) return 0;
  out->v = nonce_point.y.limb[0] & 1;
  if (scalar_is_high(&out->s)) {
    scalar_neg(&out->s, &out->s);
    out->v ^= 1;
  }
  return 1;
}

void key_address(uint64_t address[3], const AffinePoint* key) {
  uint64_t words[8], digest[4];
  u256_to_digest(words, &key->x);
  u256_to_digest(words + 4, &key->y);
  keccak256_words(digest, words, 8);
  address[0] = digest[1] >> 32;
  address[1] = digest[2];
  address[2] = digest[3];
}
