// The fuzz targets without a fuzzer: every seed, and random damage to it. A target aborts when
// something is wrong; the sources it tests are compiled with AddressSanitizer and UBSan.
#include <gtest/gtest.h>

#include "tests/epoch/continuation/bundle_map.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/fuzz/seeds.hpp"

namespace epochd::fuzz {
namespace {

constexpr u64 kSeed = 0x5eed0f22;

const std::map<std::string, std::vector<Bytes>>& seeds() {
  static const auto made = [] {
    auto all = make_seeds(EPOCHD_FUZZ_SEED_DIR);
    use_reference(words_of(all["key"][0]), words_of(all["proof"][0]));
    return all;
  }();
  return made;
}

void expect_survived(std::string_view name, size_t count) {
  const Target& target = *std::ranges::find(kTargets, name, &Target::name);
  const std::vector<Bytes>& honest = seeds().at(std::string(name));
  ASSERT_FALSE(honest.empty());
  target.run({});
  for (const Bytes& seed : honest) target.run(seed);
  Mutator mutator(kSeed);
  for (size_t i = 0; i < count; ++i) {
    Bytes input = honest[i % honest.size()];
    mutator.damage<u8>(input, {}, honest[mutator.below(honest.size())]);
    input.shrink_to_fit();
    target.run(input);
  }
}

TEST(FuzzSmoke, Proof) {
  expect_survived("proof", 1000);
  const std::vector<size_t> places = testing::BundleMap(reference_bundle()).boundaries();
  Mutator mutator(kSeed);
  for (size_t i = 0; i < 4000; ++i) {
    std::vector<u64> words = reference_bundle();
    mutator.damage<u64>(words, places, reference_bundle());
    fuzz_proof(bytes_of(words));
  }
}
TEST(FuzzSmoke, Key) {
  expect_survived("key", 20000);
}
TEST(FuzzSmoke, Elf) {
  expect_survived("elf", 20000);
}
TEST(FuzzSmoke, Capsule) {
  expect_survived("capsule", 20000);
}
TEST(FuzzSmoke, Payload) {
  expect_survived("payload", 5000);
}
TEST(FuzzSmoke, Snapshot) {
  expect_survived("snapshot", 400);
}
TEST(FuzzSmoke, Facts) {
  expect_survived("facts", 20000);
}
TEST(FuzzSmoke, Package) {
  expect_survived("package", 5000);
}
TEST(FuzzSmoke, Config) {
  expect_survived("config", 1000);
}
TEST(FuzzSmoke, Job) {
  expect_survived("job", 4000);
}

// What the bounds on memory stand on: the meter sees what is held, not what was given back.
TEST(MemoryMeter, CountsTheMostHeldAtOnce) {
  const MemoryMeter meter;
  for (int i = 0; i < 10; ++i) std::vector<u8>(1000).shrink_to_fit();
  EXPECT_GE(meter.peak_bytes(), 1000u);
  EXPECT_LT(meter.peak_bytes(), 2000u);
  const std::vector<u8> first(3000), second(3000);
  EXPECT_GE(meter.peak_bytes(), 6000u);
}

}  // namespace
}  // namespace epochd::fuzz
