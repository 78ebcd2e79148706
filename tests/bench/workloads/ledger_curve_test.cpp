// The ledger's arithmetic against Boost's integers and against published points and signatures.
#include <gtest/gtest.h>

#include <random>

#include "bench/workloads/ledger/ecdsa.h"
#include "bench/workloads/ledger/field.h"
#include "bench/workloads/ledger/modular.h"
#include "tests/bench/workloads/big_number.hpp"

namespace epochd::bench {
namespace {

const Big kP = (Big(1) << 256) - (Big(1) << 32) - 977;
const Big kN = big("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");

/// Ends of the range, of the field and of limbs, then numbers without structure.
std::vector<U256> interesting() {
  std::vector<U256> values;
  const Big end = Big(1) << 256;
  for (const Big& base : {Big(0), kP, kN, end - 1, Big(1) << 64, Big(1) << 128, Big(1) << 255,
                          Big(kP / 2), Big(kN / 2), end - (Big(1) << 32), end - 0x2000007a2u}) {
    for (int offset = -2; offset <= 2; ++offset) {
      const Big value = base + offset;
      if (value >= 0 && value < end) values.push_back(to_u256(value));
    }
  }
  std::mt19937_64 random(2024);
  for (int i = 0; i < 40; ++i) values.push_back({{random(), random(), random(), random()}});
  return values;
}

TEST(LedgerField, AgreesWithBigIntegers) {
  for (const U256& a : interesting()) {
    U256 out;
    const Big x = to_big(a);
    field_square(&out, &a);
    EXPECT_EQ(modulo(to_big(out), kP), modulo(x * x, kP)) << x;
    field_neg(&out, &a);
    EXPECT_EQ(modulo(to_big(out), kP), modulo(-x, kP)) << x;
    field_double(&out, &a);
    EXPECT_EQ(modulo(to_big(out), kP), modulo(2 * x, kP)) << x;
    field_half(&out, &a);
    EXPECT_EQ(modulo(2 * to_big(out), kP), modulo(x, kP)) << x;
    out = a;
    field_normalize(&out);
    EXPECT_EQ(to_big(out), modulo(x, kP)) << x;
    EXPECT_EQ(field_is_zero(&a) != 0, modulo(x, kP) == 0) << x;
    for (const U256& b : interesting()) {
      const Big y = to_big(b);
      field_mul(&out, &a, &b);
      EXPECT_EQ(modulo(to_big(out), kP), modulo(x * y, kP)) << x << " " << y;
      field_add(&out, &a, &b);
      EXPECT_EQ(modulo(to_big(out), kP), modulo(x + y, kP)) << x << " " << y;
      field_sub(&out, &a, &b);
      EXPECT_EQ(modulo(to_big(out), kP), modulo(x - y, kP)) << x << " " << y;
      EXPECT_EQ(field_equal(&a, &b) != 0, modulo(x - y, kP) == 0) << x << " " << y;
    }
  }
}

TEST(LedgerField, ScalarsAgreeWithBigIntegers) {
  EXPECT_EQ(to_big(kGroupOrder), kN);
  for (const U256& raw : interesting()) {
    U256 a, out;
    scalar_reduce(&a, &raw);
    const Big x = to_big(a);
    EXPECT_EQ(x, modulo(to_big(raw), kN));
    scalar_neg(&out, &a);
    EXPECT_EQ(to_big(out), modulo(-x, kN)) << x;
    EXPECT_EQ(scalar_is_high(&a) != 0, 2 * x > kN) << x;
    for (const U256& other : interesting()) {
      U256 b;
      scalar_reduce(&b, &other);
      const Big y = to_big(b);
      scalar_mul(&out, &a, &b);
      EXPECT_EQ(to_big(out), modulo(x * y, kN)) << x << " " << y;
      scalar_add(&out, &a, &b);
      EXPECT_EQ(to_big(out), modulo(x + y, kN)) << x << " " << y;
    }
  }
}

TEST(LedgerField, InversesAreInverses) {
  std::vector<U256> values = interesting();
  for (int bit = 0; bit < 256; ++bit) {
    values.push_back(to_u256(Big(1) << bit));
    values.push_back(to_u256((Big(1) << bit) - 1));
    values.push_back(to_u256(kP - (Big(1) << bit)));
    values.push_back(to_u256(kN - (Big(1) << bit)));
  }
  std::mt19937_64 random(31);
  for (int i = 0; i < 2000; ++i) {
    values.push_back({{random(), random(), random(), random() >> i % 64}});
  }
  for (const U256& raw : values) {
    for (const Big& m : {kP, kN}) {
      const U256 modulus = to_u256(m);
      const Big x = modulo(to_big(raw), m);
      if (x == 0) continue;
      const U256 a = to_u256(x);
      U256 inverse;
      modular_inverse(&inverse, &a, &modulus);
      EXPECT_LT(to_big(inverse), m);
      EXPECT_EQ(modulo(to_big(inverse) * x, m), 1) << x;
    }
  }
}

/// Points by the schoolbook's formulas over Boost's integers; infinity has no coordinates.
struct Point {
  bool infinity = true;
  Big x, y;
};

Big inverse_of(const Big& a) {
  return powm(modulo(a, kP), Big(kP - 2), kP);
}

Point add(const Point& a, const Point& b) {
  if (a.infinity) return b;
  if (b.infinity) return a;
  if (a.x == b.x && modulo(a.y + b.y, kP) == 0) return {};
  const Big slope = a.x == b.x ? modulo(3 * a.x * a.x * inverse_of(2 * a.y), kP)
                               : modulo((b.y - a.y) * inverse_of(b.x - a.x), kP);
  const Big x = modulo(slope * slope - a.x - b.x, kP);
  return {false, x, modulo(slope * (a.x - x) - a.y, kP)};
}

const Point kG = {false, big("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"),
                  big("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")};

/// k G, from G's doublings, made once.
Point multiply(const Big& k) {
  static const std::vector<Point> doublings = [] {
    std::vector<Point> points = {kG};
    while (points.size() < 256) points.push_back(add(points.back(), points.back()));
    return points;
  }();
  Point sum;
  for (unsigned i = 0; i < 256; ++i) {
    if (bit_test(k, i)) sum = add(sum, doublings[i]);
  }
  return sum;
}

void expect_point(const JacobianPoint& got, const Point& expected) {
  ASSERT_EQ(point_is_infinity(&got) != 0, expected.infinity);
  if (expected.infinity) return;
  AffinePoint affine;
  point_to_affine(&affine, &got);
  EXPECT_EQ(to_big(affine.x), expected.x);
  EXPECT_EQ(to_big(affine.y), expected.y);
}

// Sums that end at infinity, scalars of every length, and scalars that give the four halves every
// sign.
TEST(LedgerCurve, CombinationsAgreeWithTheSchoolbook) {
  const Big lambda = big("5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72");
  std::vector<Big> scalars = {0, 1, 2, kN - 1, kN - 2, lambda, kN - lambda, Big(1) << 128};
  std::mt19937_64 random(7);
  for (int i = 0; i < 2; ++i) {
    scalars.push_back(modulo(to_big({{random(), random(), random(), random()}}), kN));
  }
  for (const int multiple : {1, 5}) {
    const Point p = multiply(multiple);
    const AffinePoint affine = {to_u256(p.x), to_u256(p.y)};
    for (const Big& g : scalars) {
      for (const Big& k : scalars) {
        const U256 g_limbs = to_u256(g), k_limbs = to_u256(k);
        JacobianPoint sum;
        point_combine(&sum, &g_limbs, &k_limbs, &affine);
        expect_point(sum, multiply(modulo(g + k * multiple, kN)));
      }
    }
  }
}

TEST(LedgerCurve, AdditionKnowsEqualAndOppositePoints) {
  const Point two = multiply(2);
  JacobianPoint a = {kGenerator.x, kGenerator.y, {{1, 0, 0, 0}}};
  JacobianPoint out;
  point_add(&out, &a, &kGenerator);
  expect_point(out, two);
  AffinePoint opposite = kGenerator;
  field_neg(&opposite.y, &opposite.y);
  point_add(&a, &a, &opposite);
  expect_point(a, {});
  point_double(&a, &a);
  expect_point(a, {});
  point_add(&a, &a, &kGenerator);
  expect_point(a, kG);
}

// Every entry, because a wrong one would be used once in some hundred signatures.
TEST(LedgerCurve, GeneratorTableHoldsOddMultiples) {
  for (int half = 0; half < 2; ++half) {
    Point expected = multiply(half == 0 ? Big(1) : Big(1) << 128);
    const Point twice = add(expected, expected);
    for (int i = 0; i < kGeneratorPoints; ++i) {
      const uint64_t* limbs = kGeneratorTable[half][i];
      ASSERT_EQ(to_big({{limbs[0], limbs[1], limbs[2], limbs[3]}}), expected.x) << half << " " << i;
      ASSERT_EQ(to_big({{limbs[4], limbs[5], limbs[6], limbs[7]}}), expected.y) << half << " " << i;
      expected = add(expected, twice);
    }
  }
}

// k G as lists of secp256k1 test vectors give it.
TEST(LedgerCurve, PublicKeysOfKnownScalars) {
  struct Known {
    Big secret;
    const char* x;
    const char* y;
  };
  const std::vector<Known> known = {
      {1, "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
       "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"},
      {2, "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
       "1ae168fea63dc339a3c58419466ceaeef7f632653266d0e1236431a950cfe52a"},
      {3, "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
       "388f7b0f632de8140fe337e62a37f3566500a99934c2231b6cb9fd7584b8e672"},
      {Big("112233445566778899"),
       "a90cc3d3f3e146daadfc74ca1372207cb4b725ae708cef713a98edd73d99ef29",
       "5a79d6b289610c68bc3b47f3d72f9788a26a06868b4d8e433e1e2ad76fb7dc76"},
      {kN - 1, "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
       "b7c52588d95c3b9aa25b0403f1eef75702e84bb7597aabe663b82f6f04ef2777"}};
  for (const Known& entry : known) {
    const U256 secret = to_u256(entry.secret);
    AffinePoint key;
    ecdsa_public_key(&key, &secret);
    EXPECT_EQ(to_big(key.x), big(entry.x)) << entry.secret;
    EXPECT_EQ(to_big(key.y), big(entry.y)) << entry.secret;
  }
}

struct Signed {
  uint64_t digest[4];
  Signature signature;
};

Signed make_signed(const char* digest, const char* r, const char* s, uint64_t v) {
  Signed out;
  const U256 value = to_u256(big(digest));
  u256_to_digest(out.digest, &value);
  out.signature = {to_u256(big(r)), to_u256(big(s)), v};
  return out;
}

// SHA-256 of "Satoshi Nakamoto" signed with the secret key 1, the vector most RFC 6979
// implementations carry for this curve: the key is the generator.
Signed satoshi() {
  return make_signed("a0dc65ffca799873cbea0ac274015b9526505daaaed385155425f7337704883e",
                     "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8",
                     "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5", 1);
}

TEST(LedgerEcdsa, RecoversThePublishedKey) {
  const Signed message = satoshi();
  AffinePoint key;
  ASSERT_TRUE(ecdsa_recover(&key, message.digest, &message.signature));
  EXPECT_EQ(to_big(key.x), kG.x);
  EXPECT_EQ(to_big(key.y), kG.y);
}

// The example of Ethereum's ecrecover precompile, v = 28.
TEST(LedgerEcdsa, RecoversThePublishedAddress) {
  const Signed message =
      make_signed("456e9aea5e197a1f1af7a3e85a3212fa4049a3ba34c2289b4c860fc0b0c64ef3",
                  "9242685bf161793cc25603c231bc2f568eb630ea16aa137d2664ac8038825608",
                  "4f8ae3bd7535248d0bd448298cc2e2071e56992d0774dc340c368ae950852ada", 1);
  AffinePoint key;
  ASSERT_TRUE(ecdsa_recover(&key, message.digest, &message.signature));
  uint64_t address[3];
  key_address(address, &key);
  // 7156526f bd7a3c72969b54f6 4e42c10fbb768c8a, its bytes in little-endian words.
  EXPECT_EQ(address[0], 0x6f525671u);
  EXPECT_EQ(address[1], 0xf6549b96723c7abdu);
  EXPECT_EQ(address[2], 0x8a8c76bb0fc1424eu);
}

TEST(LedgerEcdsa, RefusesWhatIsNoSignature) {
  const Signed good = satoshi();
  AffinePoint key;
  const auto recovers = [&](const Signature& signature) {
    return ecdsa_recover(&key, good.digest, &signature) != 0;
  };
  ASSERT_TRUE(recovers(good.signature));
  const U256 zero = to_u256(0), order = to_u256(kN);
  Signature bad = good.signature;
  bad.r = zero;
  EXPECT_FALSE(recovers(bad));
  bad.r = order;
  EXPECT_FALSE(recovers(bad));
  bad = good.signature;
  bad.s = zero;
  EXPECT_FALSE(recovers(bad));
  bad.s = to_u256(kN - to_big(good.signature.s));
  EXPECT_FALSE(recovers(bad)) << "s in the upper half";
  bad = good.signature;
  bad.v = 2;
  EXPECT_FALSE(recovers(bad));
  bad = good.signature;
  bad.r = to_u256(5);  // 5^3 + 7 = 132 is no square
  EXPECT_FALSE(recovers(bad));
  // s R = z G: the key would be infinity. R = G, so s = z; and -R with the other parity.
  Signed infinite = good;
  infinite.signature = {kGenerator.x, to_u256(3), 0};
  const U256 three = to_u256(3);
  u256_to_digest(infinite.digest, &three);
  EXPECT_FALSE(ecdsa_recover(&key, infinite.digest, &infinite.signature));
}

TEST(LedgerEcdsa, AnyChangeGivesAnotherKeyOrNone) {
  const Signed good = satoshi();
  for (int bit = 0; bit < 256; bit += 5) {
    for (int part = 0; part < 3; ++part) {
      Signed changed = good;
      uint64_t* limbs = part == 0   ? changed.digest
                        : part == 1 ? changed.signature.r.limb
                                    : changed.signature.s.limb;
      limbs[bit / 64] ^= uint64_t{1} << (bit % 64);
      AffinePoint key;
      if (!ecdsa_recover(&key, changed.digest, &changed.signature)) continue;
      EXPECT_NE(to_big(key.x), kG.x) << bit << " of part " << part;
    }
  }
}

TEST(LedgerEcdsa, SignsWhatItRecovers) {
  std::mt19937_64 random(99);
  for (int i = 0; i < 20; ++i) {
    U256 secret = {{random(), random(), random(), random() >> 1}};
    U256 nonce = {{random(), random(), random(), random() >> 1}};
    const uint64_t digest[4] = {random(), random(), random(), random()};
    Signature signature;
    ASSERT_TRUE(ecdsa_sign(&signature, digest, &secret, &nonce));
    EXPECT_FALSE(scalar_is_high(&signature.s));
    AffinePoint key, recovered;
    ecdsa_public_key(&key, &secret);
    ASSERT_TRUE(ecdsa_recover(&recovered, digest, &signature));
    EXPECT_EQ(to_big(recovered.x), to_big(key.x));
    EXPECT_EQ(to_big(recovered.y), to_big(key.y));
  }
}

}  // namespace
}  // namespace epochd::bench
