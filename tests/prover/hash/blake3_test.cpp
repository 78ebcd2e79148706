// BLAKE3 against the published vectors, and its incremental and keyed forms against the one-shot
// one.
#include "prover/hash/blake3.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "prover/hash/domains.hpp"

namespace epochd::prover {
namespace {

constexpr char kVectorKey[] = "whats the Elvish word for friend";
constexpr char kVectorContext[] = "BLAKE3 2019-12-27 16:29:52 test vectors context";

std::vector<u8> pattern(size_t bytes) {
  std::vector<u8> v(bytes);
  for (size_t i = 0; i < bytes; ++i) v[i] = static_cast<u8>(i % 251);
  return v;
}

std::vector<u8> from_hex(const std::string& hex) {
  std::vector<u8> v;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    v.push_back(static_cast<u8>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return v;
}

Blake3Key vector_key() {
  return blake3_key_from_bytes(reinterpret_cast<const u8*>(kVectorKey));
}

Blake3 hasher(const std::string& mode) {
  if (mode == "keyed_hash") return Blake3::keyed(vector_key());
  if (mode == "derive_key") return Blake3::derive_key(kVectorContext, sizeof kVectorContext - 1);
  return Blake3();
}

struct Vector {
  size_t length;
  std::string mode;
  std::vector<u8> output;
};

std::vector<Vector> load_vectors() {
  std::ifstream file(EPOCHD_FIXTURES "/blake3/test_vectors.txt");
  std::vector<Vector> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    Vector v;
    std::string hex;
    in >> v.length >> v.mode >> hex;
    v.output = from_hex(hex);
    all.push_back(std::move(v));
  }
  return all;
}

std::vector<u8> output(const Blake3& h, u64 offset, size_t bytes) {
  std::vector<u8> out(bytes);
  h.finalize(offset, out.data(), bytes);
  return out;
}

TEST(Blake3, MatchesThePublishedVectors) {
  const std::vector<Vector> vectors = load_vectors();
  ASSERT_EQ(vectors.size(), 66u);
  for (const Vector& v : vectors) {
    SCOPED_TRACE(v.mode + " of " + std::to_string(v.length) + " bytes");
    ASSERT_GE(v.output.size(), 32u);
    const std::vector<u8> in = pattern(v.length);
    Blake3 h = hasher(v.mode);
    h.update(in.data(), in.size());
    EXPECT_EQ(output(h, 0, v.output.size()), v.output);
    const Digest d = h.digest();
    EXPECT_TRUE(
        std::equal(v.output.begin(), v.output.begin() + 32, reinterpret_cast<const u8*>(d.words)));
  }
}

TEST(Blake3, IncrementalUpdatesOfAnySizesGiveTheOneShotDigest) {
  std::mt19937_64 rng(20);
  for (const size_t length : {0, 1, 63, 64, 65, 1023, 1024, 1025, 2048, 2049, 5000, 17 * 1024}) {
    const std::vector<u8> in = pattern(length);
    const Digest expected = blake3_hash(in.data(), in.size());
    for (int trial = 0; trial < 20; ++trial) {
      Blake3 h;
      for (size_t at = 0; at < length;) {
        const size_t n = std::min<size_t>(length - at, rng() % 1500);
        h.update(in.data() + at, n);
        at += n;
      }
      EXPECT_TRUE(h.digest() == expected) << "length " << length << " trial " << trial;
    }
  }
}

TEST(Blake3, FinalizeLeavesTheHasherUsable) {
  const std::vector<u8> in = pattern(3000);
  Blake3 h;
  h.update(in.data(), 1024);
  EXPECT_TRUE(h.digest() == blake3_hash(in.data(), 1024));
  h.update(in.data() + 1024, 1976);
  EXPECT_TRUE(h.digest() == blake3_hash(in.data(), 3000));
}

TEST(Blake3, OutputAtAnOffsetIsAPieceOfTheWholeOutput) {
  for (const size_t length : {10, 1024, 4097}) {
    const std::vector<u8> in = pattern(length);
    Blake3 h;
    h.update(in.data(), in.size());
    const std::vector<u8> whole = output(h, 0, 400);
    for (const size_t offset : {0, 1, 31, 63, 64, 65, 130, 255}) {
      for (const size_t bytes : {0, 1, 8, 64, 100}) {
        const std::vector<u8> piece(whole.begin() + static_cast<std::ptrdiff_t>(offset),
                                    whole.begin() + static_cast<std::ptrdiff_t>(offset + bytes));
        EXPECT_EQ(output(h, offset, bytes), piece) << "offset " << offset << " bytes " << bytes;
      }
    }
  }
}

TEST(Blake3, PairIsTheKeyedHashOfSixtyFourBytes) {
  const std::vector<u8> in = pattern(64);
  Digest left;
  Digest right;
  std::copy_n(in.data(), 32, reinterpret_cast<u8*>(left.words));
  std::copy_n(in.data() + 32, 32, reinterpret_cast<u8*>(right.words));
  const Blake3Key key = vector_key();
  EXPECT_TRUE(blake3_pair(key, left, right) == blake3_keyed(key, in.data(), 64));
  EXPECT_FALSE(blake3_pair(key, right, left) == blake3_pair(key, left, right));
}

Blake3Key derived(const std::string& context) {
  Blake3Key key;
  Blake3::derive_key(context.data(), context.size()).finalize(0, key.words, sizeof key.words);
  return key;
}

bool same(const Blake3Key& a, const Blake3Key& b) {
  return std::equal(std::begin(a.words), std::end(a.words), std::begin(b.words));
}

TEST(Domains, KeysAreDeriveKeyOfTheirContexts) {
  EXPECT_TRUE(same(domains::kLeaf, derived("epochd v1 merkle leaf")));
  EXPECT_TRUE(same(domains::kNode, derived("epochd v1 merkle node")));
  EXPECT_TRUE(same(domains::kInject, derived("epochd v1 merkle inject")));
  EXPECT_TRUE(same(domains::kAbsorb, derived("epochd v1 transcript absorb")));
  EXPECT_TRUE(same(domains::kDraw, derived("epochd v1 transcript draw")));
  EXPECT_TRUE(same(domains::kGrind, derived("epochd v1 transcript grind")));
}

TEST(Domains, LongContextsAreDerivedRightAtCompileTime) {
  constexpr char kLong[] =
      "a context longer than one block of sixty-four bytes, so that its chunk has several of them";
  constexpr Blake3Key key = blake3::derive_domain_key(kLong);
  EXPECT_TRUE(same(key, derived(kLong)));
}

}  // namespace
}  // namespace epochd::prover
