// Long messages hashed side by side: the bytes of the scalar hasher, however they come.
#include "prover/hash/wide_blake3.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace epochd::prover {
namespace {

constexpr u64 kSeed = 20261201;

std::vector<u8> random_bytes(size_t count) {
  std::mt19937_64 random(kSeed);
  std::vector<u8> bytes(count);
  for (u8& byte : bytes) byte = static_cast<u8>(random());
  return bytes;
}

class Wide : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam());
  }
};

TEST_P(Wide, EqualsTheScalarHasherAtEveryLength) {
  constexpr size_t kChunks[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 255, 256, 257, 600};
  const std::vector<u8> bytes = random_bytes(601 * 1024 + 1);
  for (const size_t chunks : kChunks) {
    for (const int off : {-1, 0, 1, 63, 64, 65, 1000}) {
      if (chunks == 0 && off < 0) continue;
      const size_t size = chunks * 1024 + static_cast<size_t>(off);
      ASSERT_TRUE(wide_blake3_hash(GetParam(), bytes.data(), size) ==
                  blake3_hash(bytes.data(), size))
          << size;
    }
  }
}

TEST_P(Wide, TakesTheMessageInAnyPieces) {
  std::mt19937_64 random(kSeed);
  const std::vector<u8> bytes = random_bytes(3 << 20);
  for (int round = 0; round < 20; ++round) {
    WideBlake3 hasher(GetParam());
    size_t done = 0;
    const size_t size = bytes.size() - random() % 5000;
    while (done < size) {
      const size_t most = size_t{1} << (random() % 21);
      const size_t piece = std::min(size - done, random() % most + 1);
      hasher.update(bytes.data() + done, piece);
      done += piece;
      if (round == 0) {
        ASSERT_TRUE(hasher.digest() == blake3_hash(bytes.data(), done)) << done;
      }
    }
    ASSERT_TRUE(hasher.digest() == blake3_hash(bytes.data(), size)) << "round " << round;
  }
}

// The last chunk has to stay open until more comes: the root may be its parent.
TEST_P(Wide, GoesOnAfterADigest) {
  const std::vector<u8> bytes = random_bytes(512 * 1024);
  WideBlake3 hasher(GetParam());
  for (size_t half = 0; half < 2; ++half) {
    hasher.update(bytes.data() + half * 256 * 1024, 256 * 1024);
    EXPECT_TRUE(hasher.digest() == blake3_hash(bytes.data(), (half + 1) * 256 * 1024));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, Wide, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace epochd::prover
