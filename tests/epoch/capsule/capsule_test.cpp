// Capsules survive the way through a file or are refused with the reason; the stitch's labels;
// replay refuses a capsule that is not an epoch of the program.
#include "epoch/capsule/capsule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "epoch/capsule/stitch.hpp"
#include "epoch/exec/replay.hpp"
#include "prover/hash/blake3.hpp"
#include "tests/epoch/exec/exec_support.hpp"

namespace epochd::test {
namespace {

using Reason = CapsuleError::Code;

const Guest& sort_guest() {
  static const Guest guest(read_guest_file("sort.elf"));
  return guest;
}

// The epochs of a small sort.
const std::vector<Capsule>& sort_capsules() {
  static const std::vector<Capsule> capsules = [] {
    std::vector<Capsule> all;
    auto scout = Scout::create(sort_guest().code, bytes_of_words({42, 60}));
    Stitch stitch(prover::Digest{{1, 2, 3, 4}});
    while (!scout->halted()) all.push_back(stitch.seal(scout->run_epoch(1 << 10).value()));
    return all;
  }();
  return capsules;
}

Capsule second_capsule() {
  return sort_capsules()[1];
}

constexpr size_t kHeaderBytes = 80;

// The checksum of damaged content made good again, so that the check behind it is reached.
std::vector<u8> checksummed(std::vector<u8> bytes) {
  const auto digest = prover::blake3_hash(bytes.data(), bytes.size() - 32);
  std::memcpy(bytes.data() + bytes.size() - 32, &digest, 32);
  return bytes;
}

void expect_error(std::span<const u8> bytes, Reason code) {
  const auto result = decode_capsule(bytes);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(static_cast<int>(result.error().code), static_cast<int>(code))
      << result.error().message;
  EXPECT_GT(result.error().message.size(), 10u);
}

TEST(Capsule, ComesBackAsItWas) {
  ASSERT_GT(sort_capsules().size(), 3u);
  for (const Capsule& capsule : sort_capsules()) {
    const auto bytes = encode_capsule(capsule);
    EXPECT_EQ(bytes.size(), kHeaderBytes + 16 * capsule.keys.size() + 32);
    const auto back = decode_capsule(bytes);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, capsule);
  }
  EXPECT_TRUE(sort_capsules().back().is_final);
}

// Frozen bytes: a change of layout must change the version.
TEST(Capsule, LayoutIsFrozen) {
  Capsule capsule;
  capsule.program = {{0x0807060504030201, 0, 0, 0xff}};
  capsule.label = 0x11;
  capsule.pc = 0x10000;
  capsule.cycles = 0x20;
  capsule.out_in = 0x33;
  capsule.first_cycle = 0x4444;
  capsule.is_final = true;
  capsule.keys = {{0x2000, 0x10, 0x5566}};
  const auto bytes = encode_capsule(capsule);
  const std::vector<u64> words = {0x4c55535041435045,
                                  0x1100000001,
                                  0x2000010000,
                                  0x100000033,
                                  1,
                                  0x4444,
                                  0x0807060504030201,
                                  0,
                                  0,
                                  0xff,
                                  0x1000002000,
                                  0x5566};
  EXPECT_EQ(std::vector(bytes.begin(), bytes.end() - 32), bytes_of_words(words));
}

TEST(Capsule, EveryFlippedBitIsNoticed) {
  const auto bytes = encode_capsule(second_capsule());
  constexpr u64 kSeed = 20261201;
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 500; ++round) {
    auto bad = bytes;
    const u64 bit = random() % (8 * bad.size());
    bad[bit / 8] ^= static_cast<u8>(1u << (bit % 8));
    EXPECT_FALSE(decode_capsule(bad).has_value()) << "seed " << kSeed << " bit " << bit;
  }
  for (size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    auto bad = bytes;
    bad[bit / 8] ^= static_cast<u8>(1u << (bit % 8));
    EXPECT_FALSE(decode_capsule(bad).has_value()) << "bit " << bit;
  }
}

TEST(Capsule, TruncatedAndExtendedFiles) {
  const auto bytes = encode_capsule(second_capsule());
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 50) {
    const bool header_fits = size >= kHeaderBytes + 32;
    expect_error(std::span(bytes).first(size),
                 header_fits ? Reason::kBadLength : Reason::kTooShort);
  }
  auto longer = bytes;
  longer.push_back(0);
  expect_error(longer, Reason::kBadLength);
  longer.resize(bytes.size() + 16);
  expect_error(longer, Reason::kBadLength);
}

template <class T>
void expect_damage(size_t offset, T value, Reason code) {
  auto bytes = encode_capsule(second_capsule());
  put<T>(bytes, offset, value);
  expect_error(checksummed(std::move(bytes)), code);
}

TEST(Capsule, HeaderErrors) {
  expect_damage<u8>(0, 'X', Reason::kBadMagic);
  expect_damage<u32>(8, 2, Reason::kBadVersion);
  expect_damage<u32>(12, 0, Reason::kBadHeader);  // label
  expect_damage<u32>(12, 1u << 31, Reason::kBadHeader);
  expect_damage<u32>(16, 0x10001, Reason::kBadHeader);  // pc
  expect_damage<u32>(20, 0, Reason::kBadHeader);        // cycles
  expect_damage<u32>(20, (1u << 26) + 1, Reason::kBadHeader);
  expect_damage<u32>(28, 2, Reason::kBadHeader);           // is_final
  expect_damage<u32>(32, 0xffffffff, Reason::kBadLength);  // key count: nothing is allocated for it
  expect_damage<u32>(36, 1, Reason::kBadHeader);           // reserved
}

void expect_key_error(const std::function<void(Capsule&)>& damage, Reason code) {
  Capsule capsule = second_capsule();
  damage(capsule);
  expect_error(encode_capsule(capsule), code);
}

TEST(Capsule, KeyErrors) {
  expect_key_error([](Capsule& c) { c.keys[0].key = 511; }, Reason::kBadKey);  // below 0x1000
  expect_key_error([](Capsule& c) { c.keys[0].key = 1u << 29; }, Reason::kBadKey);
  expect_key_error([](Capsule& c) { c.keys.back().key = kRegBase + 34; }, Reason::kBadKey);
  expect_key_error([](Capsule& c) { std::swap(c.keys[0], c.keys[1]); }, Reason::kKeyOrder);
  expect_key_error([](Capsule& c) { c.keys[1] = c.keys[0]; }, Reason::kKeyOrder);
  expect_key_error([](Capsule& c) { c.keys[3].init_epoch = c.label; }, Reason::kBadLabel);
  expect_key_error([](Capsule& c) { c.keys[3].init_epoch = ~0u; }, Reason::kBadLabel);
  expect_key_error(
      [](Capsule& c) {
        for (auto& k : c.keys) k.value = k.key == kRegBase ? 999 : k.value;
      },
      Reason::kBadValue);
  expect_key_error(
      [](Capsule& c) {
        c.keys.insert(c.keys.end() - 1, {kOutputCounterKey, 0, 7});
      },
      Reason::kBadValue);
}

TEST(Stitch, LabelsTellWhoTouchedAKeyLast) {
  // Epoch 1 writes cells A and B, epoch 2 only A, epoch 3 both. Two instructions an epoch.
  const u32 store_a = sd(6, 5, 0), store_b = sd(7, 5, 8);
  const auto guest = guest_of_words(
      {lui(5, 0x20), store_a, store_b, addi(6, 6, 1), store_a, kNop, store_a, store_b});
  auto scout = Scout::create(guest->code, {});
  Stitch stitch{prover::Digest{}};
  const u32 a = 0x20000 / 8, b = a + 1;
  const auto seal = [&](u32 cycles) { return stitch.seal(scout->run_epoch(cycles).value()); };
  const auto key_of = [](const Capsule& c, u32 key) {
    for (const CapsuleKey& k : c.keys) {
      if (k.key == key) return k;
    }
    return CapsuleKey{0, ~0u, 0};
  };
  const Capsule one = seal(3), two = seal(3), three = seal(2);
  EXPECT_EQ(key_of(one, a), (CapsuleKey{a, 0, 0}));
  EXPECT_EQ(key_of(one, b), (CapsuleKey{b, 0, 0}));
  EXPECT_EQ(key_of(two, a), (CapsuleKey{a, 1, 0}));
  EXPECT_EQ(key_of(two, b).init_epoch, ~0u) << "not touched, not listed";
  EXPECT_EQ(key_of(three, a), (CapsuleKey{a, 2, 1}));
  EXPECT_EQ(key_of(three, b), (CapsuleKey{b, 1, 0}));
  EXPECT_EQ(key_of(three, kRegBase + 5), (CapsuleKey{kRegBase + 5, 2, 0x20000}));
  EXPECT_EQ(key_of(three, kRegBase + 7), (CapsuleKey{kRegBase + 7, 1, 0}));
  EXPECT_EQ(two.first_cycle, 3u);

  Stitch resumed{prover::Digest{}};
  for (const Capsule* c : {&one, &two, &three}) {
    for (const CapsuleKey& k : c->keys) resumed.restore(k.key, c->label);
  }
  EXPECT_EQ(resumed.next_label(), 4u);
  std::vector<std::pair<u32, u32>> original, restored;
  stitch.labels().for_each([&](u32 k, u32 label) { original.emplace_back(k, label); });
  resumed.labels().for_each([&](u32 k, u32 label) { restored.emplace_back(k, label); });
  EXPECT_EQ(restored, original);
  EXPECT_EQ(restored.front(), (std::pair{a, 3u}));
}

TEST(Stitch, SortsManyKeys) {
  constexpr u64 kSeed = 7;
  std::mt19937_64 random(kSeed);
  ScoutEpoch epoch;
  epoch.cycles = 1;
  std::set<u32> keys;
  while (keys.size() < 5000) keys.insert(512 + static_cast<u32>(random() % (kCellCount - 512)));
  for (const u32 key : keys) epoch.cells.push_back({key, u64{key} * 3});
  std::shuffle(epoch.cells.begin(), epoch.cells.end(), random);
  const Capsule capsule = Stitch{prover::Digest{}}.seal(epoch);
  ASSERT_EQ(capsule.keys.size(), keys.size());
  size_t i = 0;
  for (const u32 key : keys) EXPECT_EQ(capsule.keys[i++], (CapsuleKey{key, 0, u64{key} * 3}));
}

using ReplayCode = ReplayError::Code;

void expect_replay_error(const Code& code, const Capsule& capsule, ReplayCode expected) {
  Replayer replayer(code);
  EpochRecords records;
  const auto error = replayer.run(capsule, records);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(static_cast<int>(error->code), static_cast<int>(expected)) << error->message;
}

TEST(Replay, RefusesCapsulesThatAreNoEpochOfTheProgram) {
  const Code& code = sort_guest().code;
  Capsule capsule = second_capsule();
  capsule.pc = 0x20000000;
  expect_replay_error(code, capsule, ReplayCode::kGuestFault);

  capsule = second_capsule();
  capsule.keys.erase(capsule.keys.begin());
  expect_replay_error(code, capsule, ReplayCode::kMissingKey);
  capsule = second_capsule();
  capsule.keys.pop_back();  // a register
  expect_replay_error(code, capsule, ReplayCode::kMissingKey);
  capsule = second_capsule();
  capsule.keys.insert(capsule.keys.begin(), {512, 0, 0});
  expect_replay_error(code, capsule, ReplayCode::kUntouchedKey);

  capsule = second_capsule();
  capsule.is_final = true;
  expect_replay_error(code, capsule, ReplayCode::kMissingExit);
  capsule = sort_capsules().back();
  capsule.is_final = false;
  expect_replay_error(code, capsule, ReplayCode::kUnexpectedExit);
  capsule = sort_capsules().back();
  capsule.cycles += 1;
  expect_replay_error(code, capsule, ReplayCode::kUnexpectedExit);
}

TEST(Replay, IsUnharmedByARefusedCapsule) {
  Replayer replayer(sort_guest().code);
  EpochRecords records, again;
  ASSERT_FALSE(replayer.run(second_capsule(), records).has_value());
  Capsule bad = second_capsule();
  bad.keys.erase(bad.keys.begin() + 2);
  ASSERT_TRUE(replayer.run(bad, again).has_value());
  ASSERT_FALSE(replayer.run(second_capsule(), again).has_value());
  ASSERT_EQ(again.boundary.size(), records.boundary.size());
  EXPECT_EQ(std::memcmp(again.boundary.data(), records.boundary.data(),
                        records.boundary.size() * sizeof(BoundaryRecord)),
            0);
}

}  // namespace
}  // namespace epochd::test
